// SPDX-License-Identifier: Apache-2.0
// A report as one self-contained page that can be mailed, kept and printed.
#include "ingest/base/visible.h"
#include "server/report/document.h"

#include <math.h>

static const char style[] =
    ":root{color-scheme:light dark;--line:#d5d9e0;--faint:#5c6470;--head:#f2f4f7;"
    "--link:#1d4fa8}"
    "@media (prefers-color-scheme:dark){:root{--line:#3a414d;--faint:#a0a8b5;--head:#20252d;"
    "--link:#8ab4f8}}"
    "body{font:14px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem}"
    "h1{font-size:1.6rem;margin:0}h2{font-size:1.1rem;margin:2rem 0 .4rem}"
    "p{margin:.3rem 0 .8rem;max-width:60rem}.sub,small{color:var(--faint)}"
    "div{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "th,td{border-bottom:1px solid var(--line);padding:.3rem .8rem .3rem 0;text-align:left;"
    "vertical-align:top}th{background:var(--head);font-weight:600;padding-left:.4rem}"
    "td{padding-left:.4rem}td:first-child{min-width:8rem;overflow-wrap:anywhere}"
    "svg{vertical-align:-1px}.axis{stroke:var(--faint)}.less{fill:#2f7d4f}.more{fill:#c2571a}.n{"
    "text-align:right;white-space:nowrap}small{display:block}.w{min-width:16rem}"
    ".lead{font-size:1.15rem;margin:1rem 0 0}a{color:var(--link)}"
    "@media (max-width:48rem){body{margin:1rem auto}td:first-child{position:sticky;left:0;"
    "min-width:7.5rem;max-width:9rem;background:Canvas}}.r{text-align:right}"
    "@media print{body{margin:0;max-width:none;font-size:10pt}h2{break-after:avoid}"
    "tr{break-inside:avoid}a{color:inherit;text-decoration:none}div{overflow:visible}}";

static void add_text(struct str text, struct buf *out)
{
    struct buf visible = {0};
    buf_add_visible(&visible, text);
    for (size_t i = 0; i < visible.len; i++)
        switch (visible.at[i]) {
        case '&': buf_puts(out, "&amp;"); break;
        case '<': buf_puts(out, "&lt;"); break;
        case '>': buf_puts(out, "&gt;"); break;
        case '"': buf_puts(out, "&quot;"); break;
        default: buf_putc(out, visible.at[i]);
        }
    out->failed |= visible.failed;
    buf_free(&visible);
}

static void add_element(const char *tag, struct str text, struct buf *out)
{
    buf_printf(out, "<%s>", tag);
    add_text(text, out);
    buf_printf(out, "</%s>\n", tag);
}

enum { BAR_WIDTH = 120 };

// From the middle, to the right if it takes longer; the text beside it says the same.
static void add_bar(double number, double most, struct buf *out)
{
    double width = BAR_WIDTH / 2.0 * fmin(1, fabs(number) / most);
    double left = number < 0 ? BAR_WIDTH / 2.0 - width : BAR_WIDTH / 2.0;
    buf_printf(
        out,
        "<svg width=\"%d\" height=\"12\" aria-hidden=\"true\"><path class=\"axis\" d=\"M%d "
        "0v12\"/><rect class=\"%s\" x=\"%.1f\" y=\"1\" width=\"%.1f\" height=\"10\"/></svg> ",
        BAR_WIDTH, BAR_WIDTH / 2, number < 0 ? "less" : "more", left, width);
}

static double largest(const struct doc_section *section)
{
    double most = 0;
    for (size_t row = 0; section->bars && row < doc_rows(section); row++)
        most = fmax(most, fabs(section->cells[row * section->column_count + section->bars - 1]
                                   .number)); // of a number and NAN the number
    return most;
}

// most: the largest bar of its column, 0 without bars. Text is aligned as the column's numbers are.
static void add_cell(const struct doc_cell *cell, bool numeric, double most, struct buf *out)
{
    buf_puts(out, !numeric              ? "<td>"
                  : isnan(cell->number) ? "<td class=\"r\">"
                                        : "<td class=\"n\">");
    if (most > 0 && !isnan(cell->number))
        add_bar(cell->number, most, out);
    if (cell->href.len) {
        buf_puts(out, "<a href=\"");
        add_text(cell->href, out);
        buf_puts(out, "\">");
    }
    add_text(cell->text.len ? cell->text : STR("–"), out);
    buf_puts(out, cell->href.len ? "</a>" : "");
    if (cell->note.len)
        add_element("small", cell->note, out);
    buf_puts(out, "</td>");
}

// Whether a column has sentences, which need room where the window is narrow.
static bool is_prose(const struct doc_section *section, size_t column)
{
    enum { LONG = 40 };
    for (size_t row = 0; row < doc_rows(section); row++)
        if (section->cells[row * section->column_count + column].text.len > LONG)
            return true;
    return false;
}

static void add_table(const struct doc_section *section, struct buf *out)
{
    double most = largest(section);
    bool numeric[DOC_MOST_COLUMNS];
    buf_puts(out, "<div><table><thead><tr>");
    for (size_t i = 0; i < section->column_count; i++) {
        numeric[i] = doc_is_numeric(section, i);
        buf_printf(out, "<th scope=\"col\"%s>",
                   numeric[i]             ? " class=\"n\""
                   : is_prose(section, i) ? " class=\"w\""
                                          : "");
        add_text(section->columns[i], out);
        buf_puts(out, "</th>");
    }
    buf_puts(out, "</tr></thead><tbody>\n");
    for (size_t row = 0; row < doc_rows(section); row++) {
        buf_puts(out, "<tr>");
        for (size_t i = 0; i < section->column_count; i++)
            add_cell(&section->cells[row * section->column_count + i], numeric[i],
                     i + 1 == section->bars ? most : 0, out);
        buf_puts(out, "</tr>\n");
    }
    buf_puts(out, "</tbody></table></div>\n");
}

static bool write_html(const struct document *doc, struct buf *out, struct err *err)
{
    buf_puts(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                  "<meta name=\"viewport\" content=\"width=device-width\">");
    add_element("title", doc->title, out);
    buf_printf(out, "<style>%s</style></head><body>\n", style);
    add_element("h1", doc->title, out);
    buf_puts(out, "<p class=\"sub\">");
    add_text(doc->subtitle, out);
    buf_puts(out, "</p>\n");
    if (doc->lead.len) {
        buf_puts(out, "<p class=\"lead\">");
        add_text(doc->lead, out);
        buf_puts(out, "</p>\n");
    }
    for (size_t i = 0; i < doc->count; i++) {
        const struct doc_section *section = &doc->sections[i];
        if (section->only_sheet)
            continue;
        add_element("h2", section->title, out);
        if (section->text.len)
            add_element("p", section->text, out);
        if (doc_rows(section))
            add_table(section, out);
    }
    buf_puts(out, "</body></html>\n");
    return buf_ok(out, err);
}

const struct report_format report_as_html = {.word = "html",
                                             .type = "text/html; charset=utf-8",
                                             .suffix = "html",
                                             .inline_style = true,
                                             .write = write_html};
