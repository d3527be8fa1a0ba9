// SPDX-License-Identifier: Apache-2.0
// Texts by id, the way profilers store names. Only those that are used enter the trace.
#ifndef INGEST_SQLITE_TEXT_TABLE_H
#define INGEST_SQLITE_TEXT_TABLE_H

#include "ingest/sqlite/id_table.h"
#include "ingest/trace/trace_builder.h"

struct text_table {
    struct id_table ids; // where each text is, and its id in the trace once it is there
    char *texts;
    size_t len, cap;
};

// Reads columns such as "id value" of a table; a table that is not there has no texts. Pair
// with text_table_free, also on failure.
MUST_CHECK bool text_table_load(struct text_table *texts, struct budget *budget,
                                struct database *database, const char *table, const char *columns,
                                struct err *err);
void text_table_free(struct text_table *texts);

// For texts from elsewhere: adds one to a table with a budget. After the last one the table must be
// sorted before it is searched.
MUST_CHECK bool text_table_add(struct text_table *texts, int64_t id, struct str text,
                               struct err *err);
void text_table_sort(struct text_table *texts);

// The text of an id, false if there is none. Lives as long as the table.
bool text_table_find(const struct text_table *texts, int64_t id, struct str *text);

// Interns the text of an id, or the id as a number if it has no text. Always with the same builder.
MUST_CHECK bool text_table_intern(struct text_table *texts, struct trace_builder *builder,
                                  int64_t id, str_id *interned, struct err *err);

#endif
