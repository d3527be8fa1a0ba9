// SPDX-License-Identifier: Apache-2.0
// Sums of the idle gaps by cause, all devices merged and each device.
#include "analysis/trace/analyses.h"
#include "analysis/facts/gaps.h"
#include "analysis/stats/stats.h"
#include "analysis/report/tables.h"
#include "analysis/stats/tally.h"

// Which gaps a group of rows is about, by cause.
struct scope {
    const char *device;  // NULL: all merged
    int64_t *lengths_ns; // those of cause c start at first[c]
    int64_t *scratch;    // room for as many
    uint32_t first[IDLE_CAUSE_COUNT + 1];
    int64_t total_ns[IDLE_CAUSE_COUNT];
    str_id event[IDLE_CAUSE_COUNT]; // name of the host event with the longest gaps in total, 0
                                    // without
};

static void part(const struct gap_list *list, struct scope *scope)
{
    uint32_t next[IDLE_CAUSE_COUNT];
    memset(scope->first, 0, sizeof scope->first);
    memset(scope->total_ns, 0, sizeof scope->total_ns);
    for (uint32_t i = 0; i < list->count; i++)
        scope->first[list->gaps[i].cause + 1]++;
    for (int c = 0; c < IDLE_CAUSE_COUNT; c++) {
        scope->first[c + 1] += scope->first[c];
        next[c] = scope->first[c];
    }
    for (uint32_t i = 0; i < list->count; i++) {
        const struct gap *gap = &list->gaps[i];
        int64_t length_ns = gap->end_ns - gap->begin_ns;
        scope->lengths_ns[next[gap->cause]++] = length_ns;
        scope->total_ns[gap->cause] += length_ns;
    }
}

static bool name_events(const struct facts *facts, const struct gap_list *list, struct scope *scope,
                        struct err *err)
{
    struct tally names;
    int64_t best[IDLE_CAUSE_COUNT];
    bool ok = true;
    memset(scope->event, 0, sizeof scope->event);
    memset(best, 0xff, sizeof best); // -1
    tally_init(&names, facts->budget);
    for (uint32_t i = 0; ok && i < list->count; i++) {
        const struct gap *gap = &list->gaps[i];
        if (gap->host_event != FACTS_NONE)
            ok = tally_add(&names, gap->cause, facts->trace->name[gap->host_event],
                           gap->end_ns - gap->begin_ns, err);
    }
    tally_most(&names, scope->event, best);
    tally_free(&names);
    return ok;
}

static bool add_cause(const struct facts *facts, const struct scope *scope, enum idle_cause cause,
                      struct report *report, struct err *err)
{
    uint32_t first = scope->first[cause], count = scope->first[cause + 1] - first;
    str_id event = scope->event[cause];
    if (count == 0)
        return true;
    struct quantiles lengths = stats_quantiles(scope->lengths_ns + first, scope->scratch, count);
    struct row row = {.desc = &table_idle_causes};
    row_word(&row, IDLE_CAUSES_DEVICE, scope->device);
    row_word(&row, IDLE_CAUSES_CAUSE, idle_cause_word(cause));
    row_word(&row, IDLE_CAUSES_BAR, category_bar_word(idle_cause_bar(cause)));
    row_i64(&row, IDLE_CAUSES_GAPS, count);
    row_i64(&row, IDLE_CAUSES_TOTAL_NS, scope->total_ns[cause]);
    row_share(&row, IDLE_CAUSES_WINDOW_SHARE, scope->total_ns[cause],
              facts->end_ns - facts->begin_ns);
    row_i64_if(&row, IDLE_CAUSES_STEADY_NS, !scope->device, facts->steady.idle_ns[cause]);
    row_i64(&row, IDLE_CAUSES_MEDIAN_NS, lengths.median);
    row_i64(&row, IDLE_CAUSES_P95_NS, lengths.p95);
    row_i64(&row, IDLE_CAUSES_MAX_NS, lengths.max);
    row_text_if(&row, IDLE_CAUSES_HOST_EVENT, event != 0, trace_text(facts->trace, event));
    row_word(&row, IDLE_CAUSES_HELP, idle_cause_help(cause));
    return row_end(&row, report, err);
}

static bool add_scope(const struct facts *facts, const struct gap_list *list, struct scope *scope,
                      struct report *report, struct err *err)
{
    part(list, scope);
    if (!name_events(facts, list, scope, err))
        return false;
    for (int c = 0; c < IDLE_CAUSE_COUNT; c++)
        if (!add_cause(facts, scope, (enum idle_cause)c, report, err))
            return false;
    return true;
}

static uint32_t largest_list(const struct facts *facts)
{
    uint32_t largest = facts->gaps.count;
    for (uint32_t g = 0; facts->gpu_gaps && g < facts->gpu_count; g++)
        if (facts->gpu_gaps[g].count > largest)
            largest = facts->gpu_gaps[g].count;
    return largest;
}

static bool add_all(const struct facts *facts, struct scope *scope, struct report *report,
                    struct err *err)
{
    if (!add_scope(facts, &facts->gaps, scope, report, err))
        return false;
    for (uint32_t g = 0; facts->gpu_gaps && g < facts->gpu_count && g < FACTS_DEVICE_ROWS; g++) {
        char text[32];
        scope->device = facts_label(facts->trace, facts->gpus[g], text).at;
        if (!add_scope(facts, &facts->gpu_gaps[g], scope, report, err))
            return false;
    }
    return true;
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    (void)scratch;
    size_t largest = largest_list(facts), size = 2 * largest * sizeof(int64_t);
    int64_t *lengths_ns = budget_alloc(facts->budget, size, err);
    if (!lengths_ns)
        return false;
    struct scope scope = {.lengths_ns = lengths_ns, .scratch = lengths_ns + largest};
    bool ok = add_all(facts, &scope, report, err);
    budget_free(facts->budget, lengths_ns, size);
    return ok;
}

const struct analysis idle_causes_analysis = {"idle_causes", run};
