// SPDX-License-Identifier: Apache-2.0
// Rules about ranks that wait for each other: for one, or in general.
#include "analysis/run/findings_run.h"

#include "analysis/report/tables.h"
#include <inttypes.h>

// The text for each reason why ranks are late, and where that time is in their own step.
static const struct reason {
    const char *word, *because, *because_all, *advice;
    unsigned bars;
} reasons[] = {
    {"compute_slower", "its kernels take longer for the same work than elsewhere",
     "their kernels take longer for the same work than elsewhere",
     "Check clocks, power and temperature limits, ECC errors, placement and other processes there, "
     "and run a matrix-product (GEMM) test and a link test there and on another device.",
     RUN_BARS_COMPUTE},
    {"more_work", "it has more to compute than the others",
     "they have more to compute than the others",
     "Spread the work evenly: samples of equal length, balanced stages and experts.",
     RUN_BARS_COMPUTE},
    {"data_loading", "it waits for data", "they wait for data",
     "Check the loader there and its disk or network: more workers, prefetch, faster storage.",
     RUN_BARS_IDLE},
    {"host", "its host is late to launch", "their hosts are late to launch",
     "Check the CPUs there: other processes, cores and memory bound to the wrong socket, logging "
     "or checkpoints that only some ranks write.",
     RUN_BARS_IDLE},
    {"copies", "it spends longer on copies", "they spend longer on copies",
     "Check what is copied there, and the link to the device.", 1u << BAR_EXPOSED_MEMORY},
};

static const struct reason *reason_of(const struct run_late *late)
{
    const struct cell *word =
        late->part > 0 ? table_cell(late->lateness, late->row, RUN_LATENESS_REASON) : NULL;
    for (size_t i = 0; word && !word->null && i < sizeof reasons / sizeof *reasons; i++)
        if (str_equal(word->s, str_of(reasons[i].word)))
            return &reasons[i];
    return NULL;
}

static const char *because_of(const struct run_late *late)
{
    const struct reason *reason = reason_of(late);
    return !reason           ? "for no recorded reason"
           : late->count > 1 ? reason->because_all
                             : reason->because;
}

// Exposed wait per step in collectives of a median rank.
static bool exposed_wait(const struct run_case *the_case, int64_t *wait_ns, struct err *err)
{
    if (!run_rank_median(the_case, RUN_RANKS_EXPOSED_WAIT_NS, RUN_RANKS_ALL, wait_ns, err))
        return false;
    *wait_ns = (int64_t)((double)*wait_ns * run_collective_share(the_case));
    return true;
}

// --- late ranks ----------------------------------------------------------------------------------

static void add_lateness(const struct run_late *late, struct evidence *evidence)
{
    int64_t calls = table_i64(late->lateness, late->row, RUN_LATENESS_CALLS, 0), last = 0;
    for (size_t i = 0; i < late->lateness->row_count; i++)
        if (run_late_has(late, table_cell(late->lateness, i, RUN_LATENESS_RANK)->i))
            last += table_i64(late->lateness, i, RUN_LATENESS_LATE_CALLS, 0);
    if (late->count > 1)
        evidence_add(evidence, "lateness",
                     "one of these %zu ranks is the last to start in %s collectives; together they "
                     "cause %.0f %% of all waits",
                     late->count, count_text(last).text, 100 * late->part);
    else
        evidence_add(
            evidence, "lateness",
            "it is the last to start in %s of %s collectives and causes %.0f %% of all waits",
            count_text(last).text, count_text(calls).text, 100 * late->part);
}

static void add_why(const struct run_late *late, struct evidence *evidence)
{
    int64_t rank = table_cell(late->lateness, late->row, RUN_LATENESS_RANK)->i;
    double share = table_f64(late->lateness, late->row, RUN_LATENESS_REASON_SHARE, 0);
    struct href_text steps = href_to("rank_steps"), timeline = href_to("timeline");
    href_add_rank(&steps, rank);
    href_add_rank(&timeline, rank);
    if (reason_of(late) && late->count > 1)
        evidence_add(evidence, steps.text,
                     "%s: this explains %.0f %% of the lateness of rank %" PRId64, because_of(late),
                     100 * share, rank);
    else if (reason_of(late))
        evidence_add(evidence, steps.text, "%s: this explains %.0f %% of its lateness",
                     because_of(late), 100 * share);
    evidence_add(evidence, timeline.text, "rank %" PRId64 " in time", rank);
}

// ", in save_checkpoint" if the host of the rank whose reason is given for all is in a range of the
// user's; "" otherwise.
static bool find_range(const struct run_case *the_case, const struct run_late *late,
                       const char **within, struct err *err)
{
    struct str range = {NULL, 0};
    int64_t rank = table_cell(late->lateness, late->row, RUN_LATENESS_RANK)->i;
    const struct reason *reason = reason_of(late);
    *within = "";
    if (!reason || strcmp(reason->word, "host") != 0)
        return true;
    if (!run_late_range(the_case, rank, late->cost_ns, &range, err))
        return false;
    range.len = str_valid_utf8((struct str){range.at, range.len < 64 ? range.len : 64});
    if (range.len)
        *within = arena_printf(the_case->arena, err, ", in %.*s", (int)range.len, range.at);
    return *within != NULL;
}

static bool tell_straggler(const struct run_case *the_case, const struct run_late *late,
                           struct finding *finding, struct err *err)
{
    const struct reason *reason = reason_of(late);
    struct evidence evidence = {0};
    const char *place, *within;
    if (!run_common_place(the_case, late, &place, err) || !find_range(the_case, late, &within, err))
        return false;
    double share = table_f64(late->lateness, late->row, RUN_LATENESS_REASON_SHARE, 0);
    finding->confidence = reason && share >= 0.5 ? "high" : "medium";
    finding->advice = reason ? reason->advice : NULL;
    finding->subject = finding->ranks = late->list;
    finding->title = arena_printf(
        the_case->arena, err, "the other ranks wait %s %s for rank%s %s%s (%.1f %%): %s%s",
        time_text(finding->cost_ns).text, the_case->per, late->count > 1 ? "s" : "", late->list,
        place, run_percent(the_case, finding->cost_ns), because_of(late), within);
    add_lateness(late, &evidence);
    add_why(late, &evidence);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static bool check_straggler(const struct run_case *the_case, bool *fires, struct finding *finding,
                            struct err *err)
{
    struct run_late late;
    if (!run_find_late(the_case, &late, err))
        return false;
    finding->cost_ns = late.cost_ns;
    *fires = finding->cost_ns > 0;
    // A late rank waits for nobody: the time is in its own step, where it is late.
    const struct reason *reason = reason_of(&late);
    if (run_late_has(&late, the_case->headline))
        finding->bars = reason ? reason->bars : RUN_BARS_ALL;
    return !*fires || tell_straggler(the_case, &late, finding, err);
}

static const struct finding_rule straggler = {
    .name = "straggler",
    .why = "A collective cannot finish before its last rank arrives; until then the devices of all "
           "others idle in it.",
    .advice = "Compare the timeline of that rank with another one before the collective in which "
              "it is late.",
    .method = "Clocks are aligned by the ends of collectives. Waits are attributed to the rank "
              "that starts last, unless it was waiting elsewhere itself. Ranks that all have "
              "clearly less exposed communication than the others are late together. Cost: lower "
              "median of the other ranks' exposed communication per steady step (of their stage, "
              "in a pipeline) minus the smallest of the late ones; reported when they cause half "
              "of all waits and the cost is 2 % of the step.",
    .false_alarms =
        "A rank with more work by design, such as the first or last stage of a pipeline.",
    .change = "balanced",
};

const struct run_rule finding_run_straggler = {
    .about = &straggler,
    .check = check_straggler,
    .bars = RUN_BARS_COMM,
};

// --- in general ----------------------------------------------------------------------------------

static bool check_wait(const struct run_case *the_case, bool *fires, struct finding *finding,
                       struct err *err)
{
    struct run_late late;
    if (!exposed_wait(the_case, &finding->cost_ns, err) || !run_find_late(the_case, &late, err))
        return false;
    finding->cost_ns -= late.cost_ns;
    *fires = run_costs(the_case, finding->cost_ns, FINDING_RUN_WAIT_SHARE);
    if (!*fires)
        return true;
    struct evidence evidence = {0};
    finding->confidence = "high";
    finding->title = arena_printf(
        the_case->arena, err, "ranks wait %s %s for others in collectives (%.1f %%)",
        time_text(finding->cost_ns).text, the_case->per, run_percent(the_case, finding->cost_ns));
    if (late.part > 0)
        evidence_add(&evidence, "lateness", "most for rank%s %s, which cause%s %.0f %%%s%s",
                     late.count > 1 ? "s" : "", late.list, late.count > 1 ? "" : "s",
                     100 * late.part, reason_of(&late) ? ": " : "",
                     reason_of(&late) ? because_of(&late) : "");
    evidence_add(&evidence, "comm_waits", "exposed communication before the last rank started");
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static const struct finding_rule wait = {
    .name = "exposed_wait",
    .why = "Time in collectives is spent waiting for later ranks, not on the network; a faster "
           "network would not help.",
    .advice = "Find out why ranks arrive at different times: the rank named in the evidence, "
              "uneven work, jitter of hosts and loaders. See the map of ranks by steps.",
    .method = "Lower median over the ranks of the exposed communication per steady step before the "
              "last rank of the collective started, without sends and receives and the cost of "
              "stragglers; reported from 3 % of the step.",
    .false_alarms =
        "Poorly aligned clocks (see clocks), which shift time between wait and transfer.",
    .change = "balanced",
};

const struct run_rule finding_run_wait = {
    .about = &wait,
    .check = check_wait,
    .bars = RUN_BARS_WAIT,
};
