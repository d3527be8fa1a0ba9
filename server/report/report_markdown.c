// SPDX-License-Identifier: Apache-2.0
// A report as Markdown, for pull requests and issues.
#include "ingest/base/visible.h"
#include "server/report/document.h"

#include <string.h>

// Escapes what would be markup; a line stays one line.
static void add_text(struct str text, struct buf *out)
{
    struct buf visible = {0};
    buf_add_visible(&visible, text);
    for (size_t i = 0; i < visible.len; i++) {
        if (strchr("\\`*_{}[]<>#|~!&", visible.at[i]))
            buf_putc(out, '\\');
        buf_putc(out, visible.at[i]);
    }
    out->failed |= visible.failed;
    buf_free(&visible);
}

static void add_cell(const struct doc_cell *cell, struct buf *out)
{
    buf_puts(out, cell->href.len ? " [" : " ");
    add_text(cell->text, out);
    if (cell->href.len) {
        buf_puts(out, "](");
        buf_add_str(out, cell->href);
        buf_putc(out, ')');
    }
    if (cell->note.len) {
        buf_puts(out, " (");
        add_text(cell->note, out);
        buf_putc(out, ')');
    }
    buf_puts(out, " |");
}

static void add_table(const struct doc_section *section, struct buf *out)
{
    buf_putc(out, '|');
    for (size_t i = 0; i < section->column_count; i++) {
        buf_putc(out, ' ');
        add_text(section->columns[i], out);
        buf_puts(out, " |");
    }
    buf_puts(out, "\n|");
    for (size_t i = 0; i < section->column_count; i++)
        buf_puts(out, doc_is_numeric(section, i) ? " ---: |" : " --- |");
    for (size_t row = 0; row < doc_rows(section); row++) {
        buf_puts(out, "\n|");
        for (size_t i = 0; i < section->column_count; i++)
            add_cell(&section->cells[row * section->column_count + i], out);
    }
    buf_puts(out, "\n\n");
}

static bool write_markdown(const struct document *doc, struct buf *out, struct err *err)
{
    buf_puts(out, "# ");
    add_text(doc->title, out);
    buf_puts(out, "\n\n");
    add_text(doc->subtitle, out);
    buf_puts(out, "\n\n");
    if (doc->lead.len) {
        add_text(doc->lead, out);
        buf_puts(out, "\n\n");
    }
    for (size_t i = 0; i < doc->count; i++) {
        const struct doc_section *section = &doc->sections[i];
        if (section->only_sheet)
            continue;
        buf_puts(out, "## ");
        add_text(section->title, out);
        buf_puts(out, "\n\n");
        if (section->text.len) {
            add_text(section->text, out);
            buf_puts(out, "\n\n");
        }
        if (doc_rows(section))
            add_table(section, out);
    }
    return buf_ok(out, err);
}

const struct report_format report_as_markdown = {
    .word = "md", .type = "text/markdown; charset=utf-8", .suffix = "md", .write = write_markdown};
