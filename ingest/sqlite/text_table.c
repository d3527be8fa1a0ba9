// SPDX-License-Identifier: Apache-2.0
#include "ingest/sqlite/text_table.h"

#include <inttypes.h>
#include <stdio.h>

enum { AT, LEN, INTERNED }; // values of a row: AT first, so that the first text of an id counts

bool text_table_add(struct text_table *texts, int64_t id, struct str text, struct err *err)
{
    struct id_row row = {.id = id,
                         .value = {[AT] = (int64_t)texts->len, [LEN] = (int64_t)text.len}};
    char *bytes = budget_room(texts->ids.budget, texts->texts, &texts->cap,
                              texts->len + text.len + 1, 1, err);
    if (!bytes)
        return false;
    texts->texts = bytes;
    if (text.len)
        memcpy(bytes + texts->len, text.at, text.len);
    texts->len += text.len;
    return id_table_add(&texts->ids, &row, err);
}

static bool take(void *context, const struct rows *rows, struct err *err)
{
    int64_t id;
    struct str text;
    return !rows_i64(rows, 0, &id) || !rows_text(rows, 1, &text) ||
           text_table_add(context, id, text, err);
}

void text_table_sort(struct text_table *texts)
{
    id_table_sort(&texts->ids);
}

bool text_table_load(struct text_table *texts, struct budget *budget, struct database *database,
                     const char *table, const char *columns, struct err *err)
{
    *texts = (struct text_table){.ids.budget = budget};
    bool ok = rows_each(database, table, columns, take, texts, err);
    text_table_sort(texts);
    return ok;
}

void text_table_free(struct text_table *texts)
{
    if (texts->ids.budget)
        budget_free(texts->ids.budget, texts->texts, texts->cap);
    id_table_free(&texts->ids);
    *texts = (struct text_table){0};
}

static struct str text_of(const struct text_table *texts, const struct id_row *row)
{
    return (struct str){texts->texts + row->value[AT], (size_t)row->value[LEN]};
}

bool text_table_find(const struct text_table *texts, int64_t id, struct str *text)
{
    const struct id_row *row = id_table_find(&texts->ids, id);
    if (row)
        *text = text_of(texts, row);
    return row;
}

bool text_table_intern(struct text_table *texts, struct trace_builder *builder, int64_t id,
                       str_id *interned, struct err *err)
{
    const struct id_row *found = id_table_find(&texts->ids, id);
    if (!found) {
        char number[24];
        snprintf(number, sizeof number, "%" PRId64, id);
        return trace_builder_text(builder, str_of(number), ERR_NO_POS, interned, err);
    }
    struct id_row *row = &texts->ids.rows[found - texts->ids.rows];
    *interned = (str_id)row->value[INTERNED];
    if (*interned || !row->value[LEN])
        return true;
    bool ok = trace_builder_text(builder, text_of(texts, row), ERR_NO_POS, interned, err);
    row->value[INTERNED] = *interned;
    return ok;
}
