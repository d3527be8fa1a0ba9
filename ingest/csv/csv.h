// SPDX-License-Identifier: Apache-2.0
// Rows of comma-separated values (RFC 4180) from a stream, one at a time. Lenient where writers
// differ: byte order marks before rows, any line ends, blank lines, and quotes inside a cell
// without quotes. NUL bytes are passed, as by the reader of lines.
#ifndef INGEST_CSV_CSV_H
#define INGEST_CSV_CSV_H

#include "ingest/base/budget.h"
#include "ingest/base/fuzzed.h"
#include "ingest/base/str.h"

struct source;
struct csv;

enum {
    CSV_MAX_CELLS = FUZZED_SIZE(32 << 10, 2 << 10),
    CSV_MAX_ROW_BYTES = FUZZED_SIZE(1 << 20, 32 << 10)
};

struct csv_row {
    const struct str *cells; // live until the next row
    size_t count;            // rows may differ
    uint64_t pos;            // of its first byte
    bool cut;                // the file ends within quotes
    bool half;               // the file ends in the last cell, which is not closed by a quote
};

// The source stays the caller's and outlives the reader.
MUST_CHECK struct csv *csv_open(struct source *source, struct budget *budget, struct err *err);
void csv_close(struct csv *csv); // NULL is allowed

// False at the end and with *end unset on failure: ERR_FORMAT for a row that is too large.
MUST_CHECK bool csv_next(struct csv *csv, struct csv_row *row, bool *end, struct err *err);

// A row's cell; empty if the row is too short.
static inline struct str csv_cell(const struct csv_row *row, size_t column)
{
    return column < row->count ? row->cells[column] : STR("");
}

// Whether the first line of a file, of which these are the first bytes, has a column: in any case,
// and with a name that needs no quotes.
bool csv_head_has(struct str head, const char *column);

#endif
