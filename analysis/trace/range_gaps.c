// SPDX-License-Identifier: Apache-2.0
#include "analysis/trace/range_gaps.h"

#include "analysis/facts/gaps.h"
#include "analysis/report/tables.h"
#include "analysis/stats/sort.h"
#include "analysis/trace/analyses.h"

enum { LONGEST = 50 }; // of each range

struct search {
    const struct range_tree *tree;
    const bool *is_nested; // per node: within another of its name
    int32_t *open;         // per gap: calls that start before it and not before the last one, less
                           // those that end
    struct keyed *inside;  // gaps, with as much room again for sorting
    uint32_t *sets;        // per gap: bits of the ranges that it is one of the longest of
};

// Calls on several threads may overlap.
static void mark_calls(const struct search *search, uint32_t name)
{
    const struct range_tree *tree = search->tree;
    const struct facts *facts = tree->facts;
    memset(search->open, 0, (facts->gaps.count + (size_t)1) * sizeof *search->open);
    for (uint32_t i = 0; i < tree->call_count; i++) {
        const struct range_call *call = &tree->calls[i];
        if (tree->nodes[call->node].name != name || search->is_nested[call->node] ||
            call->first_ns >= call->last_ns)
            continue;
        search->open[range_tree_gap(facts, call->first_ns)]++;
        search->open[range_tree_gap(facts, call->last_ns)]--;
    }
}

static void choose_longest(const struct search *search, unsigned range)
{
    const struct gap_list *list = &search->tree->facts->gaps;
    uint32_t count = 0;
    int32_t open = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        open += search->open[i];
        if (open > 0)
            search->inside[count++] =
                (struct keyed){list->gaps[i].begin_ns - list->gaps[i].end_ns, i, 0};
    }
    sort_keyed(search->inside, search->inside + list->count, count);
    for (uint32_t i = 0; i < count && i < LONGEST; i++)
        search->sets[search->inside[i].a] |= UINT32_C(1) << range;
}

// The gaps of any range, and their sets.
static bool list_gaps(const struct search *search, struct gap_list *chosen, uint32_t **sets,
                      struct err *err)
{
    const struct gap_list *list = &search->tree->facts->gaps;
    struct arena *arena = search->tree->arena;
    chosen->gaps = arena_room(arena, list->count, sizeof *chosen->gaps, err);
    *sets = arena_room(arena, list->count, sizeof **sets, err);
    chosen->count = 0;
    for (uint32_t i = 0; chosen->gaps && *sets && i < list->count; i++) {
        if (search->sets[i] == 0)
            continue;
        (*sets)[chosen->count] = search->sets[i];
        chosen->gaps[chosen->count++] = list->gaps[i];
    }
    return chosen->gaps && *sets;
}

static bool add_rows(const struct search *search, struct range_gaps *gaps, struct err *err)
{
    struct facts facts = *search->tree->facts;
    struct report *report = arena_array(facts.arena, 1, sizeof *report, err);
    uint32_t *of_gaps, *sets;
    if (!report || !list_gaps(search, &facts.gaps, &of_gaps, err))
        return false;
    report->arena = search->tree->arena;
    if (!idle_gap_list_analysis.run(&facts, search->tree->arena, report, err))
        return false;
    gaps->rows = report_find(report, table_idle_gaps.name);
    size_t rows = gaps->rows ? gaps->rows->row_count : 0;
    gaps->sets = sets = arena_array(search->tree->arena, rows, sizeof *sets, err);
    for (size_t i = 0; sets && i < rows; i++) {
        int64_t begin_ns = table_i64(gaps->rows, i, IDLE_GAPS_BEGIN_NS, 0) + facts.begin_ns;
        sets[i] = of_gaps[range_tree_gap(&facts, begin_ns)];
    }
    return sets;
}

bool range_gaps_make(const struct range_tree *tree, const uint32_t *names, unsigned count,
                     struct range_gaps *gaps, struct err *err)
{
    size_t all = tree->facts->gaps.count;
    struct search search = {
        .tree = tree,
        .is_nested = range_tree_nested(tree, err),
        .open = arena_array(tree->arena, all + 1, sizeof *search.open, err),
        .inside = arena_room(tree->arena, 2 * all, sizeof *search.inside, err),
        .sets = arena_array(tree->arena, all, sizeof *search.sets, err),
    };
    *gaps = (struct range_gaps){0};
    assert(count <= RANGE_GAPS_MOST);
    if (!search.is_nested || !search.open || !search.inside || !search.sets)
        return false;
    for (unsigned i = 0; i < count; i++) {
        mark_calls(&search, names[i]);
        choose_longest(&search, i);
    }
    return add_rows(&search, gaps, err);
}
