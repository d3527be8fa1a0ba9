// SPDX-License-Identifier: Apache-2.0
// Rules about ranks that wait for each other: for one, or in general.
#include "analysis/findings_run.h"

#include <inttypes.h>

// What people are told of each reason why a rank is late, and where its own step has that time.
static const struct reason {
    const char *word, *because, *advice;
    unsigned bars;
} reasons[] = {
    {"compute_slower", "its kernels take longer than the same ones elsewhere",
     "Look at that device: clocks, power and temperature limits, ECC errors, another process on "
     "it; compare its kernels with those of the other ranks, and move the job off it if it stays "
     "slow.",
     RUN_BARS_COMPUTE},
    {"more_work", "it has more to compute than the others",
     "Share the work out evenly: samples of equal length, balanced stages and experts.",
     RUN_BARS_COMPUTE},
    {"data_loading", "it waits for data",
     "Look at that rank's loader and its disk or network: more workers, prefetch, the same shards "
     "on faster storage.",
     RUN_BARS_IDLE},
    {"host", "its host is late to launch",
     "Look at that machine's processors: other processes, cores and memory bound to the wrong "
     "socket, logging or checkpoints that one rank alone writes.",
     RUN_BARS_IDLE},
    {"copies", "it copies memory for longer",
     "Look at what that rank copies, and at the link to its device.", 1u << BAR_EXPOSED_MEMORY},
};

static const struct reason *reason_of(struct str word)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (str_equal(word, str_of(reasons[i].word)))
            return &reasons[i];
    return NULL;
}

// Who others wait for, without those that had waited elsewhere themselves.
struct blame {
    const struct table *lateness;
    size_t row; // of the rank that causes most
    int64_t rank;
    double part;                 // of all waits that it causes, 0 when there are none
    const struct reason *reason; // NULL: not known
};

static struct blame find_blame(const struct run_case *the_case)
{
    struct blame blame = {.lateness = report_find(the_case->report, "lateness")};
    double most_ns = 0, all_ns = 0;
    for (size_t i = 0; blame.lateness && i < blame.lateness->row_count; i++) {
        double caused_ns = (double)run_cell_i64(blame.lateness, i, "caused_wait_ns", 0);
        if (run_cell_is(blame.lateness, i, "reason", STR("communication")))
            continue;
        all_ns += caused_ns;
        if (caused_ns <= most_ns)
            continue;
        most_ns = caused_ns;
        blame.row = i;
    }
    if (most_ns <= 0)
        return blame;
    const struct cell *reason = table_cell(blame.lateness, blame.row, "reason");
    blame.rank = table_cell(blame.lateness, blame.row, "rank")->i;
    blame.part = most_ns / all_ns;
    blame.reason = reason->null ? NULL : reason_of(reason->s);
    return blame;
}

// Exposed wait per step in collectives of a rank in the middle.
static bool exposed_wait(const struct run_case *the_case, int64_t *wait_ns, struct err *err)
{
    if (!run_rank_median(the_case, "exposed_wait_ns", RUN_RANKS_ALL, wait_ns, err))
        return false;
    *wait_ns = (int64_t)((double)*wait_ns * run_collective_share(the_case));
    return true;
}

// Ranks that do the same as the rank: those of its stage, where there is a pipeline.
static struct run_ranks peers_of(const struct run_case *the_case, int64_t rank)
{
    const struct table *pipeline = report_find(the_case->report, "pipeline");
    for (size_t i = 0; pipeline && i < pipeline->row_count; i++) {
        const struct cell *ranks = table_cell(pipeline, i, "ranks");
        if (!ranks->null && run_list_count(ranks->s) > 1 && run_list_has(ranks->s, rank))
            return (struct run_ranks){rank, ranks->s};
    }
    return (struct run_ranks){rank, {NULL, 0}};
}

// ---- one rank
// --------------------------------------------------------------------------------

static bool tell_straggler(const struct run_case *the_case, const struct blame *blame,
                           struct finding *finding, struct err *err)
{
    const struct table *lateness = blame->lateness;
    struct evidence evidence = {0};
    const char *because =
        blame->reason ? blame->reason->because : "for no reason that was recorded";
    double share = run_cell_f64(lateness, blame->row, "reason_share", 0);
    int64_t late = run_cell_i64(lateness, blame->row, "late_calls", 0);
    int64_t calls = run_cell_i64(lateness, blame->row, "calls", 0);
    struct href_text steps = href_to("rank_steps"), timeline = href_to("timeline");
    href_add_number(&steps, "rank", blame->rank);
    href_add_number(&timeline, "rank", blame->rank);
    finding->confidence = blame->reason && share >= 0.5 ? "high" : "medium";
    finding->advice = blame->reason ? blame->reason->advice : NULL;
    finding->subject = arena_printf(the_case->arena, err, "%" PRId64, blame->rank);
    finding->ranks = finding->subject;
    finding->title = arena_printf(
        the_case->arena, err, "the other ranks wait %s per step for rank %" PRId64 " (%.1f %%): %s",
        time_text(finding->cost_ns).text, blame->rank, run_percent(the_case, finding->cost_ns),
        because);
    evidence_add(&evidence, "lateness",
                 "it is the last to begin in %" PRId64 " of %" PRId64
                 " collectives and causes %.0f %% of all waits",
                 late, calls, 100 * blame->part);
    if (blame->reason)
        evidence_add(&evidence, steps.text, "%s: that explains %.0f %% of its lateness", because,
                     100 * share);
    evidence_add(&evidence, timeline.text, "rank %" PRId64 " in time", blame->rank);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->subject && finding->title && finding->evidence;
}

// What one rank costs the others per step; 0 when none stands out. All steps are equally long, so
// what its peers have exposed communication more than itself is what it does longer.
static bool straggler_cost(const struct run_case *the_case, const struct blame *blame,
                           int64_t *cost_ns, struct err *err)
{
    int64_t others_ns, own_ns = run_rank_i64(the_case, "exposed_comm_ns", blame->rank);
    *cost_ns = 0;
    if (blame->part < FINDING_STRAGGLER_PART)
        return true;
    if (!run_rank_median(the_case, "exposed_comm_ns", peers_of(the_case, blame->rank), &others_ns,
                         err))
        return false;
    others_ns -= own_ns;
    *cost_ns = run_costs(the_case, others_ns, FINDING_STRAGGLER_SHARE) ? others_ns : 0;
    return true;
}

bool run_find_straggler(const struct run_case *the_case, int64_t *rank, int64_t *cost_ns,
                        struct err *err)
{
    struct blame blame = find_blame(the_case);
    *rank = blame.rank;
    return straggler_cost(the_case, &blame, cost_ns, err);
}

static bool check_straggler(const struct run_case *the_case, bool *fires, struct finding *finding,
                            struct err *err)
{
    struct blame blame = find_blame(the_case);
    if (!straggler_cost(the_case, &blame, &finding->cost_ns, err))
        return false;
    *fires = finding->cost_ns > 0;
    // The straggler waits for nobody: its own step has the time where it is late.
    if (blame.rank == the_case->headline)
        finding->bars = blame.reason ? blame.reason->bars : RUN_BARS_ALL;
    return !*fires || tell_straggler(the_case, &blame, finding, err);
}

static const struct finding_rule straggler = {
    .name = "straggler",
    .why = "A collective ends when its last rank has come; all others hold their devices idle in "
           "it until then.",
    .advice = "Look at the timeline of that rank beside another one's, before the collective in "
              "which it is late.",
    .method = "Clocks are aligned by the ends of collectives. Waits are blamed on the rank that "
              "begins last, unless it had waited elsewhere itself. Cost: lower median of the other "
              "ranks' exposed communication per steady step (of its stage, in a pipeline) less its "
              "own; reported when it causes half of all waits and the cost is 2 % of the step.",
    .false_alarms = "A rank that has more to do by design, such as the first or last stage of a "
                    "pipeline.",
};

const struct run_rule finding_run_straggler = {
    .about = &straggler,
    .check = check_straggler,
    .bars = RUN_BARS_COMM,
};

// ---- in general
// ------------------------------------------------------------------------------

static bool check_wait(const struct run_case *the_case, bool *fires, struct finding *finding,
                       struct err *err)
{
    struct blame blame = find_blame(the_case);
    int64_t told_ns;
    if (!exposed_wait(the_case, &finding->cost_ns, err) ||
        !straggler_cost(the_case, &blame, &told_ns, err))
        return false;
    finding->cost_ns -= told_ns;
    *fires = run_costs(the_case, finding->cost_ns, FINDING_RUN_WAIT_SHARE);
    if (!*fires)
        return true;
    struct evidence evidence = {0};
    finding->confidence = "high";
    finding->title = arena_printf(
        the_case->arena, err, "ranks wait %s per step for others in collectives (%.1f %%)",
        time_text(finding->cost_ns).text, run_percent(the_case, finding->cost_ns));
    if (blame.part > 0)
        evidence_add(&evidence, "lateness", "most for rank %" PRId64 ", which causes %.0f %%%s%s",
                     blame.rank, 100 * blame.part, blame.reason ? ": " : "",
                     blame.reason ? blame.reason->because : "");
    evidence_add(&evidence, "comm_waits", "exposed communication before the last rank had begun");
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static const struct finding_rule wait = {
    .name = "exposed_wait",
    .why = "Time in collectives is spent waiting for ranks that come later, not on the network; a "
           "faster network would not help.",
    .advice = "Find out why ranks come at different times: the rank named in the evidence, uneven "
              "work, jitter of hosts and loaders. See the map of ranks by steps.",
    .method = "Lower median over the ranks of the exposed communication per steady step in which "
              "the last rank of the collective had not begun, sends and receives and what a "
              "straggler costs left out; reported from 3 % of the step.",
    .false_alarms = "Clocks that could not be aligned well (see clocks) move time between wait and "
                    "transfer.",
};

const struct run_rule finding_run_wait = {
    .about = &wait,
    .check = check_wait,
    .bars = RUN_BARS_WAIT,
};
