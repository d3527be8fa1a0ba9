// SPDX-License-Identifier: Apache-2.0
// Comma-separated values as in RFC 4180, in UTF-8.
#include "server/exports/export.h"

// The same characters in full width: U+FF1D, U+FF0B, U+FF0D, U+FF20.
static bool begins_wide(struct str line, size_t at)
{
    static const char *const signs[] = {"\xEF\xBC\x9D", "\xEF\xBC\x8B", "\xEF\xBC\x8D",
                                        "\xEF\xBC\xA0"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (str_starts_with((struct str){line.at + at, line.len - at}, str_of(signs[i])))
            return true;
    return false;
}

// Whether a spreadsheet would take a line for a formula: after blanks, it starts with one of these.
static bool begins_formula(struct str line)
{
    size_t i = 0;
    for (;;) {
        if (i < line.len && line.at[i] == ' ')
            i++;
        else if (i + 1 < line.len && memcmp(line.at + i, "\xC2\xA0", 2) == 0)
            i += 2;
        else
            break;
    }
    return i < line.len && (memchr("=+-@\t\r", line.at[i], 6) || begins_wide(line, i));
}

// UTF-8 text within the quotes. *line_begins carries over from piece to piece.
static void csv_text(struct str text, bool *line_begins, struct buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (*line_begins && begins_formula((struct str){text.at + i, text.len - i}))
            buf_putc(out, '\'');
        if (c == '"')
            buf_putc(out, '"');
        buf_putc(out, c);
        *line_begins = c == '\n' || c == '\r';
    }
}

void export_csv_cell(struct cell cell, enum column_type type, struct buf *out)
{
    if (cell.null)
        return;
    if (type != COLUMN_TEXT) {
        export_json_cell(cell, type, out);
        return;
    }
    bool line_begins = true;
    struct str rest = cell.s;
    buf_putc(out, '"');
    while (rest.len) {
        size_t valid = str_valid_utf8(rest);
        csv_text((struct str){rest.at, valid}, &line_begins, out);
        size_t bad = valid < rest.len; // a byte that UTF-8 readers would reject
        if (bad)
            buf_puts(out, "\xEF\xBF\xBD");
        rest = (struct str){rest.at + valid + bad, rest.len - valid - bad};
    }
    buf_putc(out, '"');
}

static void head(const struct export_view *view, struct buf *out)
{
    for (unsigned i = 0; i < view->column_count; i++)
        buf_printf(out, "%s%s", i ? "," : "", view->desc->columns[view->columns[i]].name);
    buf_puts(out, "\r\n");
}

static void put_rows(const struct export_view *view, const struct table *rows, uint64_t before,
                     struct buf *out)
{
    (void)before;
    for (size_t row = 0; row < rows->row_count; row++) {
        for (unsigned i = 0; i < view->column_count; i++) {
            unsigned column = view->columns[i];
            buf_puts(out, i ? "," : "");
            export_csv_cell(export_cell(rows, row, column), view->desc->columns[column].type, out);
        }
        buf_puts(out, "\r\n");
    }
}

const struct table_export export_csv = {.word = "csv",
                                        .accept = "text/csv",
                                        .type = "text/csv; charset=utf-8",
                                        .suffix = "csv",
                                        .head = head,
                                        .rows = put_rows};
