// SPDX-License-Identifier: Apache-2.0
#include "ingest/links/link_figures.h"

#include <math.h>

// A file may have any number of names: the first get separate figures, the others share one.
enum { MOST_NAMES = 64, MOST_SIZES = 1000 };

struct names {
    struct str at[MOST_NAMES];
    int64_t counts[MOST_NAMES + 1];
    size_t count;
};

static void count_name(struct names *names, struct str name)
{
    size_t i = 0;
    while (i < names->count && !str_equal(names->at[i], name))
        i++;
    if (i == names->count && i < MOST_NAMES)
        names->at[names->count++] = name;
    names->counts[i]++;
}

static void report_names(const struct names *names, struct figures *figures, const char *path)
{
    for (size_t i = 0; i < names->count; i++) {
        struct str name = names->at[i].len ? names->at[i] : STR("unknown");
        figures_add(figures, names->counts[i], "%s" IN "%.*s", path, (int)name.len, name.at);
    }
    if (names->counts[MOST_NAMES])
        figures_add(figures, names->counts[MOST_NAMES], "%s" IN "others", path);
}

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
    struct names names = {.count = 0};
    figures_add(figures, (int64_t)links->parts[LINK_RUNS].count, "runs");
    for (size_t i = 0; i < links->parts[LINK_RUNS].count; i++) {
        count_name(&names, runs[i].collective);
        last = isnan(runs[i].average_bus_bps) ? last : &runs[i];
    }
    report_names(&names, figures, "collectives");
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

void link_report_tests(const struct evidence *evidence, struct figures *figures)
{
    const struct link_tests *links = &evidence->links;
    figures_add(figures, (int64_t)links->parts[LINK_DEVICES].count, "ranks_listed");
    report_runs(links, figures);
    report_rows(links, figures);
    report_warnings(links, figures);
}

void link_report_sizes(const struct evidence *evidence, struct figures *figures)
{
    const struct link_tests *links = &evidence->links;
    const struct link_row *rows = links->parts[LINK_ROWS].items;
    size_t count = links->parts[LINK_ROWS].count, place = 0;
    link_report_tests(evidence, figures);
    figures_list(figures, "sizes" IN);
    for (size_t i = 0; i < count && place < MOST_SIZES; i += line_length(rows + i, count - i))
        figures_add(figures, rows[i].bytes, "sizes" IN "%zu", place++);
}

void link_report_records(const struct evidence *evidence, struct figures *figures)
{
    const struct link_tests *links = &evidence->links;
    const struct link_record *records = links->parts[LINK_RECORDS].items;
    struct names names = {.count = 0};
    double sum_ns = 0;
    figures_add(figures, (int64_t)links->parts[LINK_RECORDS].count, "records");
    figures_add(figures, (int64_t)links->parts[LINK_COMMS].count, "comms");
    for (size_t i = 0; i < links->parts[LINK_RECORDS].count; i++) {
        count_name(&names, records[i].operation);
        sum_ns += isnan(records[i].time_ns) ? 0 : records[i].time_ns;
    }
    report_names(&names, figures, "ops");
    figures_real(figures, sum_ns / 1e3, "exec_us_sum");
    report_warnings(links, figures);
}

void link_report_members(const struct evidence *evidence, struct figures *figures)
{
    const struct link_tests *links = &evidence->links;
    const struct link_member *members = links->parts[LINK_MEMBERS].items;
    figures_add(figures, (int64_t)links->parts[LINK_COMMS].count, "communicators");
    figures_add(figures, 0, "ranks");
    figures_add(figures, 0, "missing_ranks");
    for (size_t i = 0; i < links->parts[LINK_MEMBERS].count; i++)
        figures_add(figures, 1, "%s", members[i].missing ? "missing_ranks" : "ranks");
    report_warnings(links, figures);
}

void link_report_topology(const struct evidence *evidence, struct figures *figures)
{
    const struct link_tests *links = &evidence->links;
    const struct link_place *places = links->parts[LINK_PLACES].items;
    const struct link_path *paths = links->parts[LINK_PATHS].items;
    struct names names = {.count = 0};
    int64_t gpus = 0, count = (int64_t)links->parts[LINK_PLACES].count;
    for (int64_t i = 0; i < count; i++)
        gpus += str_starts_with(places[i].name, STR("GPU"));
    for (size_t i = 0; i < links->parts[LINK_PATHS].count; i++)
        count_name(&names, paths[i].kind);
    figures_add(figures, gpus, "gpus");
    figures_add(figures, count - gpus, "nics");
    report_names(&names, figures, "paths");
    report_warnings(links, figures);
}

void link_report_ports(const struct evidence *evidence, struct figures *figures)
{
    const struct link_tests *links = &evidence->links;
    const struct link_port *ports = links->parts[LINK_PORTS].items;
    struct names names = {.count = 0};
    for (size_t i = 0; i < links->parts[LINK_PORTS].count; i++)
        count_name(&names, ports[i].state);
    figures_add(figures, (int64_t)links->parts[LINK_PORTS].count, "ports");
    report_names(&names, figures, "states");
    report_warnings(links, figures);
}
