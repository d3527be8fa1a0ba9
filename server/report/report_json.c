// SPDX-License-Identifier: Apache-2.0
// A report as JSON: cells as {"text", "value", "unit", "note", "href"}, of which only the known
// ones are there.
#include "server/report/document.h"

#include <math.h>

static void add_member(const char *name, struct str text, struct buf *out)
{
    if (!text.len)
        return;
    buf_printf(out, ",\"%s\":", name);
    buf_json(out, text);
}

static void add_cell(const struct doc_cell *cell, struct buf *out)
{
    buf_puts(out, "{\"text\":");
    buf_json(out, cell->text);
    if (isfinite(cell->number)) {
        buf_printf(out, ",\"value\":%.17g,\"unit\":", cell->number);
        buf_json(out, str_of(cell->unit));
    }
    add_member("note", cell->note, out);
    add_member("href", cell->href, out);
    buf_putc(out, '}');
}

static void add_rows(const struct doc_section *section, struct buf *out)
{
    for (size_t i = 0; i < doc_rows(section) * section->column_count; i++) {
        bool first = i % section->column_count == 0;
        bool last = i % section->column_count == section->column_count - 1;
        buf_puts(out, first ? (i ? ",[" : "[") : ",");
        add_cell(&section->cells[i], out);
        buf_puts(out, last ? "]" : "");
    }
}

static void add_section(const struct doc_section *section, struct buf *out)
{
    buf_puts(out, "{\"title\":");
    buf_json(out, section->title);
    add_member("text", section->text, out);
    buf_puts(out, ",\"columns\":[");
    for (size_t i = 0; i < section->column_count; i++) {
        buf_puts(out, i ? "," : "");
        buf_json(out, section->columns[i]);
    }
    buf_puts(out, "],\"rows\":[");
    add_rows(section, out);
    buf_puts(out, "]}");
}

static bool write_json(const struct document *doc, struct buf *out, struct err *err)
{
    buf_puts(out, "{\"title\":");
    buf_json(out, doc->title);
    add_member("subtitle", doc->subtitle, out);
    buf_puts(out, ",\"sections\":[");
    for (size_t i = 0; i < doc->count; i++) {
        buf_puts(out, i ? "," : "");
        add_section(&doc->sections[i], out);
    }
    buf_puts(out, "]}\n");
    return buf_ok(out, err);
}

const struct report_format report_as_json = {
    .word = "json", .type = "application/json", .suffix = "json", .write = write_json};
