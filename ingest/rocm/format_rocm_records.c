// SPDX-License-Identifier: Apache-2.0
// CSV files of AMD's profilers that are not traces: inspect counts what they hold.
#include "ingest/csv/csv.h"
#include "ingest/rocm/rocm_counts.h"
#include "ingest/source/format.h"

#include <stdlib.h>

enum { MOST_COUNTERS = 256, COUNTER_NAME_BYTES = 128 };

struct counter_sum {
    char name[COUNTER_NAME_BYTES];
    int64_t rows;
    double sum;
};

// Numbers of dispatches start again in each process, of which files may be joined.
struct dispatch {
    int64_t process, id;
};

struct records {
    const struct format_input *input;
    struct csv *csv;
    struct csv_row row;
    size_t key, value, amount, process; // columns; SIZE_MAX: not there
    uint64_t rows;
    struct counter_sum counters[MOST_COUNTERS];
    size_t counter_count;
    struct dispatch *dispatches;
    size_t dispatch_cap;
};

// Takes what a row adds.
typedef bool take_row(struct records *records, struct err *err);

static size_t column_of(const struct csv_row *header, const char *name)
{
    for (size_t i = 0; i < header->count; i++)
        if (str_equal_nocase(header->cells[i], str_of(name)))
            return i;
    return SIZE_MAX;
}

static bool take_rows(struct records *records, take_row *take, struct err *err)
{
    bool end, ok = true;
    struct progress *progress = records->input->progress;
    while (ok && csv_next(records->csv, &records->row, &end, err)) {
        records->rows++;
        ok = take(records, err);
        if (ok && progress && progress->cancel)
            ok = err_set(err, ERR_CANCELLED, "cancelled while reading");
    }
    figures_add(records->input->figures, (int64_t)records->rows, "rows");
    return ok && end;
}

// Columns: what rows are grouped by, and what is summed.
struct wanted {
    const char *key, *value;
    take_row *take;
    void (*finish)(struct records *records);
    void (*start)(struct records *records); // with the header; or NULL
};

static bool count_records(const struct format_input *input, const struct wanted *wanted,
                          struct err *err)
{
    bool end;
    struct records *records = budget_zalloc(input->budget, sizeof *records, err);
    if (!records)
        return false;
    records->input = input;
    records->csv = csv_open(input->source, input->budget, err);
    bool ok = records->csv && csv_next(records->csv, &records->row, &end, err);
    if (ok) {
        records->key = column_of(&records->row, wanted->key);
        records->value = column_of(&records->row, wanted->value);
        records->amount = column_of(&records->row, "Counter_Value");
        records->process = column_of(&records->row, "Process_Id");
        if (wanted->start)
            wanted->start(records);
        ok = take_rows(records, wanted->take, err);
    }
    if (ok && wanted->finish)
        wanted->finish(records);
    csv_close(records->csv);
    budget_free(input->budget, records->dispatches,
                records->dispatch_cap * sizeof *records->dispatches);
    budget_free(input->budget, records, sizeof *records);
    return ok;
}

// --- counters -----------------------------------------------------------------------------------

// Shortened, and without the separator of figure paths.
static void clean_name(struct str name, char clean[COUNTER_NAME_BYTES])
{
    size_t len = name.len < COUNTER_NAME_BYTES - 1 ? name.len : COUNTER_NAME_BYTES - 1;
    for (size_t i = 0; i < len; i++)
        clean[i] = name.at[i] > 0x20 && name.at[i] < 0x7F ? name.at[i] : '_';
    clean[len] = '\0';
    if (!len)
        memcpy(clean, "unnamed", sizeof "unnamed");
}

// The last one collects all that do not fit.
static struct counter_sum *counter_named(struct records *records, struct str text)
{
    char name[COUNTER_NAME_BYTES];
    clean_name(text, name);
    for (size_t i = 0; i < records->counter_count; i++)
        if (strcmp(records->counters[i].name, name) == 0)
            return &records->counters[i];
    if (records->counter_count == MOST_COUNTERS)
        return &records->counters[MOST_COUNTERS - 1];
    struct counter_sum *counter = &records->counters[records->counter_count++];
    memcpy(counter->name, name, sizeof name);
    return counter;
}

static int64_t number_of(struct str text)
{
    int64_t number;
    return str_to_i64(text, &number) ? number : -1;
}

static bool add_dispatch(struct records *records, struct err *err)
{
    struct dispatch *at = budget_room(records->input->budget, records->dispatches,
                                      &records->dispatch_cap, records->rows, sizeof *at, err);
    if (!at)
        return false;
    records->dispatches = at;
    at[records->rows - 1] = (struct dispatch){number_of(csv_cell(&records->row, records->process)),
                                              number_of(csv_cell(&records->row, records->key))};
    return true;
}

static double real_of(struct str text)
{
    char digits[64] = "";
    if (text.len < sizeof digits)
        memcpy(digits, text.at, text.len);
    return strtod(digits, NULL);
}

static bool take_counter(struct records *records, struct err *err)
{
    struct str name = csv_cell(&records->row, records->value);
    struct counter_sum *counter = counter_named(records, name);
    counter->rows++;
    counter->sum += real_of(csv_cell(&records->row, records->amount));
    return add_dispatch(records, err);
}

static int by_number(const void *left, const void *right)
{
    const struct dispatch *a = left, *b = right;
    int process = (a->process > b->process) - (a->process < b->process);
    return process ? process : (a->id > b->id) - (a->id < b->id);
}

static void report_counters(const struct records *records)
{
    struct figures *figures = records->input->figures;
    for (size_t i = 0; i < records->counter_count; i++) {
        const struct counter_sum *counter = &records->counters[i];
        figures_add(figures, counter->rows, "counters" IN "%s" IN "rows", counter->name);
        figures_real(figures, counter->sum, "counters" IN "%s" IN "sum", counter->name);
    }
}

static void finish_counters(struct records *records)
{
    const struct dispatch *at = records->dispatches;
    if (records->rows)
        qsort(records->dispatches, records->rows, sizeof *at, by_number);
    for (uint64_t i = 0; i < records->rows; i++)
        figures_add(records->input->figures, i == 0 || by_number(&at[i - 1], &at[i]) != 0,
                    "dispatches");
    report_counters(records);
}

static bool count_counters(const struct format_input *input, struct err *err)
{
    static const struct wanted wanted = {"Dispatch_Id", "Counter_Name", take_counter,
                                         finish_counters, NULL};
    return count_records(input, &wanted, err);
}

// --- counters of rocprof before version 3 -------------------------------------------------------

// A row is a dispatch, and counters are the columns after "obj".
static bool take_wide(struct records *records, struct err *err)
{
    (void)err;
    for (size_t i = records->key + 1; i < records->row.count; i++) {
        size_t counter = i - records->key - 1;
        if (counter >= records->counter_count)
            break;
        records->counters[counter].rows++;
        records->counters[counter].sum += real_of(records->row.cells[i]);
    }
    return true;
}

static void start_wide(struct records *records)
{
    for (size_t i = records->key + 1; i < records->row.count; i++)
        if (records->counter_count < MOST_COUNTERS)
            clean_name(records->row.cells[i], records->counters[records->counter_count++].name);
}

static void finish_wide(struct records *records)
{
    figures_add(records->input->figures, (int64_t)records->rows, "dispatches");
    report_counters(records);
}

static bool count_old_counters(const struct format_input *input, struct err *err)
{
    static const struct wanted wanted = {"obj", "KernelName", take_wide, finish_wide, start_wide};
    return count_records(input, &wanted, err);
}

// --- sums of rocprof ----------------------------------------------------------------------------

static bool take_sum(struct records *records, struct err *err)
{
    (void)err;
    int64_t number;
    if (str_to_i64(csv_cell(&records->row, records->key), &number))
        figures_add(records->input->figures, number, "calls");
    if (str_to_i64(csv_cell(&records->row, records->value), &number))
        figures_add(records->input->figures, number, "total_ns");
    return true;
}

static bool count_sums(const struct format_input *input, struct err *err)
{
    static const struct wanted wanted = {"Calls", "TotalDurationNs", take_sum, NULL, NULL};
    return count_records(input, &wanted, err);
}

// --- others -------------------------------------------------------------------------------------

static bool take_any(struct records *records, struct err *err)
{
    (void)records;
    (void)err;
    return true;
}

static bool count_rows(const struct format_input *input, struct err *err)
{
    static const struct wanted wanted = {"Kind", "Operation", take_any, NULL, NULL};
    return count_records(input, &wanted, err);
}

// --- recognizing --------------------------------------------------------------------------------

static enum format_likeness probe_counters(const struct format_sample *sample)
{
    bool sure = csv_head_has(sample->head, "Counter_Name") &&
                csv_head_has(sample->head, "Counter_Value") &&
                csv_head_has(sample->head, "Dispatch_Id");
    return sure ? FORMAT_SURE : FORMAT_UNLIKE;
}

// Times are there with --timestamp on: then it is a trace.
static enum format_likeness probe_old_counters(const struct format_sample *sample)
{
    bool sure = csv_head_has(sample->head, "Index") && csv_head_has(sample->head, "KernelName") &&
                csv_head_has(sample->head, "gpu-id") && csv_head_has(sample->head, "obj") &&
                !csv_head_has(sample->head, "BeginNs");
    return sure ? FORMAT_SURE : FORMAT_UNLIKE;
}

static enum format_likeness probe_sums(const struct format_sample *sample)
{
    bool sure =
        csv_head_has(sample->head, "Calls") && csv_head_has(sample->head, "TotalDurationNs");
    return sure ? FORMAT_SURE : FORMAT_UNLIKE;
}

// Allocations, scratch memory, PC samples, and of rocprof-compute the machine with its limits and
// the list of launches.
static enum format_likeness probe_others(const struct format_sample *sample)
{
    bool memory = csv_head_has(sample->head, "Kind") && csv_head_has(sample->head, "Operation") &&
                  csv_head_has(sample->head, "Start_Timestamp");
    bool samples =
        csv_head_has(sample->head, "Sample_Timestamp") && csv_head_has(sample->head, "Exec_Mask");
    bool machine =
        csv_head_has(sample->head, "workload_name") && csv_head_has(sample->head, "gpu_model");
    bool limits = csv_head_has(sample->head, "HBMBw") && csv_head_has(sample->head, "HBMBwLow");
    bool launches = str_starts_with(sample->head, STR("Dispatch_ID,Kernel_Name,GPU_ID\n"));
    return memory || samples || machine || limits || launches ? FORMAT_SURE : FORMAT_UNLIKE;
}

// sqlitedb.py of rocprof starts with an empty event, and writes numbers as texts.
static enum format_likeness probe_old_json(const struct format_sample *sample)
{
    return str_starts_with(sample->head, STR("{ \"traceEvents\":[{}")) ? FORMAT_SURE
                                                                       : FORMAT_UNLIKE;
}

#define UPLOAD_TRACE "it has no timeline; upload *_kernel_trace.csv of rocprofv3 --kernel-trace"

const struct format format_rocm_counters = {
    .name = "rocprofv3-counter-csv",
    .what = "counters of rocprofv3 as CSV",
    .advice = ROCM_COUNTED,
    .kind = FORMAT_RECORDS,
    .probe = probe_counters,
    .count = count_counters,
};

const struct format format_rocm_old_counters = {
    .name = "rocprof-counter-csv",
    .what = "counters of rocprof as CSV",
    .advice = "it has no times: record again with rocprof --timestamp on, or with rocprofv3 "
              "--kernel-trace",
    .kind = FORMAT_RECORDS,
    .probe = probe_old_counters,
    .count = count_old_counters,
};

const struct format format_rocm_sums = {
    .name = "rocprof-stats-csv",
    .what = "sums of rocprof as CSV",
    .advice = UPLOAD_TRACE,
    .kind = FORMAT_RECORDS,
    .probe = probe_sums,
    .count = count_sums,
};

const struct format format_rocm_others = {
    .name = "rocprof-csv-other",
    .what = "records of AMD's profilers as CSV",
    .advice = UPLOAD_TRACE,
    .kind = FORMAT_RECORDS,
    .probe = probe_others,
    .count = count_rows,
};

const struct format format_rocm_old_json = {
    .name = "rocprof-json",
    .what = "results.json of rocprof before version 3",
    .advice = "upload its results.csv, which has the same kernels",
    .kind = FORMAT_TRACE,
    .probe = probe_old_json,
};
