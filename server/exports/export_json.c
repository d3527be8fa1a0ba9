// SPDX-License-Identifier: Apache-2.0
// A page of objects, with what each column means and where the next page starts.
#include "server/exports/export.h"

void export_json_cell(struct cell cell, enum column_type type, struct buf *out)
{
    if (cell.null) {
        buf_puts(out, "null");
        return;
    }
    switch (type) {
    case COLUMN_I64: buf_i64(out, cell.i); break;
    case COLUMN_BOOL: buf_puts(out, cell.i ? "true" : "false"); break;
    case COLUMN_F64: buf_f64(out, cell.f); break;
    case COLUMN_TEXT: buf_json(out, cell.s); break;
    }
}

void export_json_row(const struct export_view *view, const struct table *rows, size_t row,
                     struct buf *out)
{
    for (unsigned i = 0; i < view->column_count; i++) {
        const struct column *column = &view->desc->columns[view->columns[i]];
        buf_putc(out, i ? ',' : '{');
        buf_json(out, str_of(column->name));
        buf_putc(out, ':');
        export_json_cell(export_cell(rows, row, view->columns[i]), column->type, out);
    }
    buf_putc(out, '}');
}

static const char *type_word(enum column_type type)
{
    switch (type) {
    case COLUMN_I64: return "integer";
    case COLUMN_F64: return "number";
    case COLUMN_TEXT: return "string";
    case COLUMN_BOOL: return "boolean";
    }
    return "";
}

static void json_columns(const struct export_view *view, struct buf *out)
{
    for (unsigned i = 0; i < view->column_count; i++) {
        const struct column *column = &view->desc->columns[view->columns[i]];
        buf_puts(out, i ? ",{\"name\":" : "{\"name\":");
        buf_json(out, str_of(column->name));
        buf_printf(out, ",\"type\":\"%s\",\"unit\":", type_word(column->type));
        buf_json(out, str_of(column->unit));
        buf_puts(out, ",\"help\":");
        buf_json(out, str_of(column->help));
        buf_putc(out, '}');
    }
}

static void head(const struct export_view *view, struct buf *out)
{
    (void)view;
    buf_puts(out, "{\"items\":[");
}

static void put_rows(const struct export_view *view, const struct table *rows, uint64_t before,
                     struct buf *out)
{
    for (size_t row = 0; row < rows->row_count; row++) {
        if (row || before)
            buf_putc(out, ',');
        export_json_row(view, rows, row, out);
    }
}

void export_json_total(const struct export_end *end, struct buf *out)
{
    buf_printf(out, "\"total\":%llu", (unsigned long long)end->total);
    buf_puts(out, end->total_is_least ? ",\"total_is_least\":true" : "");
}

static void tail(const struct export_view *view, const struct export_end *end, struct buf *out)
{
    buf_puts(out, "],");
    export_json_total(end, out);
    buf_puts(out, ",\"next_cursor\":");
    buf_json_or_null(out, end->next);
    buf_puts(out, ",\"columns\":[");
    json_columns(view, out);
    buf_puts(out, "]}\n");
}

const struct table_export export_json = {.word = "json",
                                         .accept = "application/json",
                                         .type = "application/json",
                                         .paged = true,
                                         .head = head,
                                         .rows = put_rows,
                                         .tail = tail};
