// SPDX-License-Identifier: Apache-2.0
#include "ingest/sqlite/id_table.h"

#include <stdlib.h>

bool id_table_add(struct id_table *ids, const struct id_row *row, struct err *err)
{
    struct id_row *rows =
        budget_room(ids->budget, ids->rows, &ids->cap, ids->count + 1, sizeof *rows, err);
    if (!rows)
        return false;
    ids->rows = rows;
    rows[ids->count++] = *row;
    return true;
}

static int by_id(const void *left, const void *right)
{
    const struct id_row *a = left, *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->value[0] > b->value[0]) - (a->value[0] < b->value[0]);
}

// Most tables are stored in this order.
void id_table_sort(struct id_table *ids)
{
    for (size_t i = 1; i < ids->count; i++)
        if (ids->rows[i - 1].id > ids->rows[i].id) {
            qsort(ids->rows, ids->count, sizeof *ids->rows, by_id);
            return;
        }
}

static bool take(void *context, const struct rows *rows, struct err *err)
{
    struct id_row row;
    for (unsigned i = 0; i < ID_VALUES; i++)
        row.value[i] = i + 1 < rows->count ? rows_i64_or(rows, i + 1, ID_NONE) : ID_NONE;
    return !rows_i64(rows, 0, &row.id) || id_table_add(context, &row, err);
}

bool id_table_load(struct id_table *ids, struct budget *budget, struct database *database,
                   const char *table, const char *columns, struct err *err)
{
    *ids = (struct id_table){.budget = budget};
    bool ok = rows_each(database, table, columns, take, ids, err);
    id_table_sort(ids);
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
    size_t from = 0, to = ids->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (ids->rows[middle].id < id)
            from = middle + 1;
        else
            to = middle;
    }
    return from < ids->count && ids->rows[from].id == id ? &ids->rows[from] : NULL;
}

int64_t id_table_value(const struct id_table *ids, int64_t id, unsigned value)
{
    const struct id_row *row = id_table_find(ids, id);
    return row ? row->value[value] : ID_NONE;
}
