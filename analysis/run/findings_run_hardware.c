// SPDX-License-Identifier: Apache-2.0
// Rules about what monitors recorded of the GPUs.
#include "analysis/run/findings_run.h"

#include "analysis/report/tables.h"
#include "ingest/base/orders.h"

#include <math.h>
#include <stdlib.h>

#define THROTTLED_SHARE 0.05 // of the samples
#define COST_SHARE      0.01 // of the step
#define IDLE_SHARE      0.9
#define BUSY_SHARE      0.5

// "0-3,7", of the rows that are chosen; "" without indices.
static const char *list_gpus(const struct run_case *the_case, const bool *chosen, struct err *err)
{
    const struct table *monitors = the_case->monitors;
    size_t count = 0;
    int64_t *gpus = arena_room(the_case->arena, monitors->row_count + 1, sizeof *gpus, err);
    for (size_t i = 0; gpus && i < monitors->row_count; i++)
        if (chosen[i] && !table_cell(monitors, i, MONITORS_GPU)->null)
            gpus[count++] = table_cell(monitors, i, MONITORS_GPU)->i;
    if (!gpus)
        return NULL;
    // Rows are in the order of the files, one for each host.
    bool ascending = true;
    for (size_t i = 1; i < count; i++)
        ascending = ascending && gpus[i - 1] < gpus[i];
    return ascending && count ? number_list(gpus, count, the_case->arena, err) : "";
}

static size_t count_chosen(const bool *chosen, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        found += chosen[i];
    return found;
}

// "GPUs 0-3" or "5 GPUs".
static const char *name_gpus(const struct run_case *the_case, const bool *chosen, struct err *err)
{
    size_t count = count_chosen(chosen, the_case->monitors->row_count);
    const char *list = list_gpus(the_case, chosen, err);
    if (!list)
        return NULL;
    return *list ? arena_printf(the_case->arena, err, "GPU%s %s", count > 1 ? "s" : "", list)
                 : arena_printf(the_case->arena, err, "%zu GPU%s", count, count > 1 ? "s" : "");
}

// Whether the row of rank_monitors is about this GPU.
static bool is_of_gpu(const struct table *ranks, size_t row, const struct table *monitors,
                      size_t monitor)
{
    return table_is(monitors, monitor, MONITORS_FILE,
                    table_text(ranks, row, RUN_RANK_MONITORS_FILE)) &&
           table_i64(monitors, monitor, MONITORS_GPU, -1) ==
               table_i64(ranks, row, RUN_RANK_MONITORS_GPU, -2);
}

// --- throttled clocks ---------------------------------------------------------------------------

// By how much the clock is lower on average than without throttling; NAN unknown.
static double slowdown_of(const struct table *monitors, size_t row)
{
    double free_mhz = table_f64(monitors, row, MONITORS_FREE_MHZ, NAN);
    double rated_mhz = table_f64(monitors, row, MONITORS_CLOCK_RATED_MHZ, NAN);
    double usual_mhz = isnan(free_mhz) ? rated_mhz : free_mhz;
    double mhz = table_f64(monitors, row, MONITORS_THROTTLED_MHZ, NAN);
    double share = table_f64(monitors, row, MONITORS_THROTTLED_SHARE, NAN);
    return mhz > 0 && usual_mhz > mhz ? share * (1 - mhz / usual_mhz) : (double)NAN;
}

struct throttling {
    bool *chosen;
    size_t worst; // row
    double slowdown;
};

// The same of ranks, whose GPUs are known at the time of their traces.
struct rank_throttling {
    const struct table *rows;
    int64_t *ranks; // ascending
    size_t count, worst;
    int64_t cost_ns;
    const char *doubt; // of one of them; NULL: none
};

// Whether a rank's GPU is this one and its times are known: then the rank speaks for it.
static bool has_rank(const struct run_case *the_case, size_t monitor)
{
    const struct table *monitors = the_case->monitors;
    const struct table *ranks = report_find(the_case->report, "rank_monitors");
    for (size_t i = 0; ranks && i < ranks->row_count; i++)
        if (table_i64(ranks, i, RUN_RANK_MONITORS_THROTTLE_COST_NS, -1) >= 0 &&
            is_of_gpu(ranks, i, monitors, monitor))
            return true;
    return false;
}

static bool find_throttled(const struct run_case *the_case, struct throttling *found,
                           struct err *err)
{
    const struct table *monitors = the_case->monitors;
    found->chosen = arena_array(the_case->arena, monitors->row_count + 1, sizeof(bool), err);
    found->slowdown = 0;
    for (size_t i = 0; found->chosen && i < monitors->row_count; i++) {
        double slowdown = slowdown_of(monitors, i);
        if (!(table_f64(monitors, i, MONITORS_THROTTLED_SHARE, NAN) >= THROTTLED_SHARE) ||
            isnan(slowdown) || has_rank(the_case, i))
            continue;
        found->chosen[i] = true;
        if (slowdown > found->slowdown) {
            found->slowdown = slowdown;
            found->worst = i;
        }
    }
    return found->chosen;
}

// What makes it doubtful that the GPU is the rank's or the time the trace's; NULL: nothing.
static const char *doubt_of(const struct table *ranks, size_t row)
{
    const struct cell *doubt = table_cell(ranks, row, RUN_RANK_MONITORS_DOUBT);
    struct str joined_by = table_text(ranks, row, RUN_RANK_MONITORS_JOINED_BY);
    if (!doubt->null)
        return doubt->s.at;
    return str_starts_with(joined_by, STR("order of")) ? "its GPU is known by order only" : NULL;
}

// A rank has a row for each of its GPUs and monitors.
static void sort_ranks(struct rank_throttling *found)
{
    size_t count = 0;
    qsort(found->ranks, found->count, sizeof *found->ranks, order_i64);
    for (size_t i = 0; i < found->count; i++)
        if (count == 0 || found->ranks[count - 1] != found->ranks[i])
            found->ranks[count++] = found->ranks[i];
    found->count = count;
}

// The rank whose clock costs it most, by the monitor over the steps of its trace.
static bool find_throttled_ranks(const struct run_case *the_case, struct rank_throttling *found,
                                 struct err *err)
{
    const struct table *ranks = report_find(the_case->report, "rank_monitors");
    *found = (struct rank_throttling){.rows = ranks};
    found->ranks =
        arena_array(the_case->arena, ranks ? ranks->row_count + 1 : 1, sizeof *found->ranks, err);
    for (size_t i = 0; found->ranks && ranks && i < ranks->row_count; i++) {
        int64_t cost_ns = table_i64(ranks, i, RUN_RANK_MONITORS_THROTTLE_COST_NS, -1);
        double share = table_f64(ranks, i, RUN_RANK_MONITORS_THROTTLED_SHARE, 0);
        if (!(share >= THROTTLED_SHARE) || cost_ns <= 0)
            continue;
        found->ranks[found->count++] = table_i64(ranks, i, RUN_RANK_MONITORS_RANK, 0);
        found->doubt = found->doubt ? found->doubt : doubt_of(ranks, i);
        if (cost_ns > found->cost_ns) {
            found->cost_ns = cost_ns;
            found->worst = i;
        }
    }
    if (found->ranks)
        sort_ranks(found);
    return found->ranks;
}

static bool tell_throttled_ranks(const struct run_case *the_case,
                                 const struct rank_throttling *found, struct finding *finding,
                                 struct err *err)
{
    const struct cell *reason =
        table_cell(found->rows, found->worst, RUN_RANK_MONITORS_THROTTLE_REASON);
    double mhz = table_f64(found->rows, found->worst, RUN_RANK_MONITORS_THROTTLED_MHZ, 0);
    const char *list = number_list(found->ranks, found->count, the_case->arena, err);
    struct evidence evidence = {0};
    if (!list)
        return false;
    finding->confidence = found->doubt ? "medium" : "high";
    finding->title = arena_printf(
        the_case->arena, err, "the clock of rank%s %s is throttled by %s: at most %s %s (%.1f %%)",
        found->count > 1 ? "s" : "", list, reason->null ? "the hardware" : reason->s.at,
        time_text(finding->cost_ns).text, the_case->per, run_percent(the_case, finding->cost_ns));
    evidence_add(&evidence, "training", "in %.0f %% of the time of its steps, at %.0f MHz",
                 100 * table_f64(found->rows, found->worst, RUN_RANK_MONITORS_THROTTLED_SHARE, 0),
                 mhz);
    if (found->doubt)
        evidence_add(&evidence, "training", "in doubt: %s", found->doubt);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static int64_t compute_ns(const struct run_case *the_case)
{
    return the_case->part_ns[BAR_GEMM] + the_case->part_ns[BAR_ATTENTION] +
           the_case->part_ns[BAR_OTHER_COMPUTE];
}

static bool tell_throttling(const struct run_case *the_case, const struct throttling *found,
                            struct finding *finding, struct err *err)
{
    const struct table *monitors = the_case->monitors;
    const struct cell *reason = table_cell(monitors, found->worst, MONITORS_THROTTLE_REASON);
    double free_mhz = table_f64(monitors, found->worst, MONITORS_FREE_MHZ, NAN);
    const char *gpus = name_gpus(the_case, found->chosen, err);
    struct evidence evidence = {0};
    if (!gpus)
        return false;
    finding->confidence = isnan(free_mhz) ? "low" : "medium";
    finding->title = arena_printf(
        the_case->arena, err, "the clock of %s is throttled by %s: at most %s %s (%.1f %%)", gpus,
        reason->null ? "the hardware" : reason->s.at, time_text(finding->cost_ns).text,
        the_case->per, run_percent(the_case, finding->cost_ns));
    evidence_add(&evidence, "training", "in %.0f %% of the samples, at %.0f instead of %.0f MHz",
                 100 * table_f64(monitors, found->worst, MONITORS_THROTTLED_SHARE, NAN),
                 table_f64(monitors, found->worst, MONITORS_THROTTLED_MHZ, NAN),
                 isnan(free_mhz) ? table_f64(monitors, found->worst, MONITORS_CLOCK_RATED_MHZ, NAN)
                                 : free_mhz);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static bool check_throttling(const struct run_case *the_case, bool *fires, struct finding *finding,
                             struct err *err)
{
    struct throttling found;
    struct rank_throttling of_ranks;
    if (!the_case->monitors)
        return true;
    if (!find_throttled_ranks(the_case, &of_ranks, err) || !find_throttled(the_case, &found, err))
        return false;
    int64_t cost_ns = (int64_t)llround(found.slowdown * (double)compute_ns(the_case));
    bool is_rank = of_ranks.cost_ns >= cost_ns;
    finding->cost_ns = is_rank ? of_ranks.cost_ns : cost_ns;
    *fires = run_costs(the_case, finding->cost_ns, COST_SHARE);
    if (!*fires)
        return true;
    return is_rank ? tell_throttled_ranks(the_case, &of_ranks, finding, err)
                   : tell_throttling(the_case, &found, finding, err);
}

static const struct finding_rule throttled_rule = {
    .name = "throttled_gpus",
    .why = "While power, heat or the hardware throttles clocks, kernels limited by compute take "
           "longer, and the other ranks wait for the slowest GPU.",
    .advice =
        "Look at cooling and power limits of these GPUs. If the power limit is intended, only "
        "compare runs at that limit.",
    .method = "For each GPU, the share of samples in which the monitor reports a reason, times the "
              "drop of its median clock against the samples without one while it was half busy, "
              "or against its rated clock; the largest over the GPUs, times the compute of the "
              "step. Where a rank's GPU and the time are known, only the steps of its trace "
              "count (rank_monitors). An upper bound: kernels limited by memory lose less.",
    .false_alarms = "Without aligned times the monitor covers the whole job and the trace a few "
                    "seconds of it.",
};

const struct run_rule finding_run_throttled = {
    .about = &throttled_rule,
    .check = check_throttling,
    .bars = RUN_BARS_COMPUTE,
    .of_hardware = true,
};

// --- GPUs that idle while others work -----------------------------------------------------------

static bool same_file(const struct table *monitors, size_t a, size_t b)
{
    return str_equal(table_cell(monitors, a, MONITORS_FILE)->s,
                     table_cell(monitors, b, MONITORS_FILE)->s);
}

// Whether another GPU of the file works.
static bool has_busy_mate(const struct table *monitors, size_t row)
{
    for (size_t i = 0; i < monitors->row_count; i++)
        if (same_file(monitors, i, row) &&
            table_f64(monitors, i, MONITORS_IDLE_SHARE, NAN) < BUSY_SHARE)
            return true;
    return false;
}

// Whether the GPUs of all ranks are known and these are not among them.
static bool is_unused(const struct run_case *the_case, const bool *idle)
{
    const struct table *monitors = the_case->monitors;
    const struct table *ranks = report_find(the_case->report, "rank_monitors");
    for (size_t r = 0; ranks && r < ranks->row_count; r++) {
        if (table_cell(ranks, r, RUN_RANK_MONITORS_JOINED_BY)->null)
            return false;
        for (size_t i = 0; i < monitors->row_count; i++)
            if (idle[i] && is_of_gpu(ranks, r, monitors, i))
                return false;
    }
    return ranks && ranks->row_count;
}

static bool check_idle(const struct run_case *the_case, bool *fires, struct finding *finding,
                       struct err *err)
{
    const struct table *monitors = the_case->monitors;
    if (!monitors)
        return true;
    bool *idle = arena_array(the_case->arena, monitors->row_count + 1, sizeof *idle, err);
    for (size_t i = 0; idle && i < monitors->row_count; i++)
        idle[i] = table_f64(monitors, i, MONITORS_IDLE_SHARE, NAN) >= IDLE_SHARE &&
                  has_busy_mate(monitors, i);
    size_t count = idle ? count_chosen(idle, monitors->row_count) : 0;
    *fires = count > 0;
    if (!*fires)
        return idle;
    struct evidence evidence = {0};
    const char *gpus = name_gpus(the_case, idle, err);
    bool unused = is_unused(the_case, idle);
    finding->severity = "info";
    finding->confidence = "high";
    finding->title = gpus ? arena_printf(the_case->arena, err, "%s idle%s while others work%s",
                                         gpus, count > 1 ? "" : "s",
                                         !unused     ? ""
                                         : count > 1 ? ", and no rank uses them"
                                                     : ", and no rank uses it")
                          : NULL;
    evidence_add(&evidence, "training",
                 "%zu of %zu GPUs are used in less than %.0f %% of the samples", count,
                 monitors->row_count, 100 * (1 - IDLE_SHARE));
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static const struct finding_rule idle_rule = {
    .name = "idle_gpus",
    .why = "Idle GPUs are paid for and contribute nothing.",
    .advice = "Start as many ranks as there are GPUs, or request fewer GPUs.",
    .method = "GPUs with a utilization under 5 % in nine of ten samples, while another GPU of the "
              "same monitor is above that in half of them. No direct cost.",
    .false_alarms = "The other GPUs of a shared host may belong to another job.",
};

const struct run_rule finding_run_idle_gpus = {
    .about = &idle_rule,
    .check = check_idle,
    .of_hardware = true,
};
