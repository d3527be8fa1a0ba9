// SPDX-License-Identifier: Apache-2.0
#include "ingest/sqlite/id_table.h"

#include <stdlib.h>

static int by_id(const void *left, const void *right)
{
    const struct id_row *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

static bool add_row(struct id_table *ids, const struct rows *rows, struct err *err)
{
    struct id_row row;
    if (!rows_i64(rows, 0, &row.id))
        return true;
    for (unsigned i = 0; i < ID_VALUES; i++)
        row.value[i] = i + 1 < rows->count ? rows_i64_or(rows, i + 1, ID_NONE) : ID_NONE;
    struct id_row *at =
        budget_room(ids->budget, ids->rows, &ids->cap, ids->count + 1, sizeof *at, err);
    if (!at)
        return false;
    ids->rows = at;
    at[ids->count++] = row;
    return true;
}

static bool is_sorted(const struct id_table *ids)
{
    for (size_t i = 1; i < ids->count; i++)
        if (ids->rows[i - 1].id > ids->rows[i].id)
            return false;
    return true;
}

bool id_table_load(struct id_table *ids, struct budget *budget, struct database *database,
                   const char *table, const char *columns, struct err *err)
{
    struct rows rows;
    *ids = (struct id_table){.budget = budget};
    bool ok = rows_open(database, table, columns, &rows, err);
    while (ok && rows_next(&rows))
        ok = add_row(ids, &rows, err);
    ok = rows_close(&rows, ok ? err : NULL) && ok;
    if (ok && !is_sorted(ids))
        qsort(ids->rows, ids->count, sizeof *ids->rows, by_id);
    return ok;
}

void id_table_free(struct id_table *ids)
{
    if (ids->budget)
        budget_free(ids->budget, ids->rows, ids->cap * sizeof *ids->rows);
    *ids = (struct id_table){0};
}

const struct id_row *id_table_find(const struct id_table *ids, int64_t id)
{
    // Profilers number rows from 0 or 1 without gaps.
    for (uint64_t from = 0; from < 2; from++)
        if ((uint64_t)id - from < ids->count && ids->rows[(uint64_t)id - from].id == id)
            return &ids->rows[(uint64_t)id - from];
    struct id_row key = {.id = id};
    return ids->count ? bsearch(&key, ids->rows, ids->count, sizeof key, by_id) : NULL;
}

int64_t id_table_value(const struct id_table *ids, int64_t id, unsigned value)
{
    const struct id_row *row = id_table_find(ids, id);
    return row ? row->value[value] : ID_NONE;
}
