// SPDX-License-Identifier: Apache-2.0
// Sums of the idle gaps by cause, all devices merged and each device.
#include "analysis/analyses.h"
#include "analysis/gaps.h"
#include "analysis/groups.h"
#include "analysis/sort.h"
#include "analysis/stats.h"
#include "analysis/tables.h"

// Which gaps a group of rows is about.
struct scope {
    const struct gap_list *gaps;
    const char *device; // NULL: all merged
};

// Memory for the lengths of the gaps of one cause, and for sums by name of the host event.
struct scratch {
    int64_t *lengths_ns; // twice the largest number of gaps
    int64_t *names_ns;
    struct groups names;
};

static uint32_t lengths_of(const struct gap_list *list, enum idle_cause cause, int64_t *lengths_ns)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->gaps[i].cause == (uint8_t)cause)
            lengths_ns[count++] = list->gaps[i].end_ns - list->gaps[i].begin_ns;
    sort_i64(lengths_ns, lengths_ns + list->count, count);
    return count;
}

// The name of host event whose gaps of the cause are longest together, 0 without.
static bool main_event(const struct facts *facts, const struct gap_list *list,
                       enum idle_cause cause, struct scratch *scratch, str_id *name,
                       struct err *err)
{
    uint32_t best = 0, index;
    groups_free(&scratch->names);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct gap *gap = &list->gaps[i];
        if (gap->cause != (uint8_t)cause || gap->host_event == FACTS_NONE)
            continue;
        uint32_t known = scratch->names.count;
        if (!groups_index(&scratch->names, facts->trace->name[gap->host_event], 0, &index, err))
            return false;
        scratch->names_ns[index] =
            (index < known ? scratch->names_ns[index] : 0) + gap->end_ns - gap->begin_ns;
    }
    for (uint32_t n = 0; n < scratch->names.count; n++)
        best = scratch->names_ns[n] > scratch->names_ns[best] ? n : best;
    *name = scratch->names.count ? (str_id)scratch->names.keys[best].a : 0;
    return true;
}

static bool add_cause(const struct facts *facts, const struct scope *scope, enum idle_cause cause,
                      struct scratch *scratch, struct report *report, struct err *err)
{
    uint32_t count = lengths_of(scope->gaps, cause, scratch->lengths_ns);
    str_id name;
    if (count == 0)
        return true;
    if (!main_event(facts, scope->gaps, cause, scratch, &name, err))
        return false;
    struct stats stats = stats_of(scratch->lengths_ns, count);
    int64_t total_ns = 0;
    for (uint32_t i = 0; i < count; i++)
        total_ns += scratch->lengths_ns[i];
    struct row row = {0};
    row_word(&row, scope->device);
    row_word(&row, idle_cause_word(cause));
    row_word(&row, category_bar_word(idle_cause_bar(cause)));
    row_i64(&row, count);
    row_i64(&row, total_ns);
    row_share(&row, total_ns, facts->end_ns - facts->begin_ns);
    row_i64_if(&row, !scope->device, facts->steady.idle_ns[cause]);
    row_i64(&row, stats.median);
    row_i64(&row, stats.p95);
    row_i64(&row, stats.max);
    row_text_if(&row, name != 0, trace_text(facts->trace, name));
    row_word(&row, idle_cause_help(cause));
    return row_end(&row, &table_idle_causes, report, err);
}

static bool add_scope(const struct facts *facts, const struct scope *scope, struct scratch *scratch,
                      struct report *report, struct err *err)
{
    for (int c = 0; c < IDLE_CAUSE_COUNT; c++)
        if (!add_cause(facts, scope, (enum idle_cause)c, scratch, report, err))
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

static bool add_all(const struct facts *facts, struct scratch *scratch, struct report *report,
                    struct err *err)
{
    if (!add_scope(facts, &(struct scope){&facts->gaps, NULL}, scratch, report, err))
        return false;
    for (uint32_t g = 0; facts->gpu_gaps && g < facts->gpu_count && g < FACTS_DEVICE_ROWS; g++) {
        char text[32];
        struct scope scope = {&facts->gpu_gaps[g],
                              facts_label(facts->trace, facts->gpus[g], text).at};
        if (!add_scope(facts, &scope, scratch, report, err))
            return false;
    }
    return true;
}

static bool run(const struct facts *facts, struct report *report, struct err *err)
{
    struct arena arena;
    arena_init(&arena, facts->budget);
    size_t largest = largest_list(facts);
    struct scratch scratch = {
        .lengths_ns = arena_array(&arena, 2 * largest, sizeof(int64_t), err),
        .names_ns = arena_array(&arena, largest, sizeof(int64_t), err),
    };
    groups_init(&scratch.names, facts->budget);
    bool ok = scratch.lengths_ns && scratch.names_ns && add_all(facts, &scratch, report, err);
    groups_free(&scratch.names);
    arena_free(&arena);
    return ok;
}

const struct analysis idle_causes_analysis = {"idle_causes", run};
