// SPDX-License-Identifier: Apache-2.0
// Rules about work that is spread unevenly over ranks and stages.
#include "analysis/run/findings_run.h"

#include "analysis/report/tables.h"
#include "analysis/run/run.h"

#include <inttypes.h>

// --- ranks ---------------------------------------------------------------------------------------

// Compute per step over the ranks, without the extra time of slow ranks: that is not work. Leaving
// out the late ranks shows whether they alone make the difference.
struct balance {
    double largest_ns, mean_ns;
    double largest_of_others_ns, mean_of_others_ns;
    int64_t rank; // with most
    size_t count, others;
};

static double work_of(const struct run_case *the_case, int64_t rank, int64_t compute_ns)
{
    const struct rank_rate *rate = run_slow_rate(the_case, rank);
    int64_t slow_ns = rate && rate->slow_ns < compute_ns ? rate->slow_ns : 0;
    return (double)compute_ns - (double)slow_ns;
}

static struct balance measure(const struct run_case *the_case, const struct run_late *late)
{
    const struct table *ranks = report_find(the_case->report, "ranks");
    int64_t typical_ns = run_rank_i64(the_case, RUN_RANKS_STEP_MEDIAN_NS, the_case->headline);
    struct balance balance = {0};
    for (size_t i = 0; ranks && i < ranks->row_count; i++) {
        int64_t rank = table_cell(ranks, i, RUN_RANKS_RANK)->i;
        int64_t median_ns = table_i64(ranks, i, RUN_RANKS_STEP_MEDIAN_NS, -1);
        if (table_i64(ranks, i, RUN_RANKS_STEADY_STEPS, 0) == 0 ||
            !run_steps_alike(median_ns, typical_ns))
            continue;
        double work_ns = work_of(the_case, rank, table_i64(ranks, i, RUN_RANKS_COMPUTE_NS, 0));
        bool other = !run_late_has(late, rank);
        balance.count++;
        balance.others += other;
        balance.mean_ns += work_ns;
        balance.mean_of_others_ns += other ? work_ns : 0;
        if (other)
            balance.largest_of_others_ns = fmax(balance.largest_of_others_ns, work_ns);
        if (work_ns > balance.largest_ns)
            balance.rank = rank;
        balance.largest_ns = fmax(balance.largest_ns, work_ns);
    }
    balance.mean_ns /= fmax((double)balance.count, 1);
    balance.mean_of_others_ns /= fmax((double)balance.others, 1);
    return balance;
}

static bool is_uneven(const struct balance *balance)
{
    return balance->count > 1 && balance->mean_ns < FINDING_BALANCE * balance->largest_ns;
}

// Whether the late ranks alone make the difference.
static bool is_theirs(const struct balance *balance, const struct run_late *late)
{
    double excess_ns = balance->largest_ns - balance->mean_ns;
    double rest_ns = balance->largest_of_others_ns - balance->mean_of_others_ns;
    return late->cost_ns > 0 && run_late_has(late, balance->rank) &&
           (balance->count < 3 || rest_ns < excess_ns / 2);
}

// What balance would save the headline rank: compute beyond the mean, and waiting for the rank with
// most. If compute is the larger part, all of it is attributed to that, otherwise nothing.
static unsigned bars_of(const struct run_case *the_case, const struct balance *balance)
{
    double own_ns = work_of(the_case, the_case->headline,
                            run_rank_i64(the_case, RUN_RANKS_COMPUTE_NS, the_case->headline));
    double beyond_ns = own_ns - balance->mean_ns;
    double waited_ns = balance->largest_ns - own_ns;
    if (beyond_ns > waited_ns)
        return RUN_BARS_COMPUTE;
    unsigned waits = RUN_BARS_COMM | RUN_BARS_IDLE;
    return beyond_ns > 0 ? waits | RUN_BARS_COMPUTE : waits;
}

static bool check_imbalance(const struct run_case *the_case, bool *fires, struct finding *finding,
                            struct err *err)
{
    struct run_late late;
    if (!run_find_late(the_case, &late, err))
        return false;
    struct balance balance = measure(the_case, &late);
    finding->cost_ns = (int64_t)(balance.largest_ns - balance.mean_ns);
    *fires = is_uneven(&balance) && run_costs(the_case, finding->cost_ns, FINDING_BALANCE_SHARE) &&
             !is_theirs(&balance, &late);
    if (!*fires)
        return true;
    struct evidence evidence = {0};
    finding->bars = bars_of(the_case, &balance);
    finding->confidence = "medium";
    finding->title = arena_printf(
        the_case->arena, err,
        "compute is unevenly spread over ranks: %.0f %% balanced, %s %s to save (%.1f %%)",
        100 * balance.mean_ns / balance.largest_ns, time_text(finding->cost_ns).text, the_case->per,
        run_percent(the_case, finding->cost_ns));
    evidence_add(&evidence, "ranks", "%s %s on rank %" PRId64 ", %s on average over all",
                 time_text((int64_t)balance.largest_ns).text, the_case->per, balance.rank,
                 time_text((int64_t)balance.mean_ns).text);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static const struct finding_rule imbalance = {
    .name = "imbalance",
    .why = "The step takes as long as the ranks with the most work; the others wait for them.",
    .advice = "Balance the work of the ranks: sequences of equal length (packing, bucketing), "
              "experts with a balancing loss or a capacity limit, stages of equal cost.",
    .method =
        "Largest minus mean compute per steady step over the ranks, without the extra time "
        "of slow ranks for the same work, and without ranks whose steps take less than half or "
        "more than twice as long as the typical rank's; reported when the mean is under 95 % "
        "of the largest and the cost 3 % of the step, unless late ranks fully explain it.",
    .false_alarms = "Pipeline stages with different layers; see the bubble.",
    .change = "balanced",
};

const struct run_rule finding_run_imbalance = {
    .about = &imbalance,
    .check = check_imbalance,
    .bars = RUN_BARS_COMM | RUN_BARS_IDLE,
};

// --- pipeline ------------------------------------------------------------------------------------

// Means over the stages with known bubble and ideal.
struct bubble {
    double interval_ns, bubble_ns, share, ideal;
    int64_t micro_batches;
    size_t stages;
};

static struct bubble sum_stages(const struct table *pipeline)
{
    struct bubble bubble = {0};
    for (size_t i = 0; pipeline && i < pipeline->row_count; i++) {
        const struct cell *share = table_cell(pipeline, i, RUN_PIPELINE_BUBBLE_SHARE);
        const struct cell *ideal = table_cell(pipeline, i, RUN_PIPELINE_IDEAL_SHARE);
        if (share->null || ideal->null)
            continue;
        bubble.stages++;
        bubble.share += share->f;
        bubble.ideal += ideal->f;
        bubble.bubble_ns += (double)table_i64(pipeline, i, RUN_PIPELINE_BUBBLE_NS, 0);
        bubble.interval_ns += (double)table_i64(pipeline, i, RUN_PIPELINE_INTERVAL_NS, 0);
        bubble.micro_batches = table_i64(pipeline, i, RUN_PIPELINE_MICRO_BATCHES, 0);
    }
    if (bubble.stages == 0)
        return bubble;
    double count = (double)bubble.stages;
    bubble.share /= count;
    bubble.ideal /= count;
    bubble.bubble_ns /= count;
    bubble.interval_ns /= count;
    return bubble;
}

// Exposed communication within the stages, averaged over the ranks: what no schedule of
// micro-batches removes.
static double within_stages_ns(const struct run_case *the_case)
{
    const struct table *waits = report_find(the_case->report, "comm_waits");
    double sum_ns = 0;
    for (size_t i = 0; waits && i < waits->row_count; i++)
        if (!table_cell(waits, i, RUN_COMM_WAITS_DIMENSION)->null &&
            !table_is(waits, i, RUN_COMM_WAITS_DIMENSION, STR("pipeline")))
            sum_ns += (double)table_i64(waits, i, RUN_COMM_WAITS_EXPOSED_WAIT_NS, 0) +
                      (double)table_i64(waits, i, RUN_COMM_WAITS_EXPOSED_TRANSFER_NS, 0);
    return sum_ns / ((double)the_case->ranks * (double)the_case->steps);
}

static bool tell_bubble(const struct run_case *the_case, const struct bubble *bubble, bool beyond,
                        struct finding *finding, struct err *err)
{
    struct evidence evidence = {0};
    finding->confidence = "high";
    finding->severity = beyond ? NULL : "info";
    finding->title =
        arena_printf(the_case->arena, err,
                     "pipeline stages compute nothing for %.1f %% of the time (ideal: %.1f %%): "
                     "%s %s to save (%.1f %%)",
                     100 * bubble->share, 100 * bubble->ideal, time_text(finding->cost_ns).text,
                     the_case->per, run_percent(the_case, finding->cost_ns));
    evidence_add(&evidence, "pipeline",
                 "%zu stages, %" PRId64
                 " micro-batches, a bubble of %s in %s on average over the stages",
                 bubble->stages, bubble->micro_batches, time_text((int64_t)bubble->bubble_ns).text,
                 time_text((int64_t)bubble->interval_ns).text);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static bool check_bubble(const struct run_case *the_case, bool *fires, struct finding *finding,
                         struct err *err)
{
    struct bubble bubble = sum_stages(report_find(the_case->report, "pipeline"));
    double within_ns = within_stages_ns(the_case);
    double beyond = bubble.share - bubble.ideal;
    beyond -= bubble.interval_ns > 0 ? within_ns / bubble.interval_ns : 0;
    bool uneven = beyond >= FINDING_BUBBLE_BEYOND;
    double cost_ns = uneven ? beyond * bubble.interval_ns : bubble.bubble_ns;
    finding->cost_ns = (int64_t)cost_ns;
    *fires = bubble.stages > 1 && cost_ns > 0 && (uneven || bubble.ideal >= FINDING_BUBBLE_SHARE);
    return !*fires || tell_bubble(the_case, &bubble, uneven, finding, err);
}

static const struct finding_rule bubble_rule = {
    .name = "pipeline_bubble",
    .why = "While the pipeline fills and drains, or waits for a slower stage, stages have nothing "
           "to compute.",
    .advice = "More micro-batches per step, interleaved stages or a zero-bubble schedule reduce "
              "the ideal bubble; the rest comes from stages of unequal cost or slow sends.",
    .method =
        "Share of the common interval (start of the first micro-batch on any stage to the end of "
        "the last) in which a stage computes nothing, averaged over the stages, against the ideal "
        "(p - 1) / (m v + p - 1) of p stages with v chunks each. Cost: the excess over the ideal "
        "and over the exposed communication within the stages, from 3 points on; otherwise, when "
        "the ideal is at least 30 %, the bubble itself as information.",
    .false_alarms = "Few micro-batches for lack of memory or samples.",
};

const struct run_rule finding_run_bubble = {
    .about = &bubble_rule,
    .check = check_bubble,
    .bars = RUN_BARS_COMM | RUN_BARS_IDLE,
};
