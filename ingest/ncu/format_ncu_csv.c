// SPDX-License-Identifier: Apache-2.0
// CSV that Nsight Compute prints: a row per metric of each launch (the details page), or a row per
// launch with a column per metric, after one with their units (the raw page). Several tables may
// follow each other, with lines of the profiler and of the program between them.
#include "ingest/csv/csv.h"
#include "ingest/source/format.h"
#include "ingest/ncu/ncu_metrics.h"
#include "ingest/ncu/ncu_says.h"
#include "ingest/source/source.h"
#include "ingest/source/evidence_count.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MOST_NAMES = 1024,
    FEWEST_CELLS = 6,
    KEY_BYTES = 64,
    KEY_HALF = 28,
    METRIC_BYTES = 256,
    PROGRESS_ROWS = 1024
};

#define EXPORT "ncu --import FILE.ncu-rep --csv --page raw > FILE.csv"

// Columns of a table; SIZE_MAX: not there.
struct columns {
    size_t id, process, kernel, grid, block, device, capability;
    size_t metric, unit, value; // of the details page
    size_t count;
};

// Figures of a launch if commas are decimal marks, which is known at the end.
struct by_comma {
    double figures[PROFILE_FIGURES], stalls[PROFILE_STALLS];
};

struct ncu {
    const struct format_input *input;
    struct evidence *evidence;
    struct kernel_profiles *profiles;
    struct csv *csv;
    struct csv_row row;
    struct columns at;
    struct ncu_target *targets; // per column of the raw page
    bool *is_metric;            // same
    struct by_comma *by_comma;  // per launch
    size_t by_comma_cap;
    uint64_t not_by_comma;  // values that are no numbers if commas are decimal marks
    struct strtab launches; // the launch of id i is profiles->items[i - 1]
    struct strtab added;    // metrics of launches that were added to a figure
    const char *refusal;    // what was said instead of a table; NULL: nothing known
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

static int64_t number_of(struct str text)
{
    int64_t number;
    return str_to_i64(text, &number) && number >= 0 ? number : -1;
}

// "(256, 1, 1)".
static void read_dims(struct str text, int32_t dims[3])
{
    size_t i = 0;
    for (int d = 0; d < 3; d++) {
        int64_t number = 0;
        while (i < text.len && (text.at[i] < '0' || text.at[i] > '9'))
            i++;
        for (; i < text.len && str_is_digit(text.at[i]) && number < INT32_MAX; i++)
            number = number * 10 + (text.at[i] - '0');
        dims[d] = number < INT32_MAX ? (int32_t)number : INT32_MAX;
    }
}

// --- launches -----------------------------------------------------------------------------------

static bool describe(struct ncu *ncu, struct kernel_profile *profile, struct err *err)
{
    profile->launch = number_of(cell(ncu, ncu->at.id));
    profile->process = number_of(cell(ncu, ncu->at.process));
    profile->device = number_of(cell(ncu, ncu->at.device));
    read_dims(cell(ncu, ncu->at.grid), profile->grid);
    read_dims(cell(ncu, ncu->at.block), profile->block);
    return evidence_text(ncu->evidence, cell(ncu, ncu->at.kernel), &profile->kernel, err) &&
           evidence_text(ncu->evidence, cell(ncu, ncu->at.capability), &profile->capability, err);
}

// Adds a launch with a key that no other has; *index is SIZE_MAX beyond the limit.
static bool add_launch(struct ncu *ncu, struct str key, size_t *index, struct err *err)
{
    str_id id;
    size_t count = ncu->profiles->count;
    struct by_comma *room = budget_room(ncu->input->budget, ncu->by_comma, &ncu->by_comma_cap,
                                        count + 1, sizeof *room, err);
    if (!room)
        return false;
    ncu->by_comma = room;
    if (!strtab_intern(&ncu->launches, key, &id, err))
        return false;
    struct kernel_profile *profile = kernel_profiles_add(ncu->evidence, err);
    *index = profile ? count : SIZE_MAX;
    if (!profile)
        return err->code == ERR_NONE;
    memcpy(room[count].figures, profile->figures, sizeof profile->figures);
    memcpy(room[count].stalls, profile->stalls, sizeof profile->stalls);
    return describe(ncu, profile, err);
}

// Finds or adds the launch of a row of the details page.
static bool launch_of_row(struct ncu *ncu, size_t *index, struct err *err)
{
    char text[KEY_BYTES];
    struct str id = cell(ncu, ncu->at.id), process = cell(ncu, ncu->at.process);
    int len = snprintf(text, sizeof text, "%.*s/%.*s", (int)(id.len < KEY_HALF ? id.len : KEY_HALF),
                       id.at, (int)(process.len < KEY_HALF ? process.len : KEY_HALF), process.at);
    struct str key = {text, (size_t)len};
    str_id known = strtab_find(&ncu->launches, key);
    if (!known)
        return add_launch(ncu, key, index, err);
    *index = known - 1 < ncu->profiles->count ? known - 1 : SIZE_MAX;
    return true;
}

static void put(double *at, double value, enum ncu_join join)
{
    if (isnan(*at) || join == NCU_LAST)
        *at = value;
    else
        *at = join == NCU_SUM ? *at + value : fmax(*at, value);
}

// Keeps a value of a launch as read with either decimal mark.
static void take_value(struct ncu *ncu, size_t launch, const struct ncu_target *target,
                       struct str text)
{
    double point, comma;
    if (launch == SIZE_MAX || !target->known)
        return;
    struct kernel_profile *profile = &ncu->profiles->items[launch];
    struct by_comma *other = &ncu->by_comma[launch];
    bool with_point = ncu_number(text, '.', &point) && isfinite(point);
    bool with_comma = ncu_number(text, ',', &comma) && isfinite(comma);
    if (target->is_stall && profile->family && profile->family != target->family)
        return;
    profile->family = target->is_stall ? target->family : profile->family;
    if (with_point)
        put(target->is_stall ? &profile->stalls[target->stall] : &profile->figures[target->figure],
            point * target->factor, target->join);
    if (with_comma)
        put(target->is_stall ? &other->stalls[target->stall] : &other->figures[target->figure],
            comma * target->factor, target->join);
}

// Values of metrics that are not kept may be lists: "0,1,2".
static void note_comma(struct ncu *ncu, const struct ncu_target *target, struct str text)
{
    ncu->profiles->comma = ncu->profiles->comma || (target->known && ncu_has_comma(text));
}

// Whether what the row says in a column, or in one before the last, is lost where the file ends.
static bool is_lost(const struct ncu *ncu, size_t column)
{
    return ncu->row.half && column != SIZE_MAX && column + 1 >= ncu->row.count;
}

// --- details ------------------------------------------------------------------------------------

static struct str key_of(size_t launch, struct str name, char text[METRIC_BYTES])
{
    int len = snprintf(text, METRIC_BYTES, "%zu %.*s", launch,
                       (int)(name.len < METRIC_BYTES / 2 ? name.len : METRIC_BYTES / 2), name.at);
    return (struct str){text, (size_t)len};
}

// Whether a metric was added, or one that has it in it, which the page shows before.
static bool is_added(const struct ncu *ncu, size_t launch, struct str name)
{
    char text[METRIC_BYTES], whole[NCU_NAME_BYTES];
    bool is = strtab_find(&ncu->added, key_of(launch, name, text)) != 0;
    for (unsigned i = 0; i < NCU_SPLITS; i++) {
        struct str sum = ncu_whole_of(name, i, whole);
        is = is || (sum.len && strtab_find(&ncu->added, key_of(launch, sum, text)));
    }
    return is;
}

// Takes a value once where values are summed: with --print-details all, each section that has a
// metric shows it.
static bool take_once(struct ncu *ncu, size_t launch, const struct ncu_target *target,
                      struct err *err)
{
    char text[METRIC_BYTES];
    str_id id;
    struct str name = cell(ncu, ncu->at.metric);
    if (target->join == NCU_SUM && is_added(ncu, launch, name))
        return true;
    take_value(ncu, launch, target, cell(ncu, ncu->at.value));
    return target->join != NCU_SUM ||
           strtab_intern(&ncu->added, key_of(launch, name, text), &id, err);
}

static bool take_metric(struct ncu *ncu, struct err *err)
{
    double value;
    size_t launch;
    struct str name = cell(ncu, ncu->at.metric), text = cell(ncu, ncu->at.value);
    ncu->profiles->cut = ncu->profiles->cut || is_lost(ncu, ncu->at.value);
    if (ncu->row.count < FEWEST_CELLS || is_lost(ncu, ncu->at.value))
        return true;
    if (!launch_of_row(ncu, &launch, err))
        return false;
    if (name.len == 0)
        return true;
    ncu->profiles->metrics++;
    ncu->profiles->not_numbers += !ncu_number(text, '.', &value);
    ncu->not_by_comma += !ncu_number(text, ',', &value);
    struct ncu_target target = ncu_target_of(name, cell(ncu, ncu->at.unit));
    note_comma(ncu, &target, text);
    return take_once(ncu, launch, &target, err);
}

// --- raw ----------------------------------------------------------------------------------------

// The last of the columns that say which launch it is.
static size_t last_of_launch(const struct columns *at)
{
    const size_t columns[] = {at->id, at->process, at->kernel, at->grid, at->block, at->device};
    size_t last = 0;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        last = columns[i] != SIZE_MAX && columns[i] > last ? columns[i] : last;
    return last;
}

// Each row is its own launch.
static bool take_launch(struct ncu *ncu, struct err *err)
{
    char text[KEY_BYTES];
    size_t launch;
    int len = snprintf(text, sizeof text, "row %zu", (size_t)ncu->launches.count);
    size_t whole = ncu->row.count - ncu->row.half;
    ncu->profiles->cut = ncu->profiles->cut || ncu->row.half;
    size_t last = last_of_launch(&ncu->at);
    if (is_lost(ncu, last) || ncu->row.count <= last) // a number that the program printed
        return true;
    if (!add_launch(ncu, (struct str){text, (size_t)len}, &launch, err))
        return false;
    for (size_t i = 0; i < whole && i < ncu->at.count; i++) {
        if (!ncu->is_metric[i])
            continue;
        ncu->profiles->not_numbers += str_equal(ncu->row.cells[i], STR("n/a"));
        note_comma(ncu, &ncu->targets[i], ncu->row.cells[i]);
        take_value(ncu, launch, &ncu->targets[i], ncu->row.cells[i]);
    }
    return true;
}

// Names of metrics have two underscores in a row; those of columns that describe a launch do not.
static bool keep_names(struct ncu *ncu, struct arena *names, struct str **kept, struct err *err)
{
    *kept = arena_array(names, ncu->row.count, sizeof **kept, err);
    for (size_t i = 0; *kept && i < ncu->row.count; i++) {
        struct str name = ncu->row.cells[i];
        ncu->is_metric[i] = str_find(name, STR("__")) != SIZE_MAX;
        (*kept)[i] = (struct str){arena_strdup(names, name, err), name.len};
        if (!(*kept)[i].at)
            return false;
    }
    return *kept;
}

static bool has_whole(const struct strtab *sums, struct str name)
{
    char text[NCU_NAME_BYTES];
    for (unsigned split = 0; split < NCU_SPLITS; split++) {
        struct str whole = ncu_whole_of(name, split, text);
        if (whole.len && strtab_find(sums, whole))
            return true;
    }
    return false;
}

// Leaves out metrics that others have in them.
static bool drop_parts(struct ncu *ncu, const struct str *names, size_t count, struct err *err)
{
    struct strtab sums;
    str_id id;
    bool ok = strtab_init(&sums, ncu->input->budget, err);
    for (size_t i = 0; ok && i < count; i++)
        ok = ncu->targets[i].join != NCU_SUM || strtab_intern(&sums, names[i], &id, err);
    for (size_t i = 0; ok && i < count; i++)
        if (ncu->targets[i].join == NCU_SUM && has_whole(&sums, names[i]))
            ncu->targets[i] = (struct ncu_target){0};
    strtab_free(&sums);
    return ok;
}

// The row after the names has the units.
static bool take_units(struct ncu *ncu, struct err *err)
{
    struct arena names;
    struct str *kept;
    bool end = false;
    arena_init(&names, ncu->input->budget);
    bool ok = keep_names(ncu, &names, &kept, err);
    size_t count = ncu->row.count;
    bool more = ok && csv_next(ncu->csv, &ncu->row, &end, err);
    for (size_t i = 0; more && i < count; i++)
        ncu->targets[i] =
            ncu->is_metric[i] ? ncu_target_of(kept[i], cell(ncu, i)) : (struct ncu_target){0};
    ok = more ? drop_parts(ncu, kept, count, err) : end;
    arena_free(&names);
    return ok;
}

// --- the file -----------------------------------------------------------------------------------

static bool is_header(const struct ncu *ncu)
{
    return str_equal(cell(ncu, 0), STR("ID")) && str_equal(cell(ncu, 1), STR("Process ID"));
}

static bool start_table(struct ncu *ncu, struct err *err)
{
    const struct csv_row *row = &ncu->row;
    ncu->at = (struct columns){
        .id = column_of(row, "ID"),
        .process = column_of(row, "Process ID"),
        .kernel = column_of(row, "Kernel Name"),
        .grid = column_of(row, "Grid Size"),
        .block = column_of(row, "Block Size"),
        .device = column_of(row, "Device"),
        .capability = column_of(row, "CC"),
        .metric = column_of(row, "Metric Name"),
        .unit = column_of(row, "Metric Unit"),
        .value = column_of(row, "Metric Value"),
        .count = row->count,
    };
    ncu->profiles->details = ncu->at.metric != SIZE_MAX;
    return ncu->profiles->details || take_units(ncu, err);
}

static bool take_row(struct ncu *ncu, struct err *err)
{
    if (is_header(ncu))
        return start_table(ncu, err);
    if (ncu->at.count == 0) { // what the profiler and the program printed before
        ncu->refusal = ncu->refusal ? ncu->refusal : ncu_refusal_of(cell(ncu, 0));
        return true;
    }
    if (number_of(cell(ncu, 0)) < 0 && cell(ncu, 0).len) // and between
        return true;
    return ncu->profiles->details ? take_metric(ncu, err) : take_launch(ncu, err);
}

static bool is_filled(const struct ncu *ncu, struct err *err)
{
    if (ncu->at.count == 0)
        return err_set(err, ERR_FORMAT, "%s",
                       ncu->refusal ? ncu->refusal
                                    : "found what Nsight Compute prints, but no table: use ncu "
                                      "--csv, or " EXPORT);
    return ncu->profiles->count || ncu->profiles->cut ||
           err_set(err, ERR_FORMAT,
                   "found the names of Nsight Compute's columns without a launch below: record "
                   "again, or use " EXPORT);
}

static bool take_rows(struct ncu *ncu, struct err *err)
{
    bool end;
    for (uint64_t i = 0; csv_next(ncu->csv, &ncu->row, &end, err); i++)
        if (!take_row(ncu, err) ||
            (i % PROGRESS_ROWS == 0 &&
             !progress_report(ncu->input->progress, source_consumed(ncu->input->source), err)))
            return false;
    return end && is_filled(ncu, err);
}

static void settle_marks(struct ncu *ncu)
{
    if (ncu->profiles->comma && ncu->profiles->details)
        ncu->profiles->not_numbers = ncu->not_by_comma;
    for (size_t i = 0; ncu->profiles->comma && i < ncu->profiles->count; i++) {
        struct kernel_profile *profile = &ncu->profiles->items[i];
        memcpy(profile->figures, ncu->by_comma[i].figures, sizeof profile->figures);
        memcpy(profile->stalls, ncu->by_comma[i].stalls, sizeof profile->stalls);
    }
}

static bool read_tables(struct ncu *ncu, struct err *err)
{
    struct budget *budget = ncu->input->budget;
    ncu->targets = budget_zalloc(budget, CSV_MAX_CELLS * sizeof *ncu->targets, err);
    ncu->is_metric = budget_zalloc(budget, CSV_MAX_CELLS * sizeof *ncu->is_metric, err);
    ncu->csv = csv_open(ncu->input->source, budget, err);
    bool ok = ncu->targets && ncu->is_metric && ncu->csv &&
              strtab_init(&ncu->launches, budget, err) && strtab_init(&ncu->added, budget, err) &&
              take_rows(ncu, err);
    settle_marks(ncu);
    strtab_free(&ncu->added);
    strtab_free(&ncu->launches);
    csv_close(ncu->csv);
    budget_free(budget, ncu->targets, CSV_MAX_CELLS * sizeof *ncu->targets);
    budget_free(budget, ncu->is_metric, CSV_MAX_CELLS * sizeof *ncu->is_metric);
    budget_free(budget, ncu->by_comma, ncu->by_comma_cap * sizeof *ncu->by_comma);
    return ok;
}

static bool gather_ncu(const struct format_input *input, struct err *err)
{
    struct ncu *ncu = budget_zalloc(input->budget, sizeof *ncu, err);
    if (!ncu)
        return false;
    ncu->input = input;
    ncu->evidence = input->evidence;
    ncu->profiles = &input->evidence->profiles;
    input->evidence->source = STR("ncu");
    bool ok = read_tables(ncu, err);
    budget_free(input->budget, ncu, sizeof *ncu);
    return ok;
}

// --- figures for inspect ------------------------------------------------------------------------

static int by_name(const void *left, const void *right)
{
    return str_compare(*(const struct str *)left, *(const struct str *)right);
}

// Distinct names, up to a number.
static void report_names(const struct kernel_profiles *profiles, struct figures *figures)
{
    struct str names[MOST_NAMES];
    size_t count = 0;
    for (size_t i = 0; i < profiles->count && count < MOST_NAMES; i++) {
        size_t n = 0;
        while (n < count && !str_equal(names[n], profiles->items[i].kernel))
            n++;
        if (n == count)
            names[count++] = profiles->items[i].kernel;
    }
    if (count)
        qsort(names, count, sizeof *names, by_name);
    figures_list(figures, "kernel_names" IN);
    for (size_t i = 0; i < count; i++)
        figures_text(figures, names[i], "kernel_names" IN "%zu", i);
}

static void report_ncu(const struct evidence *evidence, struct figures *figures)
{
    const struct kernel_profiles *profiles = &evidence->profiles;
    double total_ns = 0;
    for (size_t i = 0; i < profiles->count; i++) {
        double ns = profiles->items[i].figures[PROFILE_DURATION_NS];
        total_ns += isnan(ns) ? 0 : ns;
    }
    figures_text(figures, profiles->details ? STR("details") : STR("raw"), "page");
    figures_add(figures, (int64_t)(profiles->count + profiles->left_out), "kernels");
    if (profiles->details)
        figures_add(figures, (int64_t)profiles->metrics, "metric_rows");
    else
        figures_add(figures, profiles->comma, "decimal_comma");
    if (!profiles->details && total_ns > 0)
        figures_real(figures, total_ns, "duration_ns_total");
    figures_add(figures, (int64_t)profiles->not_numbers, "not_a_number");
    if (profiles->cut)
        figures_add(figures, 1, "cut_rows");
    report_names(profiles, figures);
}

static bool count_ncu(const struct format_input *input, struct err *err)
{
    return evidence_count(&(struct evidence_count){gather_ncu, report_ncu}, input, err);
}

static bool at_line(struct str head, struct str start)
{
    size_t at = str_find(head, start);
    bool mark = at == 3 && str_starts_with(head, STR("\xEF\xBB\xBF"));
    return at != SIZE_MAX && (at == 0 || head.at[at - 1] == '\n' || mark);
}

// What the profiler prints first may be longer than the head; then the file's name tells this from
// the text that is printed without --csv.
static enum format_likeness probe_ncu(const struct format_sample *sample)
{
    bool table = at_line(sample->head, STR("\"ID\",\"Process ID\""));
    bool later = str_contains_nocase(sample->filename, STR(".csv")) &&
                 at_line(sample->head, STR("==PROF== "));
    return table || later ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_ncu_csv = {
    .name = "ncu-csv",
    .what = "a CSV of Nsight Compute",
    .kind = FORMAT_RECORDS,
    .probe = probe_ncu,
    .count = count_ncu,
    .gather = gather_ncu,
};
