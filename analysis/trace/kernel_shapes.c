// SPDX-License-Identifier: Apache-2.0
// Kernels by name, grid and block, by which launches that a kernel profiler measured are found.
#include "analysis/trace/analyses.h"
#include "analysis/facts/grouping.h"
#include "analysis/report/ranked.h"
#include "analysis/report/tables.h"
#include "analysis/stats/stats.h"

#include <stdio.h>

enum { MOST_ROWS = 5000, DIMS_TEXT = 48 };

static uint64_t dims_key(const int32_t dims[3])
{
    return hash_mix((uint64_t)(uint32_t)dims[0] << 32 | (uint32_t)dims[1], (uint32_t)dims[2] + 1u);
}

// Kernels whose grid was recorded.
static bool shape_key(const struct facts *facts, uint32_t device, struct group_key *key)
{
    bool kernel = facts->trace->kind[facts->devices[device].event] == EVENT_KERNEL;
    const struct launch_shape shape = facts_launch_shape(facts, device);
    if (!kernel || (shape.grid[0] == 0 && shape.block[0] == 0))
        return false;
    *key = (struct group_key){facts_device_name(facts, device),
                              hash_mix(dims_key(shape.grid), dims_key(shape.block))};
    return true;
}

struct shape_sum {
    int64_t total_ns;
    uint32_t first; // of its device events
    bool seen;
};

static void add_dims(struct row *row, unsigned column, const int32_t dims[3], char text[DIMS_TEXT])
{
    snprintf(text, DIMS_TEXT, "%d,%d,%d", dims[0], dims[1], dims[2]);
    row_text(row, column, str_of(text));
}

static bool add_row(const struct facts *facts, const struct grouping *shapes,
                    const struct shape_sum *sums, uint32_t group, struct report *report,
                    struct err *err)
{
    const struct shape_sum *sum = &sums[group];
    const struct launch_shape shape = facts_launch_shape(facts, sum->first);
    uint32_t first = shapes->first[group], count = shapes->first[group + 1] - first;
    char texts[2][DIMS_TEXT];
    struct row row = {.desc = &table_kernel_shapes};
    row_text(&row, KERNEL_SHAPES_NAME,
             trace_text(facts->trace, facts_device_name(facts, sum->first)));
    add_dims(&row, KERNEL_SHAPES_GRID, shape.grid, texts[0]);
    add_dims(&row, KERNEL_SHAPES_BLOCK, shape.block, texts[1]);
    row_i64(&row, KERNEL_SHAPES_CALLS, count);
    row_i64(&row, KERNEL_SHAPES_TOTAL_NS, sum->total_ns);
    row_i64(&row, KERNEL_SHAPES_MEDIAN_NS, stats_median(shapes->dur_ns + first, count));
    row_i64(&row, KERNEL_SHAPES_FIRST_NS, facts->devices[sum->first].begin_ns - facts->begin_ns);
    return row_end(&row, report, err);
}

static bool add_rows(const struct facts *facts, const struct grouping *shapes, struct arena *arena,
                     struct report *report, struct err *err)
{
    uint32_t count = shapes->groups.count;
    struct shape_sum *sums = arena_array(arena, count, sizeof *sums, err);
    struct ranked *ranked = arena_array(arena, count, sizeof *ranked, err);
    if (!sums || !ranked)
        return false;
    for (uint32_t i = 0; i < facts->device_count; i++) {
        if (shapes->group_of[i] == FACTS_NONE)
            continue;
        struct shape_sum *sum = &sums[shapes->group_of[i]];
        sum->first = sum->seen ? sum->first : i;
        sum->seen = true;
        sum->total_ns += facts->devices[i].end_ns - facts->devices[i].begin_ns;
    }
    for (uint32_t g = 0; g < count; g++)
        ranked[g] = (struct ranked){sums[g].total_ns,
                                    trace_text(facts->trace, (str_id)shapes->groups.keys[g].a), g};
    ranked_sort(ranked, count);
    for (uint32_t i = 0; i < count && i < MOST_ROWS; i++)
        if (!add_row(facts, shapes, sums, ranked[i].index, report, err))
            return false;
    return true;
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    struct grouping shapes;
    bool ok = grouping_make(facts, shape_key, scratch, &shapes, err) &&
              grouping_sort(facts, scratch, &shapes, err) &&
              add_rows(facts, &shapes, scratch, report, err);
    grouping_free(&shapes);
    return ok;
}

const struct analysis kernel_shapes_analysis = {"kernel_shapes", run};
