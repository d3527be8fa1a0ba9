// SPDX-License-Identifier: Apache-2.0
#include "analysis/run/run_figures.h"

#include "analysis/names/gpu_memory.h"
#include "analysis/names/peaks.h"
#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "analysis/report/trust.h"
#include "analysis/run/run_model_flops.h"
#include "analysis/run/run_monitors.h"
#include "analysis/run/run_stated.h"
#include "ingest/base/orders.h"

#include <math.h>
#include <stdlib.h>

// Operations known for this share of the time are nearly all.
#define NEARLY_COVERED 0.95

const struct run_figure run_figures[RUN_FIGURE_COUNT] = {
    [RUN_FIGURE_STEP] = {"step_ns", "Step time", "ns", "Median time of a steady step.", false,
                         FIGURE_OF_TIME},
    [RUN_FIGURE_TOKENS] = {"job_tokens_per_s", "Tokens/s", "1/s",
                           "Tokens per second of the whole job.", true, FIGURE_FOLLOWS},
    [RUN_FIGURE_TOKENS_OF_GPU] = {"tokens_per_s_per_gpu", "Tokens/s per GPU", "1/s",
                                  "Tokens per second divided by the GPUs.", true, FIGURE_OF_TIME},
    [RUN_FIGURE_SAMPLES] = {"samples_per_s", "Samples/s", "1/s",
                            "Samples per second of the whole job.", true, FIGURE_OF_TIME},
    [RUN_FIGURE_TFLOPS] =
        {"tflops_per_gpu", "TFLOP/s per GPU", "TFLOP/s",
         "Model TFLOP/s of one GPU, as logged; from a trace, those of matrix products, "
         "attention and convolutions.",
         true, FIGURE_OF_TIME},
    [RUN_FIGURE_MFU] = {"mfu", "MFU", "share",
                        "Model FLOPs utilization: share of the dense peak, recomputation left out.",
                        true, FIGURE_OF_TIME},
    [RUN_FIGURE_HFU] =
        {"hfu", "HFU", "share",
         "Hardware FLOPs utilization: share of the dense peak, of all FLOPs executed.", true,
         FIGURE_OF_TIME},
    [RUN_FIGURE_GEMM] = {"gemm_tflops", "GEMM TFLOP/s", "TFLOP/s",
                         "Operations of the matrix products divided by their time on the device.",
                         true, FIGURE_OF_TIME},
    [RUN_FIGURE_GEMM_SHARE] =
        {"gemm_of_peak", "GEMM, of peak", "share",
         "The same, as a share of the dense peak at each product's precision.", true,
         FIGURE_FOLLOWS},
    [RUN_FIGURE_ATTENTION] = {"attention_tflops", "Attention TFLOP/s", "TFLOP/s",
                              "Operations of attention, forward and backward, divided by its time "
                              "on the device.",
                              true, FIGURE_OF_TIME},
    [RUN_FIGURE_ATTENTION_SHARE] =
        {"attention_of_peak", "Attention, of peak", "share",
         "The same, as a share of the dense peak at each call's precision.", true, FIGURE_FOLLOWS},
    [RUN_FIGURE_BUSY] = {"busy_share", "GPU busy", "share",
                         "Share of the steady steps with work on the device.", true,
                         FIGURE_OF_TIME},
    [RUN_FIGURE_IDLE] = {"idle_share", "GPU idle", "share",
                         "Share of the steady steps without work on the device.", false,
                         FIGURE_FOLLOWS},
    [RUN_FIGURE_COMM] = {"comm_share", "Communication", "share",
                         "Share of the steady steps with communication, hidden or not.", false,
                         FIGURE_OF_TIME},
    [RUN_FIGURE_EXPOSED_COMM] = {"exposed_comm_share", "Exposed communication", "share",
                                 "Share of the steady steps with communication and no compute.",
                                 false, FIGURE_OF_TIME},
    [RUN_FIGURE_OVERLAP] = {"overlap_share", "Overlapped communication", "share",
                            "Share of the communication hidden by compute.", true, FIGURE_OF_TIME},
    [RUN_FIGURE_MEMORY] = {"memory_bytes", "Peak memory per GPU", "bytes",
                           "Most memory reserved on one GPU.", false, FIGURE_OF_MEMORY},
    [RUN_FIGURE_MEMORY_SHARE] = {"memory_share", "Peak memory, of capacity", "share",
                                 "The same, as a share of the GPU's memory.", false,
                                 FIGURE_FOLLOWS},
    [RUN_FIGURE_POWER] = {"power_w", "Power per GPU", "W", "Median power of one GPU.", false,
                          FIGURE_OF_POWER},
    [RUN_FIGURE_ENERGY] = {"energy_j_per_step", "Energy per step and GPU", "J",
                           "Energy of one GPU per step: power times step time.", false,
                           FIGURE_FOLLOWS},
    [RUN_FIGURE_TOKENS_OF_JOULE] =
        {"tokens_per_j", "Tokens per joule", "1/J",
         "Tokens per joule: tokens per second of one GPU divided by its power.", true,
         FIGURE_FOLLOWS},
    // Computed by the store, as people enter the price.
    [RUN_FIGURE_COST] =
        {RUN_FIGURE_COST_METRIC, "Cost per million tokens", "",
         "gpu_hour_price divided by the million tokens that a GPU processes in an hour.", false,
         FIGURE_FOLLOWS},
    [RUN_FIGURE_LOSS] = {"loss", "Loss", "", "Loss of the last step.", false, FIGURE_OF_LOSS},
    [RUN_FIGURE_LOWEST_LOSS] = {"lowest_loss", "Lowest loss", "", "Lowest loss of a step.", false,
                                FIGURE_OF_LOSS},
};

// Most names differ in their first letter, so that their lengths need not be counted.
const struct run_figure *run_figure_named(struct str metric)
{
    for (size_t i = 0; metric.len && i < RUN_FIGURE_COUNT; i++)
        if (*run_figures[i].metric == *metric.at &&
            str_equal(metric, str_of(run_figures[i].metric)))
            return &run_figures[i];
    return NULL;
}

// Whose figure it is. The first that has one stands for the run: a monitor and a log cover the
// whole run, and without the cost of a profiler.
enum origin { FROM_MONITOR, FROM_LOG, FROM_TRACE, COMPUTED, ORIGINS };

struct figures {
    struct report *report;
    const struct peaks *peaks;                // the user's, NULL: none
    double values[ORIGINS][RUN_FIGURE_COUNT]; // NAN unknown
    struct str files[ORIGINS];                // "" without one
    int64_t steps[ORIGINS];
    const char *basis[RUN_FIGURE_COUNT];    // of what is computed; NULL: nothing to say
    const char *covered;                    // how much of the trace's work has known operations, if
                                            // not nearly all; NULL
    int64_t gpus, global_batch, seq_length; // 0 unknown
    int64_t capacity_bytes;                 // of a GPU, 0 unknown
    struct str gpu;                         // its name, "" unknown
    struct str framework;                   // of the log, "" unknown
};

// --- what the job is ----------------------------------------------------------------------------

static void find_job(struct figures *figures)
{
    const struct table *summary = report_find(figures->report, "summary");
    const struct table *logs = report_find(figures->report, "logs");
    bool has_ranks = summary && summary->row_count;
    int64_t world = has_ranks ? table_i64(summary, 0, RUN_SUMMARY_WORLD_SIZE, 0) : 0;
    figures->gpus = world > 0 ? world : run_stated_count(figures->report, "world_size");
    figures->seq_length = run_stated_count(figures->report, "seq_length");
    figures->global_batch = run_stated_batch(figures->report);
    for (size_t i = 0; logs && i < logs->row_count && !figures->global_batch; i++)
        figures->global_batch = table_i64(logs, i, LOGS_GLOBAL_BATCH, 0);
}

// --- the log ------------------------------------------------------------------------------------

static double number_of(const struct cell *cell, enum column_type type)
{
    return cell->null ? NAN : type == COLUMN_I64 ? (double)cell->i : cell->f;
}

static size_t longest_log(const struct table *logs)
{
    size_t most = 0;
    for (size_t i = 1; i < logs->row_count; i++)
        if (table_i64(logs, i, LOGS_STEPS, 0) > table_i64(logs, most, LOGS_STEPS, 0))
            most = i;
    return most;
}

static void take_log(struct figures *figures)
{
    static const struct {
        enum run_figure_id figure;
        unsigned column;
        enum column_type type;
    } taken[] = {{RUN_FIGURE_STEP, LOGS_STEP_MEDIAN_NS, COLUMN_I64},
                 {RUN_FIGURE_TOKENS, LOGS_JOB_TOKENS_PER_S, COLUMN_F64},
                 {RUN_FIGURE_TOKENS_OF_GPU, LOGS_TOKENS_PER_S, COLUMN_F64},
                 {RUN_FIGURE_SAMPLES, LOGS_SAMPLES_PER_S, COLUMN_F64},
                 {RUN_FIGURE_TFLOPS, LOGS_TFLOPS, COLUMN_F64},
                 {RUN_FIGURE_MFU, LOGS_MFU_SHARE, COLUMN_F64},
                 {RUN_FIGURE_MEMORY, LOGS_MEMORY_BYTES, COLUMN_I64},
                 {RUN_FIGURE_POWER, LOGS_POWER_W, COLUMN_F64},
                 {RUN_FIGURE_LOSS, LOGS_LAST_LOSS, COLUMN_F64},
                 {RUN_FIGURE_LOWEST_LOSS, LOGS_LOWEST_LOSS, COLUMN_F64}};
    const struct table *logs = report_find(figures->report, "logs");
    if (!logs || !logs->row_count)
        return;
    size_t row = longest_log(logs);
    figures->files[FROM_LOG] = table_cell(logs, row, LOGS_FILE)->s;
    figures->framework = table_text(logs, row, LOGS_FRAMEWORK);
    figures->steps[FROM_LOG] = table_i64(logs, row, LOGS_STEPS, 0);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        figures->values[FROM_LOG][taken[i].figure] =
            number_of(table_cell(logs, row, taken[i].column), taken[i].type);
}

// --- the monitor --------------------------------------------------------------------------------

static bool was_used(const struct table *monitors, size_t row)
{
    const struct cell *idle = table_cell(monitors, row, MONITORS_IDLE_SHARE);
    return idle->null || idle->f < 1;
}

// The GPU, unless a trace names it, and its memory; and the memory used, if neither log nor trace
// says it.
static void take_device(struct figures *figures, const struct table *monitors, size_t row)
{
    const struct cell *name = table_cell(monitors, row, MONITORS_NAME);
    double *memory = &figures->values[FROM_MONITOR][RUN_FIGURE_MEMORY];
    if (!figures->gpu.len && !name->null)
        figures->gpu = name->s;
    if (!figures->capacity_bytes)
        figures->capacity_bytes = table_i64(monitors, row, MONITORS_CAPACITY_BYTES, 0);
    if (isnan(figures->values[FROM_LOG][RUN_FIGURE_MEMORY]) &&
        isnan(figures->values[FROM_TRACE][RUN_FIGURE_MEMORY]))
        *memory = fmax(*memory, // fmax ignores NaN
                       number_of(table_cell(monitors, row, MONITORS_MEMORY_BYTES), COLUMN_I64));
}

// The lower median over the GPUs that were used at all.
static bool take_monitor(struct figures *figures, struct err *err)
{
    const struct table *monitors = report_find(figures->report, "monitors");
    size_t count = 0;
    if (!monitors || !monitors->row_count)
        return true;
    double *power = arena_array(figures->report->arena, monitors->row_count, sizeof *power, err);
    if (!power)
        return false;
    figures->files[FROM_MONITOR] = table_cell(monitors, 0, MONITORS_FILE)->s;
    for (size_t i = 0; i < monitors->row_count; i++) {
        const struct cell *watts = table_cell(monitors, i, MONITORS_POWER_W);
        if (!was_used(monitors, i))
            continue;
        take_device(figures, monitors, i);
        if (!watts->null)
            power[count++] = watts->f;
    }
    if (count == 0)
        return true;
    qsort(power, count, sizeof *power, order_doubles);
    figures->values[FROM_MONITOR][RUN_FIGURE_POWER] = power[(count - 1) / 2];
    return true;
}

// --- the trace ----------------------------------------------------------------------------------

// Says that operations are known for a part of the work only, if that is so.
static bool read_coverage(struct figures *figures, const struct table *table, size_t row,
                          struct err *err)
{
    double share = number_of(table_cell(table, row, UTILIZATION_VALUE), COLUMN_F64);
    if (!table_is(table, row, UTILIZATION_METRIC, STR("flops_time_share")) ||
        !(share < NEARLY_COVERED))
        return true;
    figures->covered =
        arena_printf(figures->report->arena, err,
                     "a lower bound: operations are known for %.0f %% of the time of matrix "
                     "products, attention and convolutions",
                     100 * share);
    return figures->covered;
}

static bool read_utilization(struct figures *figures, const struct table *table, struct err *err)
{
    static const struct {
        enum run_figure_id figure;
        const char *metric;
    } taken[] = {{RUN_FIGURE_TFLOPS, "step_tflops"},
                 {RUN_FIGURE_MFU, "mfu"},
                 {RUN_FIGURE_HFU, "hfu"},
                 {RUN_FIGURE_GEMM, "gemm_tflops"},
                 {RUN_FIGURE_GEMM_SHARE, "gemm_of_peak"},
                 {RUN_FIGURE_ATTENTION, "attention_tflops"},
                 {RUN_FIGURE_ATTENTION_SHARE, "attention_of_peak"}};
    for (size_t row = 0; row < table->row_count; row++) {
        if (!read_coverage(figures, table, row, err))
            return false;
        for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
            if (table_is(table, row, UTILIZATION_METRIC, str_of(taken[i].metric)))
                figures->values[FROM_TRACE][taken[i].figure] =
                    number_of(table_cell(table, row, UTILIZATION_VALUE), COLUMN_F64);
    }
    return true;
}

// Device time of the headline rank over its steady steps; as in the summary, shares are of the
// recorded time.
static void take_breakdown(struct figures *figures)
{
    const struct table *table = report_find(figures->report, "breakdown");
    for (size_t row = 0; table && row < table->row_count; row++) {
        if (!table_is(table, row, RUN_BREAKDOWN_SCOPE, STR("run_median")))
            continue;
        int64_t window_ns = table_i64(table, row, RUN_BREAKDOWN_WINDOW_NS, 0) -
                            table_i64(table, row, RUN_BREAKDOWN_UNRECORDED_NS, 0);
        int64_t comm_ns = table_i64(table, row, RUN_BREAKDOWN_TOTAL_COMM_NS, 0);
        if (window_ns > 0)
            figures->values[FROM_TRACE][RUN_FIGURE_COMM] = (double)comm_ns / (double)window_ns;
        figures->values[FROM_TRACE][RUN_FIGURE_OVERLAP] =
            number_of(table_cell(table, row, RUN_BREAKDOWN_OVERLAP_SHARE), COLUMN_F64);
    }
}

// What a recording takes in which no step is marked is no step time.
static void take_summary(struct figures *figures, const struct table *summary, int64_t headline)
{
    static const struct {
        enum run_figure_id figure;
        unsigned column;
        enum column_type type;
    } taken[] = {{RUN_FIGURE_STEP, RUN_SUMMARY_STEP_MEDIAN_NS, COLUMN_I64},
                 {RUN_FIGURE_BUSY, RUN_SUMMARY_BUSY_SHARE, COLUMN_F64},
                 {RUN_FIGURE_IDLE, RUN_SUMMARY_IDLE_SHARE, COLUMN_F64},
                 {RUN_FIGURE_EXPOSED_COMM, RUN_SUMMARY_EXPOSED_COMM_SHARE, COLUMN_F64},
                 {RUN_FIGURE_MEMORY, RUN_SUMMARY_RESERVED_BYTES, COLUMN_I64}};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        figures->values[FROM_TRACE][taken[i].figure] =
            number_of(table_cell(summary, 0, taken[i].column), taken[i].type);
    if (trust_lacks_steps(figures->report, headline))
        figures->values[FROM_TRACE][RUN_FIGURE_STEP] = NAN;
    figures->steps[FROM_TRACE] = table_i64(summary, 0, RUN_SUMMARY_STEADY_STEPS, 0);
    const struct cell *gpu = table_cell(summary, 0, RUN_SUMMARY_GPU);
    const struct gpu_memory *memory = gpu->null ? NULL : gpu_memory_find(gpu->s);
    figures->gpu = gpu->null ? STR("") : gpu->s;
    figures->capacity_bytes =
        table_i64(summary, 0, RUN_SUMMARY_CAPACITY_BYTES, memory ? memory->bytes : 0);
}

// The headline rank's.
static bool take_utilization(struct figures *figures, const struct rank_source *source,
                             int64_t rank, struct err *err)
{
    static const struct table_desc *const known[] = {&table_utilization, NULL};
    struct report report = {.arena = figures->report->arena};
    size_t index = 0;
    while (index < source->count && source->ranks[index] != rank)
        index++;
    if (index < source->count && !source->load(source->context, index, known, &report, err))
        return false;
    const struct table *table = report_find(&report, "utilization");
    if (table)
        return read_utilization(figures, table, err);
    return true;
}

static bool take_trace(struct figures *figures, const struct rank_source *source, struct err *err)
{
    const struct table *summary = report_find(figures->report, "summary");
    if (source->count == 0 || !summary || !summary->row_count)
        return true;
    int64_t headline = table_i64(summary, 0, RUN_SUMMARY_HEADLINE_RANK, -1);
    take_summary(figures, summary, headline);
    take_breakdown(figures);
    return take_utilization(figures, source, headline, err);
}

// --- what follows -------------------------------------------------------------------------------

static double preferred(const struct figures *figures, enum run_figure_id figure)
{
    for (int origin = 0; origin < ORIGINS; origin++)
        if (!isnan(figures->values[origin][figure]))
            return figures->values[origin][figure];
    return NAN;
}

static double known(int64_t count)
{
    return count > 0 ? (double)count : NAN;
}

// Rates that the origin does not state follow from its step time and what a step is.
static void derive_rates(struct figures *figures, enum origin origin)
{
    double *values = figures->values[origin];
    double step_s = values[RUN_FIGURE_STEP] > 0 ? values[RUN_FIGURE_STEP] / 1e9 : NAN,
           gpus = known(figures->gpus);
    double samples = known(figures->global_batch) / step_s;
    double tokens = samples * known(figures->seq_length);
    if (isnan(values[RUN_FIGURE_SAMPLES]))
        values[RUN_FIGURE_SAMPLES] = samples;
    if (isnan(values[RUN_FIGURE_TOKENS]))
        values[RUN_FIGURE_TOKENS] = isnan(values[RUN_FIGURE_TOKENS_OF_GPU])
                                        ? tokens
                                        : values[RUN_FIGURE_TOKENS_OF_GPU] * gpus;
    if (isnan(values[RUN_FIGURE_TOKENS_OF_GPU]))
        values[RUN_FIGURE_TOKENS_OF_GPU] = values[RUN_FIGURE_TOKENS] / gpus;
}

// The precision of the job's matrix products; if nothing says it, the one that large models are
// trained in.
static enum precision precision_of(const struct report *report)
{
    struct str fp8 = run_stated(report, "fp8"), precision = run_stated(report, "precision");
    if (fp8.len && !str_equal(fp8, STR("false")) && !str_equal(fp8, STR("none")))
        return PRECISION_FP8;
    for (enum precision i = PRECISION_NONE; i < PRECISION_COUNT; i++)
        if (i != PRECISION_NONE && str_equal(precision, str_of(precision_word(i))))
            return i == PRECISION_FP32 ? PRECISION_TF32 : i;
    return PRECISION_BF16;
}

// What the GPU can do; NULL unknown. Where a trace names no GPU, the monitor or a file does. The
// user's rows take precedence over built-in ones.
static bool find_peak(const struct figures *figures, const struct peak **peak, struct err *err)
{
    struct peaks peaks;
    struct str gpu = figures->gpu.len ? figures->gpu : run_stated(figures->report, "gpu");
    *peak = gpu.len ? peaks_find(figures->peaks, gpu, figures->capacity_bytes) : NULL;
    if (gpu.len == 0 || *peak)
        return true;
    if (!peaks_parse(peaks_builtin, figures->report->arena, &peaks, err))
        return false;
    *peak = peaks_find(&peaks, gpu, figures->capacity_bytes);
    return true;
}

static bool doubt_flops(struct report *report, const char *why, struct err *err)
{
    struct doubt doubt = {.item = "model_flops_unknown",
                          .severity = "info",
                          .count = 1,
                          .effect =
                              "TFLOP/s and MFU do not follow from the log's tokens per second"};
    doubt.detail =
        arena_printf(report->arena, err, "MFU is not computed from tokens per second: %s", why);
    return doubt.detail && doubt_add_of_run(report, &doubt, err);
}

// TFLOP/s of logs that state only tokens per second, or what they follow from.
static bool derive_tflops(struct figures *figures, double *tflops, struct err *err)
{
    struct model_flops model;
    double tokens = figures->values[FROM_LOG][RUN_FIGURE_TOKENS_OF_GPU];
    *tflops = figures->values[FROM_LOG][RUN_FIGURE_TFLOPS];
    if (!isnan(*tflops) || isnan(tokens))
        return true;
    if (str_equal(figures->framework, STR("torchtune")))
        return doubt_flops(figures->report,
                           "torchtune counts only tokens with a label, without prompts and padding",
                           err);
    if (!run_model_flops(figures->report, &model, err))
        return false;
    if (model.per_token > 0) {
        *tflops = tokens * model.per_token / 1e12;
        figures->values[COMPUTED][RUN_FIGURE_TFLOPS] = *tflops;
        figures->basis[RUN_FIGURE_TFLOPS] = model.basis;
        return true;
    }
    return !isnan(figures->values[FROM_LOG][RUN_FIGURE_MFU]) ||
           doubt_flops(figures->report, model.why, err);
}

static bool derive_mfu(struct figures *figures, struct err *err)
{
    const struct peak *peak;
    double tflops;
    if (!derive_tflops(figures, &tflops, err) || !find_peak(figures, &peak, err))
        return false;
    enum precision precision = precision_of(figures->report);
    double most = peak ? peak->tflops[precision] : 0;
    if (isnan(tflops) || !(most > 0))
        return true;
    figures->values[COMPUTED][RUN_FIGURE_MFU] = tflops / most;
    const char *model = figures->basis[RUN_FIGURE_TFLOPS];
    figures->basis[RUN_FIGURE_MFU] =
        arena_printf(figures->report->arena, err, "%s%sof %.5g TFLOP/s, the dense %s peak of %.*s",
                     model ? model : "", model ? "; " : "", most, precision_word(precision),
                     (int)peak->device.len, peak->device.at);
    return figures->basis[RUN_FIGURE_MFU];
}

static void derive(struct figures *figures)
{
    double *values = figures->values[COMPUTED];
    double power_w = preferred(figures, RUN_FIGURE_POWER);
    if (!run_counts_batches(figures->framework))
        derive_rates(figures, FROM_LOG);
    derive_rates(figures, FROM_TRACE);
    values[RUN_FIGURE_MEMORY_SHARE] =
        preferred(figures, RUN_FIGURE_MEMORY) / known(figures->capacity_bytes);
    if (!(power_w > 0))
        return;
    values[RUN_FIGURE_ENERGY] = power_w * preferred(figures, RUN_FIGURE_STEP) / 1e9;
    values[RUN_FIGURE_TOKENS_OF_JOULE] = preferred(figures, RUN_FIGURE_TOKENS_OF_GPU) / power_w;
}

static const char *basis_of(const struct figures *figures, enum run_figure_id figure,
                            enum origin origin)
{
    bool sums = figure == RUN_FIGURE_TFLOPS || figure == RUN_FIGURE_MFU || figure == RUN_FIGURE_HFU;
    if (origin == COMPUTED)
        return figures->basis[figure];
    return origin == FROM_TRACE && sums ? figures->covered : NULL;
}

static bool add_row(const struct figures *figures, enum run_figure_id figure, enum origin origin,
                    bool stands, struct err *err)
{
    static const char *const sources[] = {[FROM_MONITOR] = "monitor",
                                          [FROM_LOG] = "log",
                                          [FROM_TRACE] = "trace",
                                          [COMPUTED] = "computed"};
    struct row row = {.desc = &table_run_figures};
    row_word(&row, RUN_FIGURES_METRIC, run_figures[figure].metric);
    row_f64(&row, RUN_FIGURES_VALUE, figures->values[origin][figure]);
    row_word(&row, RUN_FIGURES_UNIT, run_figures[figure].unit);
    row_word(&row, RUN_FIGURES_SOURCE, sources[origin]);
    row_text_if(&row, RUN_FIGURES_FILE, figures->files[origin].len, figures->files[origin]);
    row_i64_if(&row, RUN_FIGURES_STEPS, figures->steps[origin] > 0, figures->steps[origin]);
    row_bool(&row, RUN_FIGURES_PREFERRED, stands);
    row_word(&row, RUN_FIGURES_HELP, run_figures[figure].help);
    const char *basis = basis_of(figures, figure, origin);
    if (basis)
        row_word(&row, RUN_FIGURES_BASIS, basis);
    return row_end(&row, figures->report, err);
}

static bool add_rows(const struct figures *figures, enum run_figure_id figure, struct err *err)
{
    bool stands = true;
    for (int origin = 0; origin < ORIGINS; origin++) {
        if (!isfinite(figures->values[origin][figure]))
            continue;
        if (!add_row(figures, figure, (enum origin)origin, stands, err))
            return false;
        stands = false;
    }
    return true;
}

bool run_add_figures(const struct rank_source *source, struct report *report, struct err *err)
{
    struct figures figures = {.report = report, .peaks = source->peaks};
    for (int origin = 0; origin < ORIGINS; origin++)
        for (int i = 0; i < RUN_FIGURE_COUNT; i++)
            figures.values[origin][i] = NAN;
    find_job(&figures);
    take_log(&figures);
    if (!take_trace(&figures, source, err) || !take_monitor(&figures, err))
        return false;
    derive(&figures);
    if (!derive_mfu(&figures, err))
        return false;
    run_monitor_tokens(report, known(figures.global_batch) * known(figures.seq_length) /
                                   known(figures.gpus));
    for (int i = 0; i < RUN_FIGURE_COUNT; i++)
        if (!add_rows(&figures, (enum run_figure_id)i, err))
            return false;
    return true;
}
