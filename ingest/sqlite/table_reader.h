// SPDX-License-Identifier: Apache-2.0
// What all database readers share: opening, walking tables with progress, noting damage.
#ifndef INGEST_SQLITE_TABLE_READER_H
#define INGEST_SQLITE_TABLE_READER_H

#include "ingest/source/format.h"
#include "ingest/sqlite/database.h"

struct table_reader {
    const struct format_input *input;
    struct trace_builder *builder; // of the input; NULL if only figures are wanted
    struct database *database;
    uint64_t rows; // read so far, of any table
};

// Pair with table_reader_close, also on failure.
MUST_CHECK bool table_reader_open(struct table_reader *reader, const struct format_input *input,
                                  struct err *err);
void table_reader_close(struct table_reader *reader);

// rows_each for tables of events: counts the rows and reports progress.
MUST_CHECK bool table_reader_each(struct table_reader *reader, const char *table,
                                  const char *columns, rows_take *take, void *context,
                                  struct err *err);

// After all tables, if only figures are wanted. ERR_FORMAT if rows are missing from them.
MUST_CHECK bool table_reader_counted(const struct table_reader *reader, struct err *err);

// After all tables: adds to the trace what the file itself shows. ERR_FORMAT with the advice if no
// row was read.
MUST_CHECK bool table_reader_finish(struct table_reader *reader, const char *advice,
                                    struct err *err);

#endif
