// SPDX-License-Identifier: Apache-2.0
#include "server/report/document.h"

#include "server/base/number_text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct str doc_printf(struct document *doc, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    size_t kept = len < 0 ? 0 : (size_t)len < sizeof text ? (size_t)len : sizeof text - 1;
    struct str cut = {text, str_valid_utf8((struct str){text, kept})};
    char *copy = arena_strdup(doc->arena, cut, NULL);
    doc->failed |= !copy;
    return (struct str){copy ? copy : "", copy ? cut.len : 0};
}

struct doc_section *doc_begin(struct document *doc, struct str title, struct str text)
{
    if (doc->count == DOC_MOST_SECTIONS) {
        doc->failed = true;
        doc->count--; // the last one is lost with the document
    }
    struct doc_section *section = &doc->sections[doc->count++];
    *section = (struct doc_section){.title = title, .text = text};
    return section;
}

static struct doc_section *current(struct document *doc)
{
    return &doc->sections[doc->count - 1];
}

void doc_column(struct document *doc, struct str label)
{
    struct doc_section *section = current(doc);
    if (section->column_count == DOC_MOST_COLUMNS)
        doc->failed = true;
    else
        section->columns[section->column_count++] = label;
}

// Never NULL: without memory the document fails later, and its last cell is overwritten.
static struct doc_cell *add(struct document *doc, struct doc_cell cell)
{
    struct doc_section *section = current(doc);
    struct doc_cell *cells =
        arena_more(doc->arena, section->cells, section->cell_count, sizeof *cells, NULL);
    if (!cells) {
        doc->failed = true;
        doc->spare = cell;
        return &doc->spare;
    }
    section->cells = cells;
    struct doc_cell *added = &section->cells[section->cell_count++];
    *added = cell;
    return added;
}

struct doc_cell *doc_text(struct document *doc, struct str text)
{
    return add(doc, (struct doc_cell){.text = text, .number = (double)NAN, .unit = ""});
}

// Whether "us" at this place is a unit.
static bool is_microseconds(struct str text, size_t at)
{
    return at >= 2 && text.len - at >= 2 && memcmp(text.at + at - 1, " us", 3) == 0 &&
           str_is_digit(text.at[at - 2]) &&
           (text.len - at == 2 || !isalnum((unsigned char)text.at[at + 2]));
}

struct doc_cell *doc_sentence(struct document *doc, struct str text)
{
    struct buf out = {0};
    for (size_t i = 0; i < text.len; i++)
        if (is_microseconds(text, i))
            buf_puts(&out, "µ");
        else
            buf_putc(&out, text.at[i]);
    char *copy = arena_strdup(doc->arena, (struct str){out.len ? out.at : "", out.len}, NULL);
    doc->failed |= out.failed || !copy;
    size_t len = copy ? out.len : 0;
    buf_free(&out);
    return doc_text(doc, (struct str){copy ? copy : "", len});
}

struct doc_cell *doc_number(struct document *doc, double number, const char *unit)
{
    struct buf text = {0};
    struct str copy = STR("");
    if (isfinite(number)) {
        number_text_add(number, unit, &text);
        copy = text.failed ? copy : doc_printf(doc, "%.*s", (int)text.len, text.at);
        doc->failed |= text.failed;
    }
    buf_free(&text);
    return add(doc, (struct doc_cell){.text = copy, .number = number, .unit = unit});
}

bool doc_is_numeric(const struct doc_section *section, size_t column)
{
    for (size_t row = 0; row < doc_rows(section); row++)
        if (!isnan(section->cells[row * section->column_count + column].number))
            return true;
    return false;
}
