// SPDX-License-Identifier: Apache-2.0
// A list of values per column, the form notebooks want, with units and meanings.
#include "server/exports/export.h"

static void head(const struct export_view *view, struct buf *out)
{
    (void)view;
    buf_puts(out, "{\"columns\":{");
}

static void start_column(const struct export_view *view, unsigned place, struct buf *out)
{
    buf_puts(out, place ? "]," : "");
    buf_json(out, str_of(view->desc->columns[view->columns[place]].name));
    buf_puts(out, ":[");
}

static void put_values(const struct table *rows, unsigned index, uint64_t before, struct buf *out)
{
    for (size_t row = 0; row < rows->row_count; row++) {
        if (row || before)
            buf_putc(out, ',');
        export_json_cell(export_cell(rows, row, index), rows->desc->columns[index].type, out);
    }
}

// {"name":unit,...}, or help texts instead of units.
static void json_texts(const struct export_view *view, bool helps, struct buf *out)
{
    buf_putc(out, '{');
    for (unsigned i = 0; i < view->column_count; i++) {
        const struct column *column = &view->desc->columns[view->columns[i]];
        if (i)
            buf_putc(out, ',');
        buf_json(out, str_of(column->name));
        buf_putc(out, ':');
        buf_json(out, str_of(helps ? column->help : column->unit));
    }
    buf_putc(out, '}');
}

static void tail(const struct export_view *view, const struct export_end *end, struct buf *out)
{
    buf_puts(out, "]},\"units\":");
    json_texts(view, false, out);
    buf_puts(out, ",\"help\":");
    json_texts(view, true, out);
    buf_printf(out, ",\"row_count\":%llu,", (unsigned long long)end->rows);
    export_json_total(end, out);
    buf_puts(out, "}\n");
}

const struct table_export export_columns = {.word = "columns",
                                            .type = "application/json",
                                            .head = head,
                                            .column = start_column,
                                            .values = put_values,
                                            .tail = tail};
