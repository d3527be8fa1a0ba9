// SPDX-License-Identifier: Apache-2.0
// Rules about work that is spread unevenly over ranks and stages, and ranks whose kernels are slow.
#include "analysis/findings_run.h"

#include <inttypes.h>

// ---- ranks
// -----------------------------------------------------------------------------------

// Compute per step over the ranks; without the one that has most it tells whether that one is
// alone.
struct balance {
    int64_t largest_ns, second_ns;
    double mean_ns, mean_of_others_ns;
    int64_t rank; // with most
    size_t count;
};

static struct balance measure(const struct run_case *the_case)
{
    const struct table *ranks = report_find(the_case->report, "ranks");
    struct balance balance = {0};
    double sum_ns = 0;
    for (size_t i = 0; ranks && i < ranks->row_count; i++) {
        int64_t compute_ns = run_cell_i64(ranks, i, "compute_ns", 0);
        if (run_cell_i64(ranks, i, "steady_steps", 0) == 0)
            continue;
        balance.count++;
        sum_ns += (double)compute_ns;
        if (compute_ns <= balance.largest_ns) {
            balance.second_ns = compute_ns > balance.second_ns ? compute_ns : balance.second_ns;
            continue;
        }
        balance.second_ns = balance.largest_ns;
        balance.largest_ns = compute_ns;
        balance.rank = table_cell(ranks, i, "rank")->i;
    }
    if (balance.count > 1) {
        balance.mean_ns = sum_ns / (double)balance.count;
        balance.mean_of_others_ns =
            (sum_ns - (double)balance.largest_ns) / (double)(balance.count - 1);
    }
    return balance;
}

static bool is_uneven(const struct balance *balance)
{
    return balance->count > 1 && balance->mean_ns < FINDING_BALANCE * (double)balance->largest_ns;
}

// Whether the rank with most alone makes the difference.
static bool is_one_alone(const struct balance *balance)
{
    double excess_ns = (double)balance->largest_ns - balance->mean_ns;
    double rest_ns = (double)balance->second_ns - balance->mean_of_others_ns;
    return balance->count < 3 || rest_ns < excess_ns / 2;
}

// What balance spares the headline rank: compute beyond the mean, and waiting for the rank with
// most. Where compute is the larger part all is told of it, where there is none of it nothing.
static unsigned bars_of(const struct run_case *the_case, const struct balance *balance)
{
    double own_ns = (double)run_rank_i64(the_case, "compute_ns", the_case->headline);
    double beyond_ns = own_ns - balance->mean_ns;
    double waited_ns = (double)balance->largest_ns - own_ns;
    if (beyond_ns > waited_ns)
        return RUN_BARS_COMPUTE;
    unsigned waits = RUN_BARS_COMM | RUN_BARS_IDLE;
    return beyond_ns > 0 ? waits | RUN_BARS_COMPUTE : waits;
}

static bool check_imbalance(const struct run_case *the_case, bool *fires, struct finding *finding,
                            struct err *err)
{
    struct balance balance = measure(the_case);
    finding->cost_ns = (int64_t)((double)balance.largest_ns - balance.mean_ns);
    if (!is_uneven(&balance) || !run_costs(the_case, finding->cost_ns, FINDING_BALANCE_SHARE))
        return true;
    int64_t straggler, straggler_ns;
    if (!run_find_straggler(the_case, &straggler, &straggler_ns, err))
        return false;
    bool told = straggler_ns > 0 && straggler == balance.rank && is_one_alone(&balance);
    *fires = !told;
    if (!*fires)
        return true;
    struct evidence evidence = {0};
    finding->bars = bars_of(the_case, &balance);
    finding->confidence = "medium";
    finding->title =
        arena_printf(the_case->arena, err,
                     "ranks compute unequally long: %.0f %% balanced, %s per step to gain "
                     "(%.1f %%)",
                     100 * balance.mean_ns / (double)balance.largest_ns,
                     time_text(finding->cost_ns).text, run_percent(the_case, finding->cost_ns));
    evidence_add(&evidence, "ranks", "%s per step on rank %" PRId64 ", %s on the mean of all",
                 time_text(balance.largest_ns).text, balance.rank,
                 time_text((int64_t)balance.mean_ns).text);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static const struct finding_rule imbalance = {
    .name = "imbalance",
    .why = "The step lasts as long as the ranks with most work need; the others wait for them.",
    .advice = "Balance what ranks get: sequences of equal length (packing, bucketing), experts "
              "with a balancing loss or a capacity, stages of equal cost.",
    .method = "Largest less mean compute per steady step over the ranks; reported when the mean is "
              "under 95 % of the largest and the cost 3 % of the step, unless a straggler alone "
              "explains it.",
    .false_alarms = "Stages of a pipeline differ by what they hold; see the bubble.",
};

const struct run_rule finding_run_imbalance = {
    .about = &imbalance,
    .check = check_imbalance,
    .bars = RUN_BARS_COMM | RUN_BARS_IDLE,
};

// ---- pipeline
// --------------------------------------------------------------------------------

// Means over the stages whose bubble and ideal are known.
struct bubble {
    double interval_ns, bubble_ns, share, ideal;
    int64_t micro_batches;
    size_t stages;
};

static struct bubble sum_stages(const struct table *pipeline)
{
    struct bubble bubble = {0};
    for (size_t i = 0; pipeline && i < pipeline->row_count; i++) {
        const struct cell *share = table_cell(pipeline, i, "bubble_share");
        const struct cell *ideal = table_cell(pipeline, i, "ideal_share");
        if (share->null || ideal->null)
            continue;
        bubble.stages++;
        bubble.share += share->f;
        bubble.ideal += ideal->f;
        bubble.bubble_ns += (double)run_cell_i64(pipeline, i, "bubble_ns", 0);
        bubble.interval_ns += (double)run_cell_i64(pipeline, i, "interval_ns", 0);
        bubble.micro_batches = run_cell_i64(pipeline, i, "micro_batches", 0);
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

// Exposed communication within the stages, the mean over the ranks: what no schedule of
// micro-batches takes away.
static double within_stages_ns(const struct run_case *the_case)
{
    const struct table *waits = report_find(the_case->report, "comm_waits");
    double sum_ns = 0;
    for (size_t i = 0; waits && i < waits->row_count; i++)
        if (!table_cell(waits, i, "dimension")->null &&
            !run_cell_is(waits, i, "dimension", STR("pipeline")))
            sum_ns += (double)run_cell_i64(waits, i, "exposed_wait_ns", 0) +
                      (double)run_cell_i64(waits, i, "exposed_transfer_ns", 0);
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
                     "stages of the pipeline compute nothing in %.1f %% of the time, "
                     "%.1f %% would be ideal: %s per step to gain (%.1f %%)",
                     100 * bubble->share, 100 * bubble->ideal, time_text(finding->cost_ns).text,
                     run_percent(the_case, finding->cost_ns));
    evidence_add(&evidence, "pipeline",
                 "%zu stages, %" PRId64 " micro-batches, a bubble of %s in "
                 "%s on the mean of the stages",
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
    .why = "While the pipeline fills and drains, and while a stage waits for a slower one, stages "
           "have nothing to compute.",
    .advice = "More micro-batches per step, interleaved stages or a zero-bubble schedule make the "
              "ideal bubble smaller; what is beyond it comes from stages of unequal cost, or from "
              "slow sends.",
    .method = "Share of the common interval (first micro-batch's begin on any stage to the last "
              "one's end) in which a stage computes nothing, the mean over the stages, against the "
              "ideal (p - 1) / (m v + p - 1) of p stages with v chunks each. Cost: what is beyond "
              "the ideal and beyond the exposed "
              "communication within the stages when that is 3 points or more; "
              "else, from an ideal of 30 % on and for information, the bubble itself.",
    .false_alarms = "Micro-batches that are few for want of memory or samples.",
};

const struct run_rule finding_run_bubble = {
    .about = &bubble_rule,
    .check = check_bubble,
    .bars = RUN_BARS_COMM | RUN_BARS_IDLE,
};

// ---- kernels of one rank
// ---------------------------------------------------------------------

// Kernels on which one rank is slowest by far.
struct rank_kernels {
    int64_t rank, excess_ns;
    size_t kernels, worst; // row
    int64_t worst_ns;
};

// Kernels whose time follows from their shapes; the others' also from what they are given.
static bool is_steady_work(const struct table *kernels, size_t row)
{
    static const char *const words[] = {"embedding/indexing", "MoE", "other"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (run_cell_is(kernels, row, "category", str_of(words[i])))
            return false;
    return run_cell_is(kernels, row, "class", STR("compute"));
}

// The slowest rank's total, in as many steps as the headline rank has when it has more.
static int64_t most_of(const struct run_case *the_case, const struct table *kernels, size_t row)
{
    int64_t most_ns = run_cell_i64(kernels, row, "rank_max_ns", 0);
    int64_t steps =
        run_rank_i64(the_case, "step_count", run_cell_i64(kernels, row, "slowest_rank", -1));
    if (steps <= the_case->all_steps)
        return most_ns;
    return (int64_t)((double)most_ns * (double)the_case->all_steps / (double)steps);
}

static int64_t excess_of(const struct run_case *the_case, const struct table *kernels, size_t row)
{
    int64_t median_ns = run_cell_i64(kernels, row, "rank_median_ns", 0);
    int64_t most_ns = most_of(the_case, kernels, row);
    bool everywhere = run_cell_i64(kernels, row, "ranks", 0) == (int64_t)the_case->ranks;
    bool slow = everywhere && is_steady_work(kernels, row) && median_ns > 0 &&
                (double)most_ns >= FINDING_RANK_KERNEL_RATIO * (double)median_ns;
    return slow ? most_ns - median_ns : 0;
}

// Row of a rank in the table of ranks, which ascends; its row count when there is none.
static size_t row_of_rank(const struct table *ranks, int64_t rank)
{
    size_t low = 0, high = ranks ? ranks->row_count : 0, count = high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table_cell(ranks, middle, "rank")->i < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && table_cell(ranks, low, "rank")->i == rank ? low : count;
}

// The rank whose slowest kernels cost most.
static bool find_rank(const struct run_case *the_case, const struct table *kernels,
                      struct rank_kernels *most, struct err *err)
{
    const struct table *ranks = report_find(the_case->report, "ranks");
    size_t count = ranks ? ranks->row_count : 0;
    struct rank_kernels *all = arena_array(the_case->arena, count + 1, sizeof *all, err);
    if (!all)
        return false;
    for (size_t i = 0; i < kernels->row_count; i++) {
        int64_t ns = excess_of(the_case, kernels, i);
        int64_t rank = run_cell_i64(kernels, i, "slowest_rank", -1);
        size_t r = row_of_rank(ranks, rank);
        if (ns == 0 || r == count)
            continue;
        all[r].rank = rank;
        all[r].excess_ns += ns;
        all[r].kernels++;
        if (ns > all[r].worst_ns) {
            all[r].worst_ns = ns;
            all[r].worst = i;
        }
        if (all[r].excess_ns > most->excess_ns)
            *most = all[r];
    }
    return true;
}

// Whether lateness says that the rank has more kernels to run, not slower ones.
static bool has_more_work(const struct run_case *the_case, int64_t rank)
{
    const struct table *lateness = report_find(the_case->report, "lateness");
    for (size_t i = 0; lateness && i < lateness->row_count; i++)
        if (table_cell(lateness, i, "rank")->i == rank)
            return run_cell_is(lateness, i, "reason", STR("more_work"));
    return false;
}

static bool check_kernels(const struct run_case *the_case, bool *fires, struct finding *finding,
                          struct err *err)
{
    const struct table *kernels = report_find(the_case->report, "kernels");
    struct rank_kernels most = {.rank = -1};
    if (!kernels)
        return true;
    int64_t straggler, straggler_ns;
    if (!find_rank(the_case, kernels, &most, err) ||
        !run_find_straggler(the_case, &straggler, &straggler_ns, err))
        return false;
    finding->cost_ns = most.excess_ns / the_case->all_steps;
    // That a rank is waited for comes first; why it is late explains no more than that.
    if (straggler_ns > 0 && straggler == most.rank && finding->cost_ns > straggler_ns)
        finding->cost_ns = straggler_ns;
    *fires = run_costs(the_case, finding->cost_ns, FINDING_RANK_KERNELS_SHARE) &&
             !has_more_work(the_case, most.rank);
    if (!*fires)
        return true;
    // Other ranks see it as waiting.
    finding->bars = most.rank == the_case->headline ? RUN_BARS_COMPUTE : RUN_BARS_COMM;
    struct str name = table_cell(kernels, most.worst, "name")->s;
    struct str shown = {name.at, name.len < 64 ? name.len : 64};
    struct evidence evidence = {0};
    finding->confidence = "medium";
    finding->subject = finding->ranks = arena_printf(the_case->arena, err, "%" PRId64, most.rank);
    finding->title =
        arena_printf(the_case->arena, err,
                     "%zu kernel%s slower on rank %" PRId64 " than on the median rank: "
                     "%s per step (%.1f %%)",
                     most.kernels, most.kernels == 1 ? " runs" : "s run", most.rank,
                     time_text(finding->cost_ns).text, run_percent(the_case, finding->cost_ns));
    evidence_add(&evidence, href_of_kernel(name).text,
                 "most in %.*s: %s in the whole trace there, "
                 "%s on the median rank",
                 (int)shown.len, shown.at,
                 time_text(run_cell_i64(kernels, most.worst, "rank_max_ns", 0)).text,
                 time_text(run_cell_i64(kernels, most.worst, "rank_median_ns", 0)).text);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->subject && finding->title && finding->evidence;
}

static const struct finding_rule rank_kernels = {
    .name = "slow_rank_kernels",
    .why = "The same kernels take longer on this rank than on the others: lower clocks, a power or "
           "temperature limit, a damaged device or another process on it.",
    .advice = "Look at clocks, power, temperature and errors of that device; take it out of the "
              "job when it stays slow.",
    .method =
        "Compute kernels that every rank runs and that take 1.1 times the median rank's "
        "total on their slowest rank: what they take beyond it, summed over the kernels of "
        "one rank, divided by the steps; reported from 1 % of the step. Of a rank with more steps "
        "than the headline rank as many count. Embeddings and experts are left out: their work "
        "depends on what they are given.",
    .false_alarms = "A rank that runs them more often has more work, not slower kernels.",
};

const struct run_rule finding_run_rank_kernels = {
    .about = &rank_kernels,
    .check = check_kernels,
    .bars = RUN_BARS_COMM,
};
