// SPDX-License-Identifier: Apache-2.0
// Integers by id, for the joins that profilers leave to the reader.
#ifndef INGEST_SQLITE_ID_TABLE_H
#define INGEST_SQLITE_ID_TABLE_H

#include "ingest/sqlite/database.h"

enum { ID_VALUES = 3 };

struct id_row {
    int64_t id;
    int64_t value[ID_VALUES]; // ID_NONE if it is not an integer
};

#define ID_NONE INT64_MIN

struct id_table {
    struct budget *budget;
    struct id_row *rows; // ascending by id, then by the first value
    size_t count, cap;
};

// Reads the id and up to ID_VALUES integers, "id stack_id category_id"; a table that is not
// there is empty. Pair with id_table_free, also on failure.
MUST_CHECK bool id_table_load(struct id_table *ids, struct budget *budget,
                              struct database *database, const char *table, const char *columns,
                              struct err *err);
void id_table_free(struct id_table *ids);

// Adds a row; after the last one the table must be sorted before it is searched.
MUST_CHECK bool id_table_add(struct id_table *ids, const struct id_row *row, struct err *err);
void id_table_sort(struct id_table *ids);

// NULL if there is none; of several with the same id, the one with the lowest first value.
const struct id_row *id_table_find(const struct id_table *ids, int64_t id);
// One of its values, ID_NONE without the row.
int64_t id_table_value(const struct id_table *ids, int64_t id, unsigned value);

#endif
