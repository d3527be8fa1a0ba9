// SPDX-License-Identifier: Apache-2.0
// Kernels too short to be worth their launch, by operator.
#include "analysis/trace/short_kernels.h"

#include "analysis/trace/analyses.h"
#include "analysis/facts/grouping.h"
#include "analysis/report/ranked.h"
#include "analysis/report/tables.h"

struct short_sum {
    int64_t calls, short_calls, total_ns, short_ns;
};

static bool op_key(const struct facts *facts, uint32_t device, struct group_key *key)
{
    *key = (struct group_key){facts_device_op(facts, device), 0};
    return facts->trace->kind[facts->devices[device].event] == EVENT_KERNEL;
}

static struct short_sum *sum(const struct facts *facts, const struct grouping *grouping,
                             struct arena *arena, struct err *err)
{
    struct short_sum *sums = arena_array(arena, grouping->groups.count, sizeof *sums, err);
    for (uint32_t i = 0; sums && i < facts->device_count; i++) {
        if (grouping->group_of[i] == FACTS_NONE)
            continue;
        struct short_sum *op = &sums[grouping->group_of[i]];
        int64_t dur_ns = facts->devices[i].end_ns - facts->devices[i].begin_ns;
        bool is_short = dur_ns < SHORT_KERNEL_NS;
        op->calls++;
        op->short_calls += is_short;
        op->total_ns += dur_ns;
        op->short_ns += is_short ? dur_ns : 0;
    }
    return sums;
}

static bool add_rows(const struct facts *facts, const struct grouping *grouping,
                     struct arena *arena, struct report *report, struct err *err)
{
    uint32_t count = grouping->groups.count;
    struct short_sum *sums = sum(facts, grouping, arena, err);
    struct ranked *ranked = arena_array(arena, count, sizeof *ranked, err);
    if (!sums || !ranked)
        return false;
    for (uint32_t g = 0; g < count; g++)
        ranked[g] = (struct ranked){
            sums[g].short_ns, trace_text(facts->trace, (str_id)grouping->groups.keys[g].a), g};
    ranked_sort(ranked, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct short_sum *op = &sums[ranked[i].index];
        struct row row = {.desc = &table_short_kernels};
        row_text_if(&row, SHORT_KERNELS_OP, ranked[i].name.len != 0, ranked[i].name);
        row_i64(&row, SHORT_KERNELS_CALLS, op->calls);
        row_i64(&row, SHORT_KERNELS_SHORT_CALLS, op->short_calls);
        row_i64(&row, SHORT_KERNELS_TOTAL_NS, op->total_ns);
        row_i64(&row, SHORT_KERNELS_SHORT_NS, op->short_ns);
        if (!row_end(&row, report, err))
            return false;
    }
    return true;
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    struct grouping grouping;
    bool ok = grouping_make(facts, op_key, scratch, &grouping, err) &&
              add_rows(facts, &grouping, scratch, report, err);
    grouping_free(&grouping);
    return ok;
}

const struct analysis short_kernels_analysis = {"short_kernels", run};
