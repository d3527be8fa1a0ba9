// SPDX-License-Identifier: Apache-2.0
// A report before it is written in a format: sections of a title, a sentence or a table.
#ifndef SERVER_REPORT_DOCUMENT_H
#define SERVER_REPORT_DOCUMENT_H

#include "ingest/base/arena.h"
#include "ingest/base/buf.h"

enum { DOC_MOST_SECTIONS = 96, DOC_MOST_COLUMNS = 16 };

struct doc_cell {
    struct str text; // as people read it, with the unit; "" nothing
    double number;   // the same in the unit below, or NAN
    const char *unit;
    struct str note; // shown next to it, such as its source; "" none
    struct str href; // where it leads; "" nowhere
};

struct doc_section {
    struct str title, text; // text: a sentence below the title; "" none
    struct str columns[DOC_MOST_COLUMNS];
    size_t column_count;    // 0: no table
    struct doc_cell *cells; // row after row
    size_t cell_count;
    size_t bars;     // number of the column, from 1, drawn as bars; 0 none
    bool only_sheet; // a table for spreadsheets, left out elsewhere
};

struct document {
    struct arena *arena;
    struct str title, subtitle;
    struct str lead; // what it says in a sentence or two; "" none
    struct doc_section sections[DOC_MOST_SECTIONS];
    size_t count;
    struct doc_cell spare;
    bool failed; // memory ran out, or there are too many sections
};

// Text that is copied; printf's format.
struct str doc_printf(struct document *doc, const char *fmt, ...) PRINTF_LIKE(2, 3);

// Starts a section; what follows goes to it.
struct doc_section *doc_begin(struct document *doc, struct str title, struct str text);
void doc_column(struct document *doc, struct str label);

// Cells of the current section, in the order of its columns.
struct doc_cell *doc_text(struct document *doc, struct str text);
// A text of the analysis, which is ASCII: "30 us" is written "30 µs", as on the pages.
struct doc_cell *doc_sentence(struct document *doc, struct str text);
struct doc_cell *doc_number(struct document *doc, double number, const char *unit);

static inline size_t doc_rows(const struct doc_section *section)
{
    return section->column_count ? section->cell_count / section->column_count : 0;
}

// Whether a column has numbers, which are aligned right.
bool doc_is_numeric(const struct doc_section *section, size_t column);

// A format of reports. To add one: a file report_x.c with a `const struct report_format`, and a
// line in report_reply.c.
struct report_format {
    const char *word;   // of the parameter `format`
    const char *type;   // Content-Type
    const char *suffix; // of the file's name
    bool inline_style;  // a page that is shown, with a style of its own
    MUST_CHECK bool (*write)(const struct document *doc, struct buf *out, struct err *err);
};

extern const struct report_format report_as_html, report_as_markdown, report_as_json,
    report_as_xlsx;

#endif
