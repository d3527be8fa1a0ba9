// SPDX-License-Identifier: Apache-2.0
#include "ingest/links/link_figures.h"

#include <math.h>

static void real(struct figures *figures, double number, const char *line, const char *name)
{
    if (!isnan(number))
        figures_real(figures, number, "%s" IN "%s", line, name);
}

static void report_mode(struct figures *figures, const struct link_row *row, const char *line)
{
    static const char *const names[2][3] = {{"oop_us", "oop_algbw", "oop_busbw"},
                                            {"ip_us", "ip_algbw", "ip_busbw"}};
    const char *const *of_mode = names[row->in_place];
    real(figures, row->time_ns / 1e3, line, of_mode[0]);
    real(figures, row->algorithm_bps / 1e9, line, of_mode[1]);
    real(figures, row->bus_bps / 1e9, line, of_mode[2]);
}

// A line, as one row of each mode.
static void report_line(struct figures *figures, const struct link_row *rows, size_t count,
                        const char *line)
{
    figures_add(figures, rows->bytes, "%s" IN "size", line);
    figures_add(figures, rows->count, "%s" IN "count", line);
    figures_text(figures, rows->type, "%s" IN "type", line);
    figures_text(figures, rows->reduction, "%s" IN "redop", line);
    figures_add(figures, rows->root, "%s" IN "root", line);
    for (size_t i = 0; i < count; i++)
        report_mode(figures, &rows[i], line);
}

// How many rows from there on are of the same line.
static size_t line_length(const struct link_row *rows, size_t count)
{
    size_t same = 1;
    while (same < count && rows[same].pos == rows[0].pos && rows[same].run == rows[0].run)
        same++;
    return same;
}

static void report_rows(const struct link_tests *links, struct figures *figures)
{
    const struct link_row *rows = links->parts[LINK_ROWS].items;
    size_t count = links->parts[LINK_ROWS].count, last = 0;
    double peak = NAN;
    int64_t lines = 0;
    for (size_t i = 0; i < count; lines++) {
        last = i;
        for (size_t end = i + line_length(rows + i, count - i); i < end; i++)
            peak = fmax(peak, rows[i].bus_bps);
    }
    figures_add(figures, lines, "rows");
    if (!isnan(peak))
        figures_real(figures, peak / 1e9, "peak_busbw");
    if (!count)
        return;
    report_line(figures, rows, line_length(rows, count), "first");
    report_line(figures, rows + last, count - last, "last");
}

static void report_runs(const struct link_tests *links, struct figures *figures)
{
    const struct link_run *runs = links->parts[LINK_RUNS].items;
    const struct link_run *last = NULL;
    figures_add(figures, (int64_t)links->parts[LINK_RUNS].count, "runs");
    for (size_t i = 0; i < links->parts[LINK_RUNS].count; i++) {
        struct str name = runs[i].collective.len ? runs[i].collective : STR("unknown");
        figures_add(figures, 1, "collectives" IN "%.*s", (int)name.len, name.at);
        last = isnan(runs[i].average_bus_bps) ? last : &runs[i];
    }
    if (last)
        figures_real(figures, last->average_bus_bps / 1e9, "avg_busbw");
}

static void report_warnings(const struct link_tests *links, struct figures *figures)
{
    for (int i = 0; i < LINK_WARNINGS; i++)
        if (links->warnings[i].count)
            figures_add(figures, (int64_t)links->warnings[i].count, "warnings" IN "%s",
                        link_warning_words((enum link_warning)i));
}

void link_report_tests(const struct link_tests *links, struct figures *figures)
{
    figures_add(figures, (int64_t)links->parts[LINK_DEVICES].count, "ranks_listed");
    report_runs(links, figures);
    report_rows(links, figures);
    report_warnings(links, figures);
}
