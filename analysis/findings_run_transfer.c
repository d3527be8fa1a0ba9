// SPDX-License-Identifier: Apache-2.0
// Rules about what moving data costs once all ranks of a collective are there.
#include "analysis/findings_run.h"
#include "analysis/groups.h"
#include "analysis/sort.h"
#include "analysis/stats.h"

#include <inttypes.h>

// Exposed transfer of a row per rank and step.
static double exposed_ns(const struct run_case *the_case, const struct table *waits, size_t row)
{
    const struct cell *list = table_cell(waits, row, "ranks");
    int64_t ranks = list->null ? 0 : run_list_count(list->s);
    if (ranks <= 0 || (size_t)ranks > the_case->ranks)
        ranks = (int64_t)the_case->ranks;
    return (double)run_cell_i64(waits, row, "exposed_transfer_ns", 0) /
           (double)(ranks * the_case->steps);
}

// The table of collectives, filtered to a row's group and kind.
static struct href_text href_of_row(const struct table *waits, size_t row)
{
    struct href_text href = href_to("comm_waits");
    const struct cell *group = table_cell(waits, row, "process_group");
    const struct cell *kind = table_cell(waits, row, "kind");
    if (!group->null)
        href_add(&href, "process_group", group->s);
    if (!kind->null)
        href_add(&href, "kind", kind->s);
    return href;
}

// The kind of a row's collectives as a word.
static const char *kind_of(const struct table *waits, size_t row)
{
    const struct cell *kind = table_cell(waits, row, "kind");
    return kind->null ? "unknown" : kind->s.at;
}

static uint64_t hash_cell(const struct table *table, size_t row, const char *column, uint64_t seed)
{
    const struct cell *cell = table_cell(table, row, column);
    struct str text = cell->null ? STR("") : cell->s;
    return hash_mix(seed, hash_keyed(HASH_KEY_FIXED, text.at, text.len) | 1);
}

// ---- a slow link
// -----------------------------------------------------------------------------

// Rows of equal collectives, of groups that differ in their ranks only.
struct alike {
    const struct table *waits;
    uint32_t *class_of; // per row
    int64_t *median_ns; // per class: of its rows' median transfers; 0 with one row
    uint32_t classes;
};

// Without a size all_to_all cannot be compared: some groups move more tokens than others.
static bool is_known(const struct table *waits, size_t row)
{
    bool alike = !table_cell(waits, row, "bytes")->null ||
                 !run_cell_is(waits, row, "kind", STR("all_to_all"));
    return alike && run_cell_i64(waits, row, "transfer_median_ns", 0) > 0 &&
           run_cell_i64(waits, row, "calls", 0) > 0;
}

static bool class_rows(const struct run_case *the_case, struct alike *alike, struct err *err)
{
    static const char *const texts[] = {"kind", "dtype", "span", "dimension"};
    struct groups groups;
    groups_init(&groups, the_case->budget);
    bool ok = true;
    for (size_t i = 0; ok && i < alike->waits->row_count; i++) {
        uint64_t key = (uint64_t)run_cell_i64(alike->waits, i, "group_size", -1);
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            key = hash_cell(alike->waits, i, texts[t], key ^ t);
        uint64_t bytes = (uint64_t)run_cell_i64(alike->waits, i, "bytes", -1);
        ok = groups_index(&groups, key, bytes, &alike->class_of[i], err);
    }
    alike->classes = groups.count;
    groups_free(&groups);
    return ok;
}

// Lower median per class: rows sorted by class, then by transfer.
static bool find_medians(const struct run_case *the_case, struct alike *alike, struct err *err)
{
    size_t rows = alike->waits->row_count, count = 0;
    struct keyed *items = arena_room(the_case->arena, 2 * rows + 1, sizeof *items, err);
    alike->median_ns =
        arena_array(the_case->arena, alike->classes + 1, sizeof *alike->median_ns, err);
    if (!items || !alike->median_ns)
        return false;
    for (size_t i = 0; i < rows; i++)
        if (is_known(alike->waits, i))
            items[count++] = (struct keyed){run_cell_i64(alike->waits, i, "transfer_median_ns", 0),
                                            (uint32_t)i, 0};
    sort_keyed(items, items + rows, count);
    for (size_t i = 0; i < count; i++)
        items[i] = (struct keyed){alike->class_of[items[i].a], items[i].a, 0};
    sort_keyed(items, items + rows, count);
    for (size_t first = 0, past; first < count; first = past) {
        for (past = first; past < count && items[past].key == items[first].key;)
            past++;
        size_t middle = first + (past - first - 1) / 2;
        if (past - first > 1)
            alike->median_ns[items[first].key] =
                run_cell_i64(alike->waits, items[middle].a, "transfer_median_ns", 0);
    }
    return true;
}

// How many times the usual a row's transfer takes; 1 when it is not slow.
static double slowness(const struct alike *alike, size_t row)
{
    int64_t usual_ns = alike->median_ns[alike->class_of[row]];
    if (usual_ns <= 0 || !is_known(alike->waits, row))
        return 1;
    double ratio =
        (double)run_cell_i64(alike->waits, row, "transfer_median_ns", 0) / (double)usual_ns;
    return ratio >= FINDING_SLOW_LINK_RATIO ? ratio : 1;
}

// What slow rows cost the rank that they cost most, and the row with most of it.
struct slow_rows {
    double cost_ns, worst_ns;
    size_t row;
    uint32_t groups;
    double *rank_ns; // per row of the table of ranks
};

// A rank takes part in several groups, and has to bear all that are slow.
static void bear(const struct run_case *the_case, struct str list, double cost_ns,
                 struct slow_rows *slow)
{
    const struct table *ranks = report_find(the_case->report, "ranks");
    for (size_t r = 0; ranks && r < ranks->row_count; r++) {
        if (!run_list_has(list, table_cell(ranks, r, "rank")->i))
            continue;
        slow->rank_ns[r] += cost_ns;
        if (slow->rank_ns[r] > slow->cost_ns)
            slow->cost_ns = slow->rank_ns[r];
    }
}

static bool find_slow(const struct run_case *the_case, const struct alike *alike,
                      struct slow_rows *slow, struct err *err)
{
    struct groups groups;
    uint32_t group;
    bool ok = true;
    slow->rank_ns = arena_array(the_case->arena, the_case->ranks + 1, sizeof *slow->rank_ns, err);
    if (!slow->rank_ns)
        return false;
    groups_init(&groups, the_case->budget);
    for (size_t i = 0; ok && i < alike->waits->row_count; i++) {
        const struct cell *list = table_cell(alike->waits, i, "ranks");
        double ratio = slowness(alike, i);
        if (ratio <= 1 || list->null)
            continue;
        double cost_ns = exposed_ns(the_case, alike->waits, i) * (1 - 1 / ratio);
        bear(the_case, list->s, cost_ns, slow);
        if (cost_ns >= slow->worst_ns) {
            slow->worst_ns = cost_ns;
            slow->row = i;
        }
        ok = groups_index(&groups, hash_cell(alike->waits, i, "process_group", 1),
                          hash_cell(alike->waits, i, "ranks", 2), &group, err);
    }
    slow->groups = groups.count;
    groups_free(&groups);
    return ok;
}

static bool tell_link(const struct run_case *the_case, const struct alike *alike,
                      const struct slow_rows *slow, struct finding *finding, struct err *err)
{
    const struct table *waits = alike->waits;
    const struct cell *ranks = table_cell(waits, slow->row, "ranks");
    struct str list = ranks->null ? STR("?") : ranks->s;
    struct evidence evidence = {0};
    finding->confidence = "medium";
    finding->ranks = finding->subject = arena_strdup(the_case->arena, list, err);
    finding->title =
        arena_printf(the_case->arena, err,
                     "ranks %.*s move data %.1f times slower than groups like theirs: %s "
                     "per step (%.1f %%)",
                     (int)list.len, list.at, slowness(alike, slow->row),
                     time_text(finding->cost_ns).text, run_percent(the_case, finding->cost_ns));
    evidence_add(&evidence, href_of_row(waits, slow->row).text,
                 "%s of %" PRId64 " bytes: median transfer %s, %s in the "
                 "median group",
                 kind_of(waits, slow->row), run_cell_i64(waits, slow->row, "bytes", 0),
                 time_text(run_cell_i64(waits, slow->row, "transfer_median_ns", 0)).text,
                 time_text(alike->median_ns[alike->class_of[slow->row]]).text);
    evidence_add(&evidence, "comm_waits", "%u group%s as slow", slow->groups,
                 slow->groups == 1 ? " is" : "s are");
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->subject && finding->title && finding->evidence;
}

static bool check_link(const struct run_case *the_case, bool *fires, struct finding *finding,
                       struct err *err)
{
    struct alike alike = {.waits = report_find(the_case->report, "comm_waits")};
    struct slow_rows slow = {.cost_ns = 0};
    if (!alike.waits)
        return true;
    alike.class_of =
        arena_array(the_case->arena, alike.waits->row_count + 1, sizeof *alike.class_of, err);
    if (!alike.class_of || !class_rows(the_case, &alike, err) ||
        !find_medians(the_case, &alike, err) || !find_slow(the_case, &alike, &slow, err))
        return false;
    finding->cost_ns = (int64_t)slow.cost_ns;
    *fires = run_costs(the_case, finding->cost_ns, FINDING_SLOW_LINK_SHARE);
    return !*fires || tell_link(the_case, &alike, &slow, finding, err);
}

static const struct finding_rule link_rule = {
    .name = "slow_link",
    .why = "All ranks of the group had begun, and still the data took longer than the same "
           "collective in other groups of the same kind: a cable, switch port or adapter between "
           "them is slow or shared.",
    .advice = "Test the links between the machines of these ranks (nccl-tests or rccl-tests on "
              "pairs of nodes, ibdiagnet, error counters), and look at what else uses them.",
    .method =
        "Median transfer per collective (duration after the last rank's begin) of groups "
        "with the same kind, type, bytes, size and span; slow from 1.5 times the median "
        "group. Cost: exposed transfer beyond the median group's per steady step, summed over the "
        "slow groups of the rank that bears most; reported from 1 % of the step.",
    .false_alarms = "Groups of one span may still cross different switches.",
};

const struct run_rule finding_run_slow_link = {
    .about = &link_rule,
    .check = check_link,
    .bars = RUN_BARS_MOVE,
};

// ---- small messages
// --------------------------------------------------------------------------

// Best algorithm bandwidth of a row, in bytes per ns.
static double best_bandwidth(const struct table *waits)
{
    double best = 0;
    for (size_t i = 0; i < waits->row_count; i++) {
        double gbps = run_cell_f64(waits, i, "algo_gbps", 0);
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
        const struct cell *list = table_cell(waits, i, "ranks");
        int64_t bytes = run_cell_i64(waits, i, "bytes", -1);
        int64_t transfer_ns = run_cell_i64(waits, i, "transfer_median_ns", 0);
        if (bytes < 0 || bytes >= FINDING_SMALL_BYTES || transfer_ns <= 0 || best <= 0)
            continue;
        double ideal = (double)bytes / best / (double)transfer_ns;
        double ranks = list->null ? 0 : (double)run_list_count(list->s);
        double part = (double)run_cell_i64(waits, i, "exposed_transfer_ns", 0) / all;
        sum.calls += (double)run_cell_i64(waits, i, "calls", 0) * ranks / all;
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
    finding->title = arena_printf(
        the_case->arena, err, "%.0f small messages per step cost %s (%.1f %%)", sum.calls,
        time_text(finding->cost_ns).text, run_percent(the_case, finding->cost_ns));
    struct evidence evidence = {0};
    evidence_add(&evidence, "comm_waits",
                 "collectives under 1 MB take %s of exposed transfer per "
                 "step; at the best bandwidth of the job %s would do",
                 time_text((int64_t)sum.exposed_ns).text,
                 time_text((int64_t)(sum.exposed_ns - sum.cost_ns)).text);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static const struct finding_rule small_messages = {
    .name = "small_messages",
    .why = "A collective takes some microseconds however little it moves; many small ones cost "
           "latency instead of bandwidth.",
    .advice = "Send fewer and larger ones: bigger buckets (bucket_cap_mb), fewer FSDP units, "
              "coalesced collectives, tensor parallelism within a node only.",
    .method = "Exposed transfer of collectives under 1 MB per rank and steady step, less what "
              "their bytes would take at the best bandwidth of the job; reported when they are 20 "
              "per step and cost 2 % of it.",
    .false_alarms = "Small results that are needed at once, as in tensor parallel decoding.",
};

const struct run_rule finding_run_small_messages = {
    .about = &small_messages,
    .check = check_small,
    .bars = RUN_BARS_MOVE,
};

// ---- in general
// ------------------------------------------------------------------------------

// The row with most exposed transfer per rank; the row count without any.
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

// Why transfers may be waits after all; NULL when they are not.
static const char *doubt_of(const struct run_case *the_case, const struct table *waits)
{
    int64_t matched = 0, unmatched = 0;
    for (size_t i = 0; waits && i < waits->row_count; i++) {
        int64_t size = run_cell_i64(waits, i, "group_size", 1);
        matched += run_cell_i64(waits, i, "calls", 0) * (size < 1 ? 1 : size);
        unmatched += run_cell_i64(waits, i, "unmatched_calls", 0);
    }
    if (run_missing_ranks(the_case) > 0)
        return "; ranks without a trace may have been waited for";
    return unmatched > matched ? "; most calls have no match, so that their waits are not known"
                               : NULL;
}

static void tell_most(const struct run_case *the_case, const struct table *waits, size_t row,
                      struct evidence *evidence)
{
    struct href_text href = href_of_row(waits, row);
    struct time_text time = time_text((int64_t)exposed_ns(the_case, waits, row));
    if (table_cell(waits, row, "bytes")->null || table_cell(waits, row, "bus_gbps")->null)
        evidence_add(evidence, href.text,
                     "most in %s, whose size is not recorded: %s per step and rank",
                     kind_of(waits, row), time.text);
    else
        evidence_add(evidence, href.text,
                     "most in %s of %" PRId64 " bytes: %s per step and rank, %.0f GB/s on the bus",
                     kind_of(waits, row), run_cell_i64(waits, row, "bytes", 0), time.text,
                     run_cell_f64(waits, row, "bus_gbps", 0));
}

static bool check_transfer(const struct run_case *the_case, bool *fires, struct finding *finding,
                           struct err *err)
{
    const struct table *waits = report_find(the_case->report, "comm_waits");
    if (!run_rank_median(the_case, "exposed_transfer_ns", RUN_RANKS_ALL, &finding->cost_ns, err))
        return false;
    *fires = run_costs(the_case, finding->cost_ns, FINDING_RUN_TRANSFER_SHARE);
    if (!*fires)
        return true;
    struct evidence evidence = {0};
    size_t most = find_most(the_case, waits);
    const char *doubt = doubt_of(the_case, waits);
    finding->confidence = doubt ? "low" : "high";
    finding->title = arena_printf(
        the_case->arena, err, "%s of data transfer per step is not hidden by compute (%.1f %%)",
        time_text(finding->cost_ns).text, run_percent(the_case, finding->cost_ns));
    evidence_add(&evidence, "comm_waits", "exposed communication after the last rank had begun%s",
                 doubt ? doubt : "");
    if (waits && most < waits->row_count)
        tell_most(the_case, waits, most, &evidence);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static const struct finding_rule transfer = {
    .name = "exposed_transfer",
    .why = "All ranks are there and data moves, while the devices compute nothing.",
    .advice = "Overlap it with compute (gradient buckets, prefetched parameters, asynchronous "
              "tensor parallelism), move less (lower precision on the wire, sharding within a "
              "node), or see whether the bandwidth is what the links can do.",
    .method = "Lower median over the ranks of the exposed communication per steady step after the "
              "last rank of the collective had begun; reported from 5 % of the step.",
    .false_alarms = "Collectives whose result is needed at once (tensor parallelism) cannot be "
                    "hidden without splitting the work. Waits for ranks without a trace count as "
                    "transfer.",
};

const struct run_rule finding_run_transfer = {
    .about = &transfer,
    .check = check_transfer,
    .bars = RUN_BARS_MOVE,
};
