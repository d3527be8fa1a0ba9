// SPDX-License-Identifier: Apache-2.0
// Ranks that take longer for the same work: the same kernels at the same grid and shapes.
#include "analysis/run/findings_run.h"
#include "analysis/stats/sort.h"
#include "analysis/stats/stats.h"
#include "ingest/base/search.h"

#include <inttypes.h>

#define AS_SLOW 0.6 // of the slowest rank's extra time: those have one cause

const struct rank_rate *run_slow_rate(const struct run_case *the_case, int64_t rank)
{
    uint32_t count = the_case->rates ? (uint32_t)the_case->ranks : 0;
    uint32_t at =
        count_below_i64(FIRST_OF(the_case->rates, rank), count, sizeof *the_case->rates, rank);
    bool found = at < count && the_case->rates[at].rank == rank && the_case->rates[at].slow;
    return found ? &the_case->rates[at] : NULL;
}

// Ranks about as slow as the slowest one.
struct slow_ranks {
    struct run_late set; // its ranks, count, list and cost
    const struct rank_rate *slowest;
    size_t others; // slow, but less so
    double ratio;  // the smallest of theirs
};

static const struct rank_rate *find_slowest(const struct run_case *the_case)
{
    const struct rank_rate *slowest = NULL;
    for (size_t i = 0; the_case->rates && i < the_case->ranks; i++)
        if (the_case->rates[i].slow && (!slowest || the_case->rates[i].ratio > slowest->ratio))
            slowest = &the_case->rates[i];
    return slowest;
}

// Their cost is the lower median of their extra time.
static bool find_slow(const struct run_case *the_case, struct slow_ranks *slow, struct err *err)
{
    int64_t *ranks = arena_room(the_case->arena, the_case->ranks, sizeof *ranks, err);
    int64_t *costs = arena_room(the_case->arena, 2 * the_case->ranks, sizeof *costs, err);
    if (!ranks || !costs)
        return false;
    double least = 1 + AS_SLOW * (slow->slowest->ratio - 1);
    slow->ratio = slow->slowest->ratio;
    for (size_t i = 0; i < the_case->ranks; i++) {
        const struct rank_rate *rate = &the_case->rates[i];
        slow->others += rate->slow && rate->ratio < least;
        if (!rate->slow || rate->ratio < least)
            continue;
        ranks[slow->set.count] = rate->rank;
        costs[slow->set.count++] = rate->slow_ns;
        slow->ratio = rate->ratio < slow->ratio ? rate->ratio : slow->ratio;
    }
    sort_i64(costs, costs + the_case->ranks, slow->set.count);
    slow->set.ranks = ranks;
    slow->set.cost_ns = stats_median(costs, slow->set.count);
    slow->set.list = number_list(ranks, slow->set.count, the_case->arena, err);
    return slow->set.list != NULL;
}

static void add_evidence(const struct slow_ranks *slow, struct evidence *evidence)
{
    const struct rank_rate *rate = slow->slowest;
    struct str shown = {rate->kernel.at, rate->kernel.len < 64 ? rate->kernel.len : 64};
    evidence_add(evidence, "ranks",
                 "rank %" PRId64 ": %s kernels take longer; its time for the work shared with the "
                 "others is %.2f times theirs",
                 rate->rank, count_text(rate->kernels).text, rate->ratio);
    evidence_add(evidence, href_of_kernel(rate->kernel).text,
                 "most in %.*s: %s per call there, %s elsewhere", (int)shown.len, shown.at,
                 time_text(rate->call_ns).text, time_text(rate->usual_ns).text);
    if (!rate->sure)
        evidence_add(evidence, "recording",
                     "neither grids nor shapes are recorded: equal work is inferred from equal "
                     "names and numbers of calls");
    if (slow->others)
        evidence_add(evidence, "ranks", "%zu more rank%s slow, but less so", slow->others,
                     slow->others > 1 ? "s are" : " is");
}

static bool tell(const struct run_case *the_case, const struct slow_ranks *slow,
                 struct finding *finding, struct err *err)
{
    struct evidence evidence = {0};
    const char *place;
    if (!run_common_place(the_case, &slow->set, &place, err))
        return false;
    finding->confidence = slow->slowest->sure ? "high" : "low";
    finding->subject = finding->ranks = slow->set.list;
    finding->title = arena_printf(
        the_case->arena, err,
        "kernels take %.0f %% longer on rank%s %s%s than for the same work elsewhere: %s %s "
        "(%.1f %%)",
        100 * (slow->ratio - 1), slow->set.count > 1 ? "s" : "", slow->set.list, place,
        time_text(finding->cost_ns).text, the_case->per, run_percent(the_case, finding->cost_ns));
    add_evidence(slow, &evidence);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static bool check_rates(const struct run_case *the_case, bool *fires, struct finding *finding,
                        struct err *err)
{
    struct slow_ranks slow = {.slowest = find_slowest(the_case)};
    struct run_late late;
    if (!slow.slowest)
        return true;
    if (!find_slow(the_case, &slow, err) || !run_find_late(the_case, &late, err))
        return false;
    // Being waited for comes first; the reason for the lateness explains no more than that.
    finding->cost_ns = slow.set.cost_ns;
    if (late.cost_ns > 0 && run_late_has(&late, slow.slowest->rank)) {
        finding->cost_ns = finding->cost_ns < late.cost_ns ? finding->cost_ns : late.cost_ns;
        finding->explained_by = "straggler";
    }
    *fires = run_costs(the_case, finding->cost_ns, FINDING_RANK_KERNELS_SHARE);
    // Other ranks see it as waiting.
    finding->bars = run_late_has(&slow.set, the_case->headline) ? RUN_BARS_COMPUTE : RUN_BARS_COMM;
    return !*fires || tell(the_case, &slow, finding, err);
}

static const struct finding_rule rates_rule = {
    .name = "slow_rank_kernels",
    .why = "The same kernels take longer there at the same grid and shapes: lower clocks, a power "
           "or temperature limit, error correction, another process, or a worse slot in the node.",
    .advice = "Check clocks, power and temperature limits, ECC errors, placement and other "
              "processes on these devices; run a matrix-product (GEMM) test and a link test there "
              "and on another device, and compare.",
    .method =
        "Time per call of compute kernels with equal name, grid, block, and shapes and types of "
        "their operator's inputs, over the steady steps, against the median of the ranks that are "
        "equally fast; attention, embeddings, experts and grouped products are ignored because "
        "their time also depends on input values. Reported for ranks that take 5 % longer in at "
        "least two kernels and in half of that time, clearly apart from the others, at a cost of 1 "
        "% of the step. Cost: the extra time per steady step, the lower median over these ranks.",
    .false_alarms = "Kernels that overlap communication are slower; ranks with more overlap are "
                    "slower without a device fault.",
    .change = "balanced",
};

const struct run_rule finding_run_rates = {
    .about = &rates_rule,
    .check = check_rates,
    .bars = RUN_BARS_COMM,
};
