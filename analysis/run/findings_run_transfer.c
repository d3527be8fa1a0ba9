// SPDX-License-Identifier: Apache-2.0
// Rules about the cost of transferring data once all ranks of a collective have arrived.
#include "analysis/run/findings_run.h"
#include "analysis/report/tables.h"
#include "analysis/ranks/run_links.h"

// Exposed transfer of a row per rank and step.
static double exposed_ns(const struct run_case *the_case, const struct table *waits, size_t row)
{
    const struct cell *list = table_cell(waits, row, RUN_COMM_WAITS_RANKS);
    int64_t ranks = list->null ? 0 : run_list_count(list->s);
    if (ranks <= 0 || (size_t)ranks > the_case->ranks)
        ranks = (int64_t)the_case->ranks;
    return (double)table_i64(waits, row, RUN_COMM_WAITS_EXPOSED_TRANSFER_NS, 0) /
           (double)(ranks * the_case->steps);
}

// The table of collectives, filtered to a row's group and kind.
static struct href_text href_of_row(const struct table *waits, size_t row)
{
    struct href_text href = href_to("comm_waits");
    const struct cell *group = table_cell(waits, row, RUN_COMM_WAITS_PROCESS_GROUP);
    const struct cell *kind = table_cell(waits, row, RUN_COMM_WAITS_KIND);
    if (!group->null)
        href_add(&href, "process_group", group->s);
    if (!kind->null)
        href_add(&href, "kind", kind->s);
    return href;
}

// The kind of a row's collectives as a word.
static const char *kind_of(const struct table *waits, size_t row)
{
    const struct cell *kind = table_cell(waits, row, RUN_COMM_WAITS_KIND);
    return kind->null ? "unknown" : kind->s.at;
}

// --- a slow link ---------------------------------------------------------------------------------

static bool tell_link(const struct run_case *the_case, struct finding *finding, struct err *err)
{
    const struct run_links *links = the_case->links;
    const struct slow_link *link = &links->links[0];
    const char *kind = bandwidth_kind_word(link->kind);
    struct href_text href = href_to("comm_waits");
    struct evidence evidence = {0};
    href_add(&href, "process_group", link->group->name);
    href_add(&href, "kind", str_of(kind));
    finding->confidence = "medium";
    finding->ranks = finding->subject = links->list;
    finding->title = arena_printf(
        the_case->arena, err,
        "ranks %s move data %.1f times slower than groups like theirs: %s %s "
        "(%.1f %%)",
        links->list, (double)link->transfer_ns / (double)link->usual_ns,
        time_text(finding->cost_ns).text, the_case->per, run_percent(the_case, finding->cost_ns));
    evidence_add(&evidence, href.text, "%s of %s bytes: median transfer %s, %s in the median group",
                 kind, count_text(link->bytes).text, time_text(link->transfer_ns).text,
                 time_text(link->usual_ns).text);
    evidence_add(&evidence, "comm_waits", "%u group%s as slow", links->group_count,
                 links->group_count == 1 ? " is" : "s are");
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static bool check_link(const struct run_case *the_case, bool *fires, struct finding *finding,
                       struct err *err)
{
    const struct run_links *links = the_case->links;
    finding->cost_ns = links && links->count ? links->cost_ns : 0;
    *fires = run_costs(the_case, finding->cost_ns, FINDING_SLOW_LINK_SHARE);
    return !*fires || tell_link(the_case, finding, err);
}

static const struct finding_rule link_rule = {
    .name = "slow_link",
    .why = "All ranks of the group had started, and still the transfer took longer than the same "
           "collective in other groups of the same kind: a cable, switch port or adapter between "
           "them is slow or shared.",
    .advice = "Test the links between the nodes of these ranks (nccl-tests or rccl-tests on pairs "
              "of nodes, ibdiagnet, error counters), and check for other traffic.",
    .method =
        "Median transfer per collective (duration after the last rank's start) of groups with the "
        "same kind, type, bytes, size and span; slow from 1.5 times the median group, when fewer "
        "than half of them are. Cost: exposed transfer time of each call beyond that of the median "
        "group, per steady step of the most affected rank; reported from 1 % of the step.",
    .false_alarms = "Groups of the same span may still cross different switches.",
};

const struct run_rule finding_run_slow_link = {
    .about = &link_rule,
    .check = check_link,
    .bars = RUN_BARS_MOVE,
};

// --- small messages ------------------------------------------------------------------------------

// Best algorithm bandwidth of a row, in bytes per ns.
static double best_bandwidth(const struct table *waits)
{
    double best = 0;
    for (size_t i = 0; i < waits->row_count; i++) {
        double gbps = table_f64(waits, i, RUN_COMM_WAITS_ALGO_GBPS, 0);
        best = gbps > best ? gbps : best;
    }
    return best;
}

struct small {
    double calls, cost_ns, exposed_ns; // per rank and step
};

static struct small sum_small(const struct run_case *the_case, const struct table *waits)
{
    struct small sum = {0};
    double best = best_bandwidth(waits), all = (double)the_case->ranks * (double)the_case->steps;
    for (size_t i = 0; i < waits->row_count; i++) {
        const struct cell *list = table_cell(waits, i, RUN_COMM_WAITS_RANKS);
        int64_t bytes = table_i64(waits, i, RUN_COMM_WAITS_BYTES, -1);
        int64_t transfer_ns = table_i64(waits, i, RUN_COMM_WAITS_TRANSFER_MEDIAN_NS, 0);
        if (bytes < 0 || bytes >= FINDING_SMALL_BYTES || transfer_ns <= 0 || best <= 0)
            continue;
        double ideal = (double)bytes / best / (double)transfer_ns;
        double ranks = list->null ? 0 : (double)run_list_count(list->s);
        double part = (double)table_i64(waits, i, RUN_COMM_WAITS_EXPOSED_TRANSFER_NS, 0) / all;
        sum.calls += (double)table_i64(waits, i, RUN_COMM_WAITS_CALLS, 0) * ranks / all;
        sum.exposed_ns += part;
        sum.cost_ns += part * (ideal < 1 ? 1 - ideal : 0);
    }
    return sum;
}

static bool check_small(const struct run_case *the_case, bool *fires, struct finding *finding,
                        struct err *err)
{
    const struct table *waits = report_find(the_case->report, "comm_waits");
    if (!waits)
        return true;
    struct small sum = sum_small(the_case, waits);
    finding->cost_ns = (int64_t)sum.cost_ns;
    *fires = sum.calls >= FINDING_SMALL_CALLS &&
             run_costs(the_case, finding->cost_ns, FINDING_SMALL_SHARE);
    if (!*fires)
        return true;
    finding->confidence = "medium";
    finding->title =
        arena_printf(the_case->arena, err, "%s small messages %s cost %s (%.1f %%)",
                     mean_text(sum.calls, 0).text, the_case->per, time_text(finding->cost_ns).text,
                     run_percent(the_case, finding->cost_ns));
    struct evidence evidence = {0};
    evidence_add(&evidence, "comm_waits",
                 "collectives under 1 MB take %s of exposed transfer %s; at the best bandwidth of "
                 "the job %s would do",
                 time_text((int64_t)sum.exposed_ns).text, the_case->per,
                 time_text((int64_t)(sum.exposed_ns - sum.cost_ns)).text);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static const struct finding_rule small_messages = {
    .name = "small_messages",
    .why = "A collective takes several microseconds however little it moves; many small ones are "
           "bound by latency instead of bandwidth.",
    .advice = "Send fewer and larger ones: bigger buckets (bucket_cap_mb), fewer FSDP units, "
              "coalesced collectives, tensor parallelism within a node only.",
    .method = "Exposed transfer of collectives under 1 MB per rank and steady step, minus the time "
              "their bytes would take at the best bandwidth of the job; reported when there are 20 "
              "per step, costing 2 % of it.",
    .false_alarms = "Small results that are needed at once, as in tensor-parallel decoding.",
};

const struct run_rule finding_run_small_messages = {
    .about = &small_messages,
    .check = check_small,
    .bars = RUN_BARS_MOVE,
};

// --- in general ----------------------------------------------------------------------------------

// The row with most exposed transfer per rank; the row count if none.
static size_t find_most(const struct run_case *the_case, const struct table *waits)
{
    double most_ns = 0;
    size_t most = waits ? waits->row_count : 0;
    for (size_t i = 0; waits && i < waits->row_count; i++) {
        double ns = exposed_ns(the_case, waits, i);
        if (ns <= most_ns)
            continue;
        most_ns = ns;
        most = i;
    }
    return most;
}

// Why transfers may be waits after all; NULL if they are not.
static const char *doubt_of(const struct run_case *the_case, const struct table *waits)
{
    int64_t matched = 0, unmatched = 0;
    for (size_t i = 0; waits && i < waits->row_count; i++) {
        int64_t size = table_i64(waits, i, RUN_COMM_WAITS_GROUP_SIZE, 1);
        matched += table_i64(waits, i, RUN_COMM_WAITS_CALLS, 0) * (size < 1 ? 1 : size);
        unmatched += table_i64(waits, i, RUN_COMM_WAITS_UNMATCHED_CALLS, 0);
    }
    if (run_missing_ranks(the_case) > 0)
        return "; some of it may be waits for ranks without a trace";
    return unmatched > matched ? "; most calls have no match, so their waits are unknown" : NULL;
}

static void tell_most(const struct run_case *the_case, const struct table *waits, size_t row,
                      struct evidence *evidence)
{
    struct href_text href = href_of_row(waits, row);
    struct time_text time = time_text((int64_t)exposed_ns(the_case, waits, row));
    if (table_cell(waits, row, RUN_COMM_WAITS_BYTES)->null ||
        table_cell(waits, row, RUN_COMM_WAITS_BUS_GBPS)->null)
        evidence_add(evidence, href.text,
                     "most in %s, whose size is not recorded: %s %s on each rank",
                     kind_of(waits, row), time.text, the_case->per);
    else
        evidence_add(
            evidence, href.text, "most in %s of %s bytes: %s %s on each rank, %.0f GB/s on the bus",
            kind_of(waits, row), count_text(table_i64(waits, row, RUN_COMM_WAITS_BYTES, 0)).text,
            time.text, the_case->per, table_f64(waits, row, RUN_COMM_WAITS_BUS_GBPS, 0));
}

static bool check_transfer(const struct run_case *the_case, bool *fires, struct finding *finding,
                           struct err *err)
{
    const struct table *waits = report_find(the_case->report, "comm_waits");
    if (!run_rank_median(the_case, RUN_RANKS_EXPOSED_TRANSFER_NS, RUN_RANKS_ALL, &finding->cost_ns,
                         err))
        return false;
    *fires = run_costs(the_case, finding->cost_ns, FINDING_RUN_TRANSFER_SHARE);
    if (!*fires)
        return true;
    struct evidence evidence = {0};
    size_t most = find_most(the_case, waits);
    const char *doubt = doubt_of(the_case, waits);
    finding->confidence = doubt ? "low" : "high";
    finding->title = arena_printf(
        the_case->arena, err, "%s of data transfer %s is not hidden by compute (%.1f %%)",
        time_text(finding->cost_ns).text, the_case->per, run_percent(the_case, finding->cost_ns));
    evidence_add(&evidence, "comm_waits", "exposed communication after the last rank started%s",
                 doubt ? doubt : "");
    if (waits && most < waits->row_count)
        tell_most(the_case, waits, most, &evidence);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static const struct finding_rule transfer = {
    .name = "exposed_transfer",
    .why = "All ranks have arrived and data moves, but the devices compute nothing.",
    .advice = "Overlap it with compute (gradient buckets, prefetched parameters, asynchronous "
              "tensor parallelism), move less (lower precision on the wire, sharding within a "
              "node), or check whether the links reach their bandwidth.",
    .method = "Lower median over the ranks of the exposed communication per steady step after the "
              "last rank of the collective started; reported from 5 % of the step.",
    .false_alarms = "Collectives whose result is needed at once (tensor parallelism) cannot be "
                    "hidden without splitting the work. Waits for ranks without a trace, and in "
                    "calls without a match, count as transfer.",
    .change = "infinite_network",
};

const struct run_rule finding_run_transfer = {
    .about = &transfer,
    .check = check_transfer,
    .bars = RUN_BARS_MOVE,
};

// --- overlap -------------------------------------------------------------------------------------

// What the headline rank's trace says could be hidden, as far as that is no wait. No step gets
// shorter than what any rank does besides communication.
static int64_t overlap_ns(const struct run_case *the_case, size_t own_row)
{
    const struct table *ranks = report_find(the_case->report, "ranks");
    int64_t most_ns = table_i64(the_case->own, own_row, FINDINGS_COST_NS, 0);
    int64_t transfer_ns = run_rank_i64(the_case, RUN_RANKS_EXPOSED_TRANSFER_NS, the_case->headline);
    int64_t free_ns = (int64_t)((double)transfer_ns * run_overlap_share(the_case));
    most_ns = free_ns < most_ns ? free_ns : most_ns;
    for (size_t i = 0; ranks && i < ranks->row_count; i++) {
        int64_t exposed = table_i64(ranks, i, RUN_RANKS_EXPOSED_COMM_NS, most_ns);
        most_ns = exposed < most_ns ? exposed : most_ns;
    }
    return most_ns;
}

static const char *own_text(const struct run_case *the_case, size_t row, unsigned column)
{
    const struct cell *cell = table_cell(the_case->own, row, column);
    return cell->null ? NULL : cell->s.at;
}

// Without a split in waits and transfers it costs nothing here, and the trace's own counts.
static bool check_overlap(const struct run_case *the_case, bool *fires, struct finding *finding,
                          struct err *err)
{
    const struct table *own = the_case->own;
    struct evidence evidence = {0};
    size_t row = 0, rows = own ? own->row_count : 0;
    while (row < rows && !table_is(own, row, FINDINGS_RULE, str_of(finding_low_overlap.name)))
        row++;
    finding->cost_ns = row < rows ? overlap_ns(the_case, row) : 0;
    *fires = run_costs(the_case, finding->cost_ns, FINDING_OVERLAP_COMM);
    if (!*fires)
        return true;
    finding->confidence = own_text(the_case, row, FINDINGS_CONFIDENCE);
    finding->advice = own_text(the_case, row, FINDINGS_ADVICE);
    finding->title = arena_printf(
        the_case->arena, err, "%s of data transfer %s could be hidden by compute (%.1f %%)",
        time_text(finding->cost_ns).text, the_case->per, run_percent(the_case, finding->cost_ns));
    evidence_add(&evidence, "comm_waits",
                 "exposed communication after the last rank started, where compute does not need "
                 "the result at once");
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

const struct run_rule finding_run_overlap = {
    .about = &finding_low_overlap,
    .check = check_overlap,
    .bars = RUN_BARS_MOVE,
};
