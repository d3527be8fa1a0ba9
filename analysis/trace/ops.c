// SPDX-License-Identifier: Apache-2.0
// Operators by the device time they launched directly.
#include "analysis/trace/analyses.h"
#include "analysis/stats/groups.h"
#include "analysis/facts/op_calls.h"
#include "analysis/report/ranked.h"
#include "analysis/report/tables.h"

struct op_sum {
    int64_t calls, total_ns;
};

struct op_walk {
    const struct facts *facts;
    struct groups names;
    struct op_sum *sums; // per name
};

static bool sum_calls(struct op_walk *walk, struct arena *arena, struct err *err)
{
    const struct op_calls *calls = walk->facts->calls;
    const str_id *name = walk->facts->trace->name;
    uint32_t index;
    for (uint32_t c = 0; c < calls->count; c++)
        if (!groups_index(&walk->names, name[calls->calls[c].op], 0, &index, err))
            return false;
    walk->sums = arena_array(arena, walk->names.count, sizeof *walk->sums, err);
    if (!walk->sums)
        return false;
    for (uint32_t c = 0; c < calls->count; c++) {
        if (!groups_index(&walk->names, name[calls->calls[c].op], 0, &index, err))
            return false;
        walk->sums[index].calls++;
        walk->sums[index].total_ns += calls->calls[c].self_ns;
    }
    return true;
}

static bool add_rows(const struct op_walk *walk, struct arena *arena, struct report *report,
                     struct err *err)
{
    uint32_t count = walk->names.count;
    struct ranked *ranked = arena_array(arena, count, sizeof *ranked, err);
    if (!ranked)
        return false;
    for (uint32_t g = 0; g < count; g++) {
        struct str name = trace_text(walk->facts->trace, (str_id)walk->names.keys[g].a);
        ranked[g] = (struct ranked){walk->sums[g].total_ns, name, g};
    }
    ranked_sort(ranked, count);
    for (uint32_t i = 0; i < count; i++) {
        struct row row = {.desc = &table_ops};
        row_text(&row, OPS_NAME, ranked[i].name);
        row_i64(&row, OPS_LAUNCHING_CALLS, walk->sums[ranked[i].index].calls);
        row_i64(&row, OPS_TOTAL_NS, ranked[i].total_ns);
        if (!row_end(&row, report, err))
            return false;
    }
    return true;
}

static bool run(const struct facts *facts, struct report *report, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, facts->budget);
    struct op_walk walk = {.facts = facts};
    groups_init(&walk.names, facts->budget);
    bool ok = sum_calls(&walk, &scratch, err) && add_rows(&walk, &scratch, report, err);
    groups_free(&walk.names);
    arena_free(&scratch);
    return ok;
}

const struct analysis ops_analysis = {"ops", run};
