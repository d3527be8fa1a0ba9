// SPDX-License-Identifier: Apache-2.0
#include "server/report/document.h"

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

struct doc_cell *doc_number(struct document *doc, double number, const char *unit)
{
    struct buf text = {0};
    struct str copy = STR("");
    if (isfinite(number)) {
        doc_add_number(number, unit, &text);
        copy = text.failed ? copy : doc_printf(doc, "%.*s", (int)text.len, text.at);
        doc->failed |= text.failed;
    }
    buf_free(&text);
    return add(doc, (struct doc_cell){.text = copy, .number = number, .unit = unit});
}

// --- numbers ------------------------------------------------------------------------------------

static const struct scale {
    const char *unit;
    double from, divisor;
    const char *shown;
} scales[] = {
    {"ns", 1e9, 1e9, " s"},        {"ns", 1e6, 1e6, " ms"},    {"ns", 1e3, 1e3, " us"},
    {"ns", 0, 1, " ns"},           {"bytes", 1e9, 1e9, " GB"}, {"bytes", 1e6, 1e6, " MB"},
    {"bytes", 1e3, 1e3, " kB"},    {"bytes", 0, 1, " B"},      {"share", 0, 0.01, " %"},
    {"TFLOP/s", 0, 1, " TFLOP/s"}, {"W", 0, 1, " W"},          {"J", 0, 1, " J"},
    {"GB/s", 0, 1, " GB/s"},
};

// "1234567" with commas.
static void add_grouped(double number, struct buf *out)
{
    char digits[32];
    int len = snprintf(digits, sizeof digits, "%.0f", fabs(number));
    buf_puts(out, number < 0 ? "-" : "");
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            buf_putc(out, ',');
        buf_putc(out, digits[i]);
    }
}

// Four digits, more only before the point.
static void add_plain(double number, struct buf *out)
{
    double size = fabs(number);
    if (size >= 1000 && size < 1e15)
        add_grouped(number, out);
    else if (size >= 100)
        buf_printf(out, "%.1f", number);
    else if (size >= 10)
        buf_printf(out, "%.2f", number);
    else
        buf_printf(out, "%.4g", number);
}

void doc_add_number(double number, const char *unit, struct buf *out)
{
    if (strcmp(unit, "count") == 0) {
        add_grouped(number, out);
        return;
    }
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        const struct scale *scale = &scales[i];
        if (strcmp(scale->unit, unit) != 0 || fabs(number) < scale->from)
            continue;
        if (strcmp(unit, "share") == 0)
            buf_printf(out, "%.1f", number / scale->divisor);
        else
            add_plain(number / scale->divisor, out);
        buf_puts(out, scale->shown);
        return;
    }
    add_plain(number, out);
}
