// SPDX-License-Identifier: Apache-2.0
// A table of texts by number, as profilers keep names. Only those that are used enter the trace.
#ifndef INGEST_SQLITE_TEXT_TABLE_H
#define INGEST_SQLITE_TEXT_TABLE_H

#include "ingest/sqlite/database.h"
#include "ingest/trace/trace_builder.h"

struct text_row {
    int64_t id;
    uint64_t at; // in the texts
    uint32_t len;
    str_id interned; // 0: not yet, or empty
};

struct text_table {
    struct trace_builder *builder;
    struct text_row *rows; // ascending by id
    size_t count, cap;
    char *texts;
    size_t text_len, text_cap;
};

// Reads columns such as "id value" of a table; a table that is not there has no texts. Memory
// counts in the builder's budget.
MUST_CHECK bool text_table_load(struct text_table *texts, struct trace_builder *builder,
                                struct database *database, const char *table, const char *columns,
                                struct err *err);
void text_table_free(struct text_table *texts);

// The text of an id, false if there is none. Lives as long as the table.
bool text_table_find(const struct text_table *texts, int64_t id, struct str *text);

// Interns the text of an id; one that is not there becomes its number.
MUST_CHECK bool text_table_intern(struct text_table *texts, int64_t id, str_id *interned,
                                  struct err *err);

#endif
