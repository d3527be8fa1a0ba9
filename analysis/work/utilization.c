// SPDX-License-Identifier: Apache-2.0
// Utilization of the device, precision of its matrix products, and throughput: single figures.
#include "analysis/facts/attention.h"
#include "analysis/facts/steps.h"
#include "analysis/report/tables.h"
#include "analysis/work/work_rows.h"

#include <math.h>
#include <stdio.h>

// If less than this share of products, attention and convolutions has known operations, their sum
// says too little about the device.
#define LEAST_COVERED 0.5
// Work that is this many times faster than the peak was misread; nothing is said of the device when
// such work has this share of the time at the peak.
#define TOO_FAST      1.2
#define MOST_TOO_FAST 0.1

struct metric {
    const char *name, *unit;
    double value; // NaN: unknown, and then help says why
    const char *help;
};

static bool add(struct report *report, const struct metric *metric, struct err *err)
{
    struct row row = {.desc = &table_utilization};
    row_word(&row, UTILIZATION_METRIC, metric->name);
    row_f64(&row, UTILIZATION_VALUE, metric->value);
    row_word(&row, UTILIZATION_UNIT, metric->unit);
    row_word(&row, UTILIZATION_HELP, metric->help);
    return row_end(&row, report, err);
}

// --- utilization ---------------------------------------------------------------------------------

// Over the steady steps.
struct utilization {
    double flops, model_flops;     // executed; without recomputed ones
    double peak_ns, model_peak_ns; // time they would take at the device's peak
    double too_fast_ns;            // the part of peak_ns by rows that are too fast to be true
    double window_ns;              // of the steps, times the devices in the file
    int64_t heavy_ns, covered_ns;  // owned by products, attention and convolution; with FLOPs
    bool peaks_known;              // at every precision that occurs
};

static bool is_too_fast(const struct work_row *row, double per_ns)
{
    double peak_ns = (double)row->work.flops * (double)row->calls / per_ns;
    return peak_ns > TOO_FAST * (double)row->busy_ns;
}

static void add_row(const struct work_row *row, const struct peak *peak, struct utilization *use)
{
    const struct work *work = &row->work;
    if (!work_kind_has_flops(work->kind) || !count_known(work->flops))
        return;
    use->covered_ns += row->heavy_owned_ns;
    double flops = (double)work->flops * (double)row->steady_calls;
    double again = (double)work->flops * (double)row->steady_recompute_calls;
    double per_ns = peak ? peak->tflops[work->precision] * 1e3 : 0;
    use->flops += flops;
    use->model_flops += flops - again;
    if (flops > 0 && per_ns <= 0)
        use->peaks_known = false;
    if (per_ns > 0) {
        use->peak_ns += flops / per_ns;
        use->model_peak_ns += (flops - again) / per_ns;
        use->too_fast_ns += is_too_fast(row, per_ns) ? flops / per_ns : 0;
    }
}

static struct utilization utilization_of(const struct work_rows *rows)
{
    const struct facts *facts = rows->facts;
    struct utilization use = {.peaks_known = rows->peak != NULL};
    double devices = facts->gpu_count ? (double)facts->gpu_count : 1;
    use.window_ns = (double)parts_recorded_ns(&facts->steady) * devices;
    for (uint32_t r = 0; r < rows->count; r++)
        add_row(&rows->rows[r], rows->peak, &use);
    for (uint32_t d = 0; d < facts->device_count; d++)
        use.heavy_ns += work_is_heavy(facts, d) ? facts->devices[d].owned_ns : 0;
    return use;
}

// Why the operations say too little about the device, NULL if they do not.
static const char *uncovered(const struct utilization *use)
{
    if (use->window_ns <= 0)
        return "unknown: no steady steps";
    if (use->heavy_ns > 0 && use->covered_ns == 0)
        return "unknown: no matrix product, attention or convolution has known FLOPs (shapes or "
               "types not recorded, or kernels replayed from a graph)";
    if ((double)use->covered_ns < LEAST_COVERED * (double)use->heavy_ns)
        return "unknown: FLOPs are known for less than half of the matrix product, attention and "
               "convolution time (see flops_time_share)";
    if (use->too_fast_ns > MOST_TOO_FAST * use->peak_ns)
        return "unknown: much of the work is faster than the peak by a fifth or more, so its "
               "precision, its operations or the device are misread (see efficiency in roofline)";
    return NULL;
}

// Why utilization is unknown, NULL if it is known.
static const char *missing(const struct work_rows *rows, const struct utilization *use)
{
    const char *reason = uncovered(use);
    if (reason)
        return reason;
    if (rows->facts->identity.gpu.len == 0)
        return "unknown: the trace does not name the device";
    if (!rows->peak)
        return "unknown: no peaks are listed for this device; add them with --peaks";
    if (!use->peaks_known)
        return "unknown: types of inputs were not recorded, or the device has no listed peak for "
               "one of the precisions used";
    return NULL;
}

static bool add_utilization(const struct work_rows *rows, const struct utilization *use,
                            struct report *report, struct err *err)
{
    const char *reason = missing(rows, use);
    double window = reason ? NAN : use->window_ns;
    struct metric metrics[] = {
        {"hfu", "share", use->peak_ns / window,
         "Hardware FLOPs utilization: the share of the steady steps' time that the executed matrix "
         "products, attention and convolutions would take at the device's dense peak, each at its "
         "precision. A lower bound when flops_time_share is below 1."},
        {"mfu", "share", use->model_peak_ns / window,
         "Model FLOPs utilization: hardware FLOPs utilization (hfu) without the launches that "
         "activation checkpointing repeats. These are identified by Python frames (with_stack); "
         "without frames it equals hfu. The scores that the backward of fused attention computes "
         "again count. A lower bound when flops_time_share is below 1."},
    };
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        if (reason)
            metrics[i].help = reason;
        if (!add(report, &metrics[i], err))
            return false;
    }
    return true;
}

static bool add_flops(const struct work_rows *rows, const struct utilization *use,
                      struct report *report, struct err *err)
{
    const char *reason = uncovered(use);
    bool known = use->window_ns > 0 && (use->heavy_ns == 0 || use->covered_ns > 0);
    double steps = known && rows->facts->steady_count ? (double)rows->facts->steady_count : NAN;
    struct metric metrics[] = {
        {"flops_per_step", "count", use->flops / steps,
         "Floating point operations of matrix products, attention and convolutions launched per "
         "steady step, on average; those without a formula are left out."},
        {"model_flops_per_step", "count", use->model_flops / steps,
         "Floating point operations per steady step, on average, without the launches that "
         "activation checkpointing repeats."},
        {"step_tflops", "TFLOP/s", use->flops / (reason ? NAN : use->window_ns) / 1e3,
         reason ? reason
                : "Operations of the steady steps divided by their time and the number of devices "
                  "in the file. A lower bound when flops_time_share is below 1."},
        {"flops_time_share", "share",
         use->heavy_ns ? (double)use->covered_ns / (double)use->heavy_ns : NAN,
         "Owned time of matrix products, attention and convolutions with known FLOPs, divided by "
         "that of all of them, in the steady steps. Empty without any."},
    };
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        if (!add(report, &metrics[i], err))
            return false;
    return true;
}

// --- products and attention ----------------------------------------------------------------------

// All calls of a kind of work.
struct rate {
    double flops, ns, peak_ns; // known operations, their time, and that at the peak
    double too_fast_ns;        // as in struct utilization
    bool peaks_known;
};

static void add_to_rate(const struct work_row *row, const struct peak *peak, struct rate *rate)
{
    if (!count_known(row->work.flops) || row->busy_ns <= 0)
        return;
    double flops = (double)row->work.flops * (double)row->calls;
    double per_ns = peak ? peak->tflops[row->work.precision] * 1e3 : 0;
    rate->flops += flops;
    rate->ns += (double)row->busy_ns;
    rate->peak_ns += per_ns > 0 ? flops / per_ns : 0;
    rate->too_fast_ns += per_ns > 0 && is_too_fast(row, per_ns) ? flops / per_ns : 0;
    rate->peaks_known = rate->peaks_known && per_ns > 0;
}

static struct rate rate_of(const struct work_rows *rows, enum work_kind kind, enum work_kind other)
{
    struct rate rate = {.peaks_known = true};
    for (uint32_t r = 0; r < rows->count; r++) {
        enum work_kind found = rows->rows[r].work.kind;
        if (found == kind || found == other)
            add_to_rate(&rows->rows[r], rows->peak, &rate);
    }
    return rate;
}

static double share_of_peak(const struct rate *rate)
{
    bool misread = rate->too_fast_ns > MOST_TOO_FAST * rate->peak_ns;
    return rate->peaks_known && !misread ? rate->peak_ns / rate->ns : NAN;
}

static bool add_rates(const struct work_rows *rows, struct report *report, struct err *err)
{
    struct rate gemm = rate_of(rows, WORK_GEMM, WORK_GEMM);
    struct rate attention = rate_of(rows, WORK_ATTENTION_FORWARD, WORK_ATTENTION_BACKWARD);
    const struct metric metrics[] = {
        {"gemm_tflops", "TFLOP/s", gemm.flops / gemm.ns / 1e3,
         "Operations of the matrix products divided by their time on the device; those without "
         "recorded shapes are left out."},
        {"gemm_of_peak", "share", share_of_peak(&gemm),
         "The same, as a share of the device's dense peak at each product's precision. Empty when "
         "much of it is faster than the peak by a fifth or more, and so misread."},
        {"attention_tflops", "TFLOP/s", attention.flops / attention.ns / 1e3,
         "Operations of attention, forward and backward, divided by its time on the device; calls "
         "without recorded shapes are left out."},
        {"attention_of_peak", "share", share_of_peak(&attention),
         "The same, as a share of the device's dense peak at each call's precision; empty when "
         "much of it is faster than the peak by a fifth or more."},
    };
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        if (!add(report, &metrics[i], err))
            return false;
    return true;
}

// --- precision -----------------------------------------------------------------------------------

// For a matrix product: by its operator's inputs, else its name, which is read once.
static enum precision precision_of(const struct work_rows *rows, const uint32_t *row_of_launch,
                                   uint8_t *of_name, uint32_t device)
{
    const struct facts *facts = rows->facts;
    uint32_t launch = facts->devices[device].launch;
    uint32_t row = launch == FACTS_NONE ? FACTS_NONE : row_of_launch[launch];
    if (row != FACTS_NONE && rows->rows[row].work.precision)
        return rows->rows[row].work.precision;
    str_id name = facts_device_name(facts, device);
    if (of_name[name] == PRECISION_COUNT)
        of_name[name] = (uint8_t)precision_of_kernel(trace_text(facts->trace, name));
    return (enum precision)of_name[name];
}

static bool sum_precisions(const struct work_rows *rows, const uint32_t *row_of_launch,
                           int64_t sums[PRECISION_COUNT], struct err *err)
{
    const struct facts *facts = rows->facts;
    size_t names = facts->trace->strings.count;
    uint8_t *of_name = budget_alloc(facts->budget, names, err);
    if (!of_name)
        return false;
    memset(of_name, PRECISION_COUNT, names);
    for (uint32_t d = 0; d < facts->device_count; d++)
        if (attention_is_product(facts, d))
            sums[precision_of(rows, row_of_launch, of_name, d)] += facts->devices[d].owned_ns;
    budget_free(facts->budget, of_name, names);
    return true;
}

static bool add_precision(enum precision precision, const int64_t sums[PRECISION_COUNT],
                          struct report *report, struct err *err)
{
    char name[40], help[160];
    int64_t total = 0;
    for (int p = 0; p < PRECISION_COUNT; p++)
        total += sums[p];
    snprintf(name, sizeof name, "gemm_%s_share", precision_word(precision));
    snprintf(help, sizeof help,
             total ? "Owned time of matrix products in %s, by their inputs or else their kernel "
                     "names, divided by that of all matrix products."
                   : "Empty: there are no matrix products.",
             precision_word(precision));
    struct metric metric = {name, "share", total ? (double)sums[precision] / (double)total : NAN,
                            help};
    return add(report, &metric, err);
}

// The precision with most time is one of the trace's settings, unless the file has one of that
// name.
static bool add_setting(const struct trace *trace, const int64_t sums[PRECISION_COUNT],
                        struct report *report, struct err *err)
{
    int most = PRECISION_NONE;
    for (int p = 0; p < PRECISION_COUNT; p++)
        if (sums[p] > sums[most])
            most = p;
    if (most == PRECISION_NONE || trace_setting_find(trace, STR("precision")))
        return true;
    struct row row = {.desc = &table_environment};
    row_word(&row, ENVIRONMENT_KEY, "precision");
    row_word(&row, ENVIRONMENT_VALUE, precision_word((enum precision)most));
    return row_end(&row, report, err);
}

static bool add_precisions(const struct work_rows *rows, struct report *report, struct err *err)
{
    const struct facts *facts = rows->facts;
    size_t size = (size_t)facts->launch_count * sizeof(uint32_t);
    int64_t sums[PRECISION_COUNT] = {0};
    uint32_t *row_of_launch = budget_alloc(facts->budget, size, err);
    if (!row_of_launch)
        return false;
    memset(row_of_launch, 0xff, size); // FACTS_NONE
    for (uint32_t c = 0; c < rows->calls->count; c++)
        for (uint32_t i = rows->calls->calls[c].from; i < rows->calls->calls[c].to; i++)
            row_of_launch[rows->calls->order[i]] = rows->row_of_call[c];
    bool ok = sum_precisions(rows, row_of_launch, sums, err);
    budget_free(facts->budget, row_of_launch, size);
    if (!ok || !add_setting(facts->trace, sums, report, err))
        return false;
    for (int p = 0; p < PRECISION_COUNT; p++) {
        bool common = p == PRECISION_FP8 || p == PRECISION_BF16 || p == PRECISION_FP16 ||
                      p == PRECISION_TF32 || p == PRECISION_FP32;
        if ((common || sums[p] > 0) && !add_precision((enum precision)p, sums, report, err))
            return false;
    }
    return true;
}

// --- throughput ----------------------------------------------------------------------------------

static bool add_throughput(const struct facts *facts, struct report *report, struct err *err)
{
    int64_t tokens = facts->options->tokens_per_step, median_ns;
    double devices = facts->gpu_count ? (double)facts->gpu_count : 1;
    if (tokens <= 0 || facts->is_part)
        return true;
    if (!steps_median_ns(facts, STEADY_ALL, &median_ns, err))
        return false;
    if (facts->identity.world_size > 0)
        devices = (double)facts->identity.world_size;
    double rate = median_ns > 0 ? (double)tokens * 1e9 / (double)median_ns : NAN;
    struct metric metrics[] = {
        {"tokens_per_second", "1/s", rate,
         "Tokens per step over all ranks, as entered by the user, divided by the median steady "
         "step."},
        {"tokens_per_second_per_gpu", "1/s", rate / devices,
         "Tokens per second divided by the trace's world size, else by the devices in the file."},
    };
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        if (!add(report, &metrics[i], err))
            return false;
    return true;
}

bool work_metrics_add(const struct work_rows *rows, struct report *report, struct err *err)
{
    struct utilization use = utilization_of(rows);
    return add_utilization(rows, &use, report, err) && add_flops(rows, &use, report, err) &&
           add_rates(rows, report, err) && add_precisions(rows, report, err) &&
           add_throughput(rows->facts, report, err);
}
