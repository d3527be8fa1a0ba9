// SPDX-License-Identifier: Apache-2.0
// Table cells for a terminal.
#include "server/cli/shown.h"

#include "ingest/base/visible.h"

#include <string.h>

enum { LINE_WIDTH = SHOWN_LINE_WIDTH };

size_t shown_rows(const struct table *table)
{
    return table ? table->row_count : 0;
}

double shown_ms(const struct table *table, size_t row, unsigned column)
{
    return (double)table_i64(table, row, column, 0) / 1e6;
}

double shown_percent(const struct table *table, size_t row, unsigned column)
{
    return table_f64(table, row, column, 0) * 100;
}

static void put_instead(FILE *out, struct str value, size_t width, char from, char to)
{
    bool is_cut = value.len > width;
    struct str shown = {value.at, is_cut ? width - 3 : value.len};
    shown.len = is_cut ? str_valid_utf8(shown) : shown.len;
    struct buf visible = {0};
    buf_add_visible(&visible, shown);
    for (size_t i = 0; i < visible.len; i++)
        fputc(visible.at[i] == from ? to : visible.at[i], out);
    fputs(is_cut ? "..." : "", out);
    buf_free(&visible);
}

void shown_put(FILE *out, struct str value, size_t width)
{
    put_instead(out, value, width, '\0', '?');
}

void shown_words(FILE *out, struct str word, size_t width)
{
    put_instead(out, word, width, '_', ' ');
}

// Wraps words to lines of LINE_WIDTH with an indent.
void shown_wrap(FILE *out, struct str value, int indent)
{
    int column = 0;
    while (value.len) {
        const char *space = memchr(value.at, ' ', value.len);
        size_t len = space ? (size_t)(space - value.at) : value.len;
        bool fits = column > 0 && (size_t)column + 1 + len <= LINE_WIDTH;
        if (!fits)
            fprintf(out, "%s%*s", column ? "\n" : "", indent, "");
        else
            fputc(' ', out);
        shown_put(out, (struct str){value.at, len}, LINE_WIDTH);
        column = (fits ? column + 1 : indent) + (int)(len < LINE_WIDTH ? len : LINE_WIDTH);
        len += space != NULL;
        value = (struct str){value.at + len, value.len - len};
    }
    fputc('\n', out);
}

const char *shown_plural(int64_t number)
{
    return number == 1 ? "" : "s";
}
