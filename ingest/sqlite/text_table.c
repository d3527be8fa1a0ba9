// SPDX-License-Identifier: Apache-2.0
#include "ingest/sqlite/text_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static bool add_row(struct text_table *texts, int64_t id, struct str text, struct err *err)
{
    struct budget *budget = trace_builder_budget(texts->builder);
    struct text_row *rows =
        budget_room(budget, texts->rows, &texts->cap, texts->count + 1, sizeof *rows, err);
    if (!rows)
        return false;
    texts->rows = rows;
    char *bytes =
        budget_room(budget, texts->texts, &texts->text_cap, texts->text_len + text.len + 1, 1, err);
    if (!bytes)
        return false;
    texts->texts = bytes;
    memcpy(bytes + texts->text_len, text.at, text.len);
    rows[texts->count++] =
        (struct text_row){.id = id, .at = texts->text_len, .len = (uint32_t)text.len};
    texts->text_len += text.len;
    return true;
}

static int by_id(const void *left, const void *right)
{
    const struct text_row *a = left, *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at; // the first counts
}

static bool is_sorted(const struct text_table *texts)
{
    for (size_t i = 1; i < texts->count; i++)
        if (texts->rows[i - 1].id > texts->rows[i].id)
            return false;
    return true;
}

bool text_table_load(struct text_table *texts, struct trace_builder *builder,
                     struct database *database, const char *table, const char *columns,
                     struct err *err)
{
    struct rows rows;
    *texts = (struct text_table){.builder = builder};
    bool ok = rows_open(database, table, columns, &rows, err);
    while (ok && rows_next(&rows)) {
        int64_t id;
        struct str text;
        if (rows_i64(&rows, 0, &id) && rows_text(&rows, 1, &text))
            ok = add_row(texts, id, text, err);
    }
    ok = rows_close(&rows, ok ? err : NULL) && ok;
    if (ok && !is_sorted(texts))
        qsort(texts->rows, texts->count, sizeof *texts->rows, by_id);
    return ok;
}

void text_table_free(struct text_table *texts)
{
    if (!texts->builder)
        return;
    struct budget *budget = trace_builder_budget(texts->builder);
    budget_free(budget, texts->rows, texts->cap * sizeof *texts->rows);
    budget_free(budget, texts->texts, texts->text_cap);
    *texts = (struct text_table){0};
}

static struct text_row *find(const struct text_table *texts, int64_t id)
{
    size_t from = 0, to = texts->count;
    // Profilers number texts from 0 or 1 without gaps.
    for (size_t guess = 0; guess < 2; guess++)
        if ((uint64_t)id - guess < texts->count && texts->rows[(uint64_t)id - guess].id == id)
            return &texts->rows[(uint64_t)id - guess];
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (texts->rows[middle].id < id)
            from = middle + 1;
        else
            to = middle;
    }
    return from < texts->count && texts->rows[from].id == id ? &texts->rows[from] : NULL;
}

static struct str text_of(const struct text_table *texts, const struct text_row *row)
{
    return (struct str){texts->texts + row->at, row->len};
}

bool text_table_find(const struct text_table *texts, int64_t id, struct str *text)
{
    const struct text_row *row = find(texts, id);
    if (row)
        *text = text_of(texts, row);
    return row;
}

bool text_table_intern(struct text_table *texts, int64_t id, str_id *interned, struct err *err)
{
    struct text_row *row = find(texts, id);
    if (!row) {
        char number[24];
        snprintf(number, sizeof number, "%" PRId64, id);
        return trace_builder_text(texts->builder, str_of(number), ERR_NO_POS, interned, err);
    }
    *interned = row->interned;
    if (row->interned || !row->len)
        return true;
    bool ok = trace_builder_text(texts->builder, text_of(texts, row), ERR_NO_POS, interned, err);
    row->interned = *interned;
    return ok;
}
