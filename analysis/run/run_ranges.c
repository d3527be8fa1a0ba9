// SPDX-License-Identifier: Apache-2.0
#include "analysis/run/run_ranges.h"

#include "analysis/report/ranked.h"
#include "analysis/report/tables.h"
#include "analysis/run/run.h"
#include "analysis/stats/groups.h"

enum { MOST_NAMES = 64, MOST_NODES = 32768 };

enum { CALLS, HOST, OWNED, COMPUTE, COMMUNICATION, COPY, IDLE, SUMS };

static const unsigned from[SUMS] = {
    RANGES_CALLS,      RANGES_HOST_NS,          RANGES_TOTAL_OWNED_NS,
    RANGES_COMPUTE_NS, RANGES_COMMUNICATION_NS, RANGES_COPY_NS,
    RANGES_IDLE_NS};
static const unsigned to[SUMS] = {
    RUN_RANK_RANGES_CALLS,      RUN_RANK_RANGES_HOST_NS,          RUN_RANK_RANGES_TOTAL_OWNED_NS,
    RUN_RANK_RANGES_COMPUTE_NS, RUN_RANK_RANGES_COMMUNICATION_NS, RUN_RANK_RANGES_COPY_NS,
    RUN_RANK_RANGES_IDLE_NS};

struct name_sum {
    int64_t of[SUMS], steps;
    bool has_steps;
};

// Rows of ranges by id, which counts up from 0.
struct nodes {
    const struct table *ranges;
    uint32_t *row_of;
    size_t count;
};

static bool find_nodes(struct nodes *nodes, struct arena *arena, struct err *err)
{
    nodes->count = nodes->ranges->row_count;
    nodes->row_of = arena_array(arena, nodes->count + 1, sizeof *nodes->row_of, err);
    for (size_t i = 0; nodes->row_of && i < nodes->count; i++) {
        int64_t id = table_i64(nodes->ranges, i, RANGES_ID, -1);
        if (id >= 0 && (size_t)id < nodes->count)
            nodes->row_of[id] = (uint32_t)i;
    }
    return nodes->row_of;
}

// A range within one of its name counts there. Stored rows may hold any number: parents are lower.
static bool is_nested(const struct nodes *nodes, size_t row)
{
    const struct table *ranges = nodes->ranges;
    struct str name = table_text(ranges, row, RANGES_NAME);
    int64_t own = table_i64(ranges, row, RANGES_ID, 0), count = (int64_t)nodes->count;
    int64_t last = own < count ? own : count;
    for (int64_t id = table_i64(ranges, row, RANGES_PARENT, 0); id > 0 && id < last;) {
        size_t above = nodes->row_of[id];
        if (str_equal(table_text(ranges, above, RANGES_NAME), name))
            return true;
        last = id;
        id = table_i64(ranges, above, RANGES_PARENT, 0);
    }
    return false;
}

static void add_node(const struct table *ranges, size_t row, struct name_sum *sum)
{
    const struct cell *steps = table_cell(ranges, row, RANGES_STEPS);
    for (int i = 0; i < SUMS; i++)
        if (__builtin_add_overflow(sum->of[i], table_i64(ranges, row, from[i], 0), &sum->of[i]))
            sum->of[i] = INT64_MAX;
    sum->has_steps |= !steps->null;
    sum->steps = !steps->null && steps->i > sum->steps ? steps->i : sum->steps;
}

static bool add_rows(const struct run *run, int64_t rank, struct ranked *ranked,
                     const struct name_sum *sums, size_t count, struct err *err)
{
    for (size_t n = 0; n < count; n++)
        ranked[n].total_ns = sums[ranked[n].index].of[OWNED];
    ranked_sort(ranked, count);
    for (size_t n = 0; n < count && n < MOST_NAMES; n++) {
        const struct name_sum *sum = &sums[ranked[n].index];
        struct row row = {.desc = &table_run_rank_ranges};
        row_i64(&row, RUN_RANK_RANGES_RANK, rank);
        row_text(&row, RUN_RANK_RANGES_NAME, ranked[n].name);
        row_i64_if(&row, RUN_RANK_RANGES_STEPS, sum->has_steps, sum->steps);
        for (int i = 0; i < SUMS; i++)
            row_i64(&row, to[i], sum->of[i]);
        if (!row_end(&row, run->report, err))
            return false;
    }
    return true;
}

static bool sum_names(const struct run *run, size_t rank, const struct nodes *nodes,
                      struct groups *names, struct arena *arena, struct err *err)
{
    struct ranked *ranked = arena_array(arena, nodes->count, sizeof *ranked, err);
    struct name_sum *sums = arena_array(arena, nodes->count, sizeof *sums, err);
    if (!ranked || !sums)
        return false;
    for (size_t i = 0; i < nodes->count; i++) {
        struct str name = table_text(nodes->ranges, i, RANGES_NAME);
        uint32_t index;
        if (table_cell(nodes->ranges, i, RANGES_NAME)->null || is_nested(nodes, i))
            continue;
        if (!groups_index(names, hash_bytes(name.at, name.len), name.len, &index, err))
            return false;
        ranked[index] = (struct ranked){0, name, index};
        add_node(nodes->ranges, i, &sums[index]);
    }
    return add_rows(run, run->ranks[rank], ranked, sums, names->count, err);
}

bool run_ranges_add(const struct run *run, size_t rank, const struct report *report,
                    struct err *err)
{
    struct nodes nodes = {.ranges = report_find(report, "ranges")};
    struct arena scratch;
    struct groups names;
    if (!nodes.ranges || nodes.ranges->row_count > MOST_NODES)
        return true;
    arena_init(&scratch, run->budget);
    groups_init(&names, run->budget);
    bool ok =
        find_nodes(&nodes, &scratch, err) && sum_names(run, rank, &nodes, &names, &scratch, err);
    groups_free(&names);
    arena_free(&scratch);
    return ok;
}

bool run_ranges_view(const struct table *ranges, struct report *report, struct err *err)
{
    for (size_t i = 0; i < ranges->row_count; i++) {
        struct row row = {.desc = &table_run_ranks};
        struct parts parts = {0};
        int64_t steps = table_i64(ranges, i, RUN_RANK_RANGES_STEPS, 0);
        parts.bar_ns[BAR_OTHER_COMPUTE] = table_i64(ranges, i, RUN_RANK_RANGES_COMPUTE_NS, 0);
        parts.bar_ns[BAR_EXPOSED_COMM] = table_i64(ranges, i, RUN_RANK_RANGES_COMMUNICATION_NS, 0);
        parts.bar_ns[BAR_EXPOSED_MEMORY] = table_i64(ranges, i, RUN_RANK_RANGES_COPY_NS, 0);
        parts.bar_ns[BAR_IDLE_OTHER] = table_i64(ranges, i, RUN_RANK_RANGES_IDLE_NS, 0);
        if (steps > 0)
            parts = parts_per_step(&parts, steps);
        row_i64(&row, RUN_RANKS_RANK, table_i64(ranges, i, RUN_RANK_RANGES_RANK, 0));
        row_i64_if(&row, RUN_RANKS_STEP_COUNT, steps > 0, steps);
        row_i64(&row, RUN_RANKS_WINDOW_NS, parts_window_ns(&parts));
        row_i64(&row, RUN_RANKS_COMPUTE_NS, parts_compute_ns(&parts));
        row_i64(&row, RUN_RANKS_EXPOSED_COMM_NS, parts.bar_ns[BAR_EXPOSED_COMM]);
        row_i64(&row, RUN_RANKS_EXPOSED_MEMORY_NS, parts.bar_ns[BAR_EXPOSED_MEMORY]);
        row_i64(&row, RUN_RANKS_IDLE_NS, parts_idle_ns(&parts));
        row_i64(&row, RUN_RANKS_BUSY_NS, parts_busy_ns(&parts));
        if (!row_end(&row, report, err))
            return false;
    }
    return true;
}
