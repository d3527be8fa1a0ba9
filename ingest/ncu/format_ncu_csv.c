// SPDX-License-Identifier: Apache-2.0
// CSV that Nsight Compute prints: a row per metric of each launch (the details page), or a row per
// launch with a column per metric, after one with their units (the raw page).
#include "ingest/csv/csv.h"
#include "ingest/format.h"

#include <stdlib.h>

enum { MOST_NAMES = 1024, FEWEST_CELLS = 6 };

struct ncu {
    const struct format_input *input;
    struct csv *csv;
    struct csv_row row;
    size_t id, kernel, metric, value, duration;      // columns; SIZE_MAX: not there
    unsigned char metric_columns[CSV_MAX_CELLS / 8]; // bits
    double unit_ns;                                  // 0: no duration
    double total_point_ns, total_comma_ns;           // as numbers with either decimal mark
    bool comma;
    uint64_t not_numbers, launches, metrics;
    const char *names[MOST_NAMES];
    size_t name_count;
    int64_t *ids;
    size_t id_cap;
};

// --- cells --------------------------------------------------------------------------------------

static struct str cell(const struct ncu *ncu, size_t column)
{
    return csv_cell(&ncu->row, column);
}

static size_t column_of(const struct csv_row *header, const char *name)
{
    for (size_t i = 0; i < header->count; i++)
        if (str_equal(header->cells[i], str_of(name)))
            return i;
    return SIZE_MAX;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// "1,234.56" or "1.234,56"; false if it is no number.
static bool parse(struct str text, char mark, double *value)
{
    char digits[64], *end;
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (len + 1 == sizeof digits)
            return false;
        if (c == mark)
            digits[len++] = '.';
        else if (c != '.' && c != ',')
            digits[len++] = c;
    }
    digits[len] = '\0';
    *value = strtod(digits, &end);
    return len && *end == '\0';
}

static bool all_digits(const char *at, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_digit(at[i]))
            return false;
    return true;
}

// Whether a comma is the decimal mark for sure: "1.234,5" or "0,25", but not "1,234".
static bool has_comma(struct str text)
{
    for (size_t i = 1; i < text.len; i++) {
        size_t after = text.len - i - 1;
        if (text.at[i] != ',')
            continue;
        if (is_digit(text.at[i - 1]) && after >= 1 && after <= 2 &&
            all_digits(text.at + i + 1, after))
            return true;
        if (i >= 4 && text.at[i - 4] == '.' && all_digits(text.at + i - 3, 3))
            return true;
    }
    return false;
}

static double ns_of(struct str unit)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1},   {"nsecond", 1},   {"us", 1e3}, {"usecond", 1e3},
                 {"ms", 1e6}, {"msecond", 1e6}, {"s", 1e9},  {"second", 1e9}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (str_equal(unit, str_of(units[i].name)))
            return units[i].ns;
    return 0;
}

// --- kernels ------------------------------------------------------------------------------------

// Distinct names, up to a number.
static bool note_name(struct ncu *ncu, struct err *err)
{
    struct str name = cell(ncu, ncu->kernel);
    for (size_t i = 0; i < ncu->name_count; i++)
        if (str_equal(str_of(ncu->names[i]), name))
            return true;
    if (ncu->name_count == MOST_NAMES || !ncu->input->figures)
        return true;
    return (ncu->names[ncu->name_count++] = arena_strdup(ncu->input->figures->arena, name, err)) !=
           NULL;
}

static int by_text(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;
    return strcmp(*a, *b);
}

static void report_names(struct ncu *ncu)
{
    struct figures *figures = ncu->input->figures;
    if (ncu->name_count)
        qsort(ncu->names, ncu->name_count, sizeof *ncu->names, by_text);
    figures_list(figures, "kernel_names" IN);
    for (size_t i = 0; i < ncu->name_count; i++)
        figures_text(figures, str_of(ncu->names[i]), "kernel_names" IN "%zu", i);
}

// --- details ------------------------------------------------------------------------------------

static int by_number(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static bool note_id(struct ncu *ncu, struct err *err)
{
    int64_t id;
    if (!str_to_i64(cell(ncu, ncu->id), &id))
        id = -1;
    if (ncu->launches && ncu->ids[ncu->launches - 1] == id)
        return true;
    int64_t *at =
        budget_room(ncu->input->budget, ncu->ids, &ncu->id_cap, ncu->launches + 1, sizeof *at, err);
    if (!at)
        return false;
    ncu->ids = at;
    at[ncu->launches++] = id;
    return true;
}

static bool take_metric(struct ncu *ncu, struct err *err)
{
    double value;
    if (ncu->row.count < FEWEST_CELLS)
        return true;
    if (!note_id(ncu, err) || !note_name(ncu, err))
        return false;
    if (cell(ncu, ncu->metric).len) {
        ncu->metrics++;
        ncu->not_numbers += !parse(cell(ncu, ncu->value), '.', &value);
    }
    return true;
}

static void report_details(struct ncu *ncu)
{
    struct figures *figures = ncu->input->figures;
    figures_text(figures, STR("details"), "page");
    figures_add(figures, 0, "kernels");
    if (ncu->launches)
        qsort(ncu->ids, ncu->launches, sizeof *ncu->ids, by_number);
    for (uint64_t i = 0; i < ncu->launches; i++)
        figures_add(figures, i == 0 || ncu->ids[i] != ncu->ids[i - 1], "kernels");
    figures_add(figures, (int64_t)ncu->metrics, "metric_rows");
}

// --- raw ----------------------------------------------------------------------------------------

// Metrics have two underscores in their names, what describes a launch has none.
static void find_metrics(struct ncu *ncu)
{
    for (size_t i = 0; i < ncu->row.count; i++)
        if (str_find(ncu->row.cells[i], STR("__")) != SIZE_MAX)
            ncu->metric_columns[i / 8] |= (unsigned char)(1u << i % 8);
}

static bool take_launch(struct ncu *ncu, struct err *err)
{
    double value;
    ncu->launches++;
    for (size_t i = 0; i < ncu->row.count; i++) {
        if (!(ncu->metric_columns[i / 8] >> i % 8 & 1))
            continue;
        ncu->not_numbers += str_equal(ncu->row.cells[i], STR("n/a"));
        ncu->comma = ncu->comma || has_comma(ncu->row.cells[i]);
    }
    if (parse(cell(ncu, ncu->duration), '.', &value))
        ncu->total_point_ns += value * ncu->unit_ns;
    if (parse(cell(ncu, ncu->duration), ',', &value))
        ncu->total_comma_ns += value * ncu->unit_ns;
    return note_name(ncu, err);
}

static void report_raw(struct ncu *ncu)
{
    struct figures *figures = ncu->input->figures;
    figures_text(figures, STR("raw"), "page");
    figures_add(figures, (int64_t)ncu->launches, "kernels");
    figures_add(figures, ncu->comma, "decimal_comma");
    if (ncu->unit_ns > 0)
        figures_real(figures, ncu->comma ? ncu->total_comma_ns : ncu->total_point_ns,
                     "duration_ns_total");
}

// --- the file -----------------------------------------------------------------------------------

// What the profiler and the program printed comes before.
static bool find_header(struct ncu *ncu, struct err *err)
{
    bool end;
    while (csv_next(ncu->csv, &ncu->row, &end, err))
        if (str_equal(cell(ncu, 0), STR("ID")) && str_equal(cell(ncu, 1), STR("Process ID")))
            return true;
    return end && err_set(err, ERR_FORMAT,
                          "found no table of Nsight Compute: a quote before it "
                          "may be open");
}

static bool take_rows(struct ncu *ncu, struct err *err)
{
    bool end, ok = true, details = ncu->metric != SIZE_MAX;
    if (!details) {
        find_metrics(ncu);
        if (csv_next(ncu->csv, &ncu->row, &end, err))
            ncu->unit_ns = ns_of(cell(ncu, ncu->duration));
        else
            return end;
    }
    while (ok && csv_next(ncu->csv, &ncu->row, &end, err))
        ok = details ? take_metric(ncu, err) : take_launch(ncu, err);
    if (!ok || !end)
        return false;
    (details ? report_details : report_raw)(ncu);
    figures_add(ncu->input->figures, (int64_t)ncu->not_numbers, "not_a_number");
    report_names(ncu);
    return true;
}

static bool count_ncu(const struct format_input *input, struct err *err)
{
    struct ncu *ncu = budget_zalloc(input->budget, sizeof *ncu, err);
    if (!ncu)
        return false;
    ncu->input = input;
    ncu->csv = csv_open(input->source, input->budget, err);
    bool ok = ncu->csv && find_header(ncu, err);
    if (ok) {
        ncu->id = column_of(&ncu->row, "ID");
        ncu->kernel = column_of(&ncu->row, "Kernel Name");
        ncu->metric = column_of(&ncu->row, "Metric Name");
        ncu->value = column_of(&ncu->row, "Metric Value");
        ncu->duration = column_of(&ncu->row, "gpu__time_duration.sum");
        ok = take_rows(ncu, err);
    }
    csv_close(ncu->csv);
    budget_free(input->budget, ncu->ids, ncu->id_cap * sizeof *ncu->ids);
    budget_free(input->budget, ncu, sizeof *ncu);
    return ok;
}

static enum format_likeness probe_ncu(struct str head, struct str filename)
{
    (void)filename;
    static const struct str start = {"\"ID\",\"Process ID\"", 17};
    size_t at = str_find(head, start);
    bool mark = at == 3 && str_starts_with(head, STR("\xEF\xBB\xBF"));
    if (at == SIZE_MAX || (at > 0 && head.at[at - 1] != '\n' && !mark))
        return FORMAT_UNLIKE;
    return FORMAT_SURE;
}

const struct format format_ncu_csv = {
    .name = "ncu-csv",
    .what = "a CSV of Nsight Compute",
    .advice = "it has no times; upload the profiler's",
    .kind = FORMAT_RECORDS,
    .probe = probe_ncu,
    .count = count_ncu,
};
