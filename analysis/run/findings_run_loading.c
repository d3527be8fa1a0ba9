// SPDX-License-Identifier: Apache-2.0
// The rule about a rank that waits for its data while the others have theirs. In a job whose ranks
// wait for each other all steps are as long as that rank's, whether or not collectives show it.
#include "analysis/run/findings_run.h"

#include "analysis/report/tables.h"
#include "analysis/stats/sort.h"
#include <inttypes.h>

// Idle time per step by data loading.
struct loading {
    const struct run_case *the_case;
    struct keyed *ranks; // key: the time, a: the rank's index in the source
    size_t count;
};

static int64_t loading_ns(const struct table *idle)
{
    for (size_t i = 0; idle && i < idle->row_count; i++)
        if (table_cell(idle, i, IDLE_CAUSES_DEVICE)->null &&
            table_is(idle, i, IDLE_CAUSES_CAUSE, STR("data_loading")))
            return table_i64(idle, i, IDLE_CAUSES_STEADY_NS, 0);
    return 0;
}

static bool take_rank(void *context, size_t index, const struct report *report, struct err *err)
{
    struct loading *loading = context;
    int64_t rank = loading->the_case->source->ranks[index];
    int64_t steps = run_rank_i64(loading->the_case, RUN_RANKS_STEADY_STEPS, rank);
    (void)err;
    if (steps > 0)
        loading->ranks[loading->count++] = (struct keyed){
            loading_ns(report_find(report, "idle_causes")) / steps, (uint32_t)index, 0};
    return true;
}

static bool measure(const struct run_case *the_case, struct loading *loading, struct err *err)
{
    static const struct table_desc *const known[] = {&table_idle_causes, NULL};
    const struct rank_source *source = the_case->source;
    *loading = (struct loading){.the_case = the_case};
    if (!source || source->count < 2)
        return true;
    loading->ranks = arena_room(the_case->arena, 2 * source->count, sizeof *loading->ranks, err);
    if (!loading->ranks ||
        !rank_source_each(source, known, the_case->budget, take_rank, loading, err))
        return false;
    sort_keyed(loading->ranks, loading->ranks + source->count, loading->count);
    return true;
}

// Whether devices communicate: then their collectives show who waits for whom, and the rule about
// stragglers names the loader.
static bool communicate(const struct run_case *the_case)
{
    const struct table *ranks = report_find(the_case->report, "ranks");
    for (size_t i = 0; ranks && i < ranks->row_count; i++)
        if (table_i64(ranks, i, RUN_RANKS_TOTAL_COMM_NS, 0) > 0)
            return true;
    return false;
}

// The typical rank's finding that has the time already: it loads itself, or waits in collectives
// that show on the host only.
static const char *explained_by(const struct run_case *the_case, int64_t rank)
{
    const char *rule = rank == the_case->headline ? "starved_data_loading" : "host_collectives";
    const struct table *own = the_case->own;
    for (size_t i = 0; own && i < own->row_count; i++)
        if (table_is(own, i, FINDINGS_RULE, str_of(rule)))
            return rule;
    return NULL;
}

static bool check(const struct run_case *the_case, bool *fires, struct finding *finding,
                  struct err *err)
{
    struct loading loading;
    if (communicate(the_case))
        return true;
    if (!measure(the_case, &loading, err))
        return false;
    if (loading.count < 2)
        return true;
    const struct keyed *most = &loading.ranks[loading.count - 1];
    int64_t others_ns = loading.ranks[(loading.count - 2) / 2].key; // lower median of the rest
    int64_t rank = the_case->source->ranks[most->a];
    finding->cost_ns = most->key - others_ns;
    *fires = most->key >= FINDING_LOADER_RATIO * others_ns &&
             run_costs(the_case, finding->cost_ns, FINDING_STARVED_SHARE);
    if (!*fires)
        return true;
    struct evidence evidence = {0};
    finding->ranks = finding->subject = number_list(&rank, 1, the_case->arena, err);
    finding->confidence = "medium";
    finding->explained_by = explained_by(the_case, rank);
    finding->title =
        arena_printf(the_case->arena, err,
                     "rank %" PRId64 " waits %s %s for its data, the others %s: all ranks "
                     "wait for it (%.1f %%)",
                     rank, time_text(most->key).text, the_case->per, time_text(others_ns).text,
                     run_percent(the_case, finding->cost_ns));
    evidence_add(
        &evidence, "ranks",
        "its device idles %s %s while it loads data; the median of the %zu other ranks is %s",
        time_text(most->key).text, the_case->per, loading.count - 1, time_text(others_ns).text);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->subject && finding->title && finding->evidence;
}

static const struct finding_rule slow_loader = {
    .name = "slow_loader",
    .why = "One rank's batches are not ready when its host asks for them. The others have theirs, "
           "and then wait for that rank at the next collective, so each step takes as long as on "
           "that rank.",
    .advice = "Look at what differs on that rank: its node's storage and cores, the number of "
              "loader workers, the size of its shard. Then as for a loader that is slow "
              "everywhere: more and persistent workers, pinned memory, deeper prefetch.",
    .method =
        "Idle time by data_loading per steady step of the rank that has most, less the lower "
        "median of the others; reported from twice theirs and 3 % of the step, where no device "
        "communicates: otherwise collectives show the straggler.",
    .false_alarms = "A rank that reads for others, as in some pipelines; ranks that do not wait "
                    "for each other, such as replicas of a server.",
};

const struct run_rule finding_run_loading = {
    .about = &slow_loader,
    .check = check,
    .bars = RUN_BARS_WAIT | RUN_BARS_IDLE,
};
