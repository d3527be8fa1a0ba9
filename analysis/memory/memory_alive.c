// SPDX-License-Identifier: Apache-2.0
// Replays allocations up to the peak and sums the live ones.
#include "analysis/memory/memory_alive.h"

#include "analysis/facts/context.h"
#include "analysis/stats/groups.h"
#include "analysis/facts/host_stack.h"
#include "analysis/report/ranked.h"
#include "analysis/report/row.h"
#include "analysis/stats/sort.h"
#include "analysis/report/tables.h"

// Blocks of one operator and module.
struct holder {
    int64_t bytes, allocations;
};

struct alive {
    const struct facts *facts;
    const struct memory_curve *curve;
    struct arena arena;
    struct groups addresses, holders; // holders: operator's name, module
    struct keyed *blocks;             // live blocks: key is the event that allocated, ascending
    uint32_t count;
    struct holder *sums; // per holder
    int64_t bytes;       // of all blocks
    int64_t peak_bytes;
};

static const struct memory_args *args_of(const struct alive *alive, int64_t event)
{
    return &alive->facts->trace->memory_args[alive->facts->trace->args[event]];
}

// Leaves the live allocation in blocks, by the number of its address, or -1 if there is none.
static bool replay(struct alive *alive, uint32_t last, struct err *err)
{
    const struct trace *trace = alive->facts->trace;
    for (uint32_t i = 0; i <= last; i++) {
        int64_t bytes = memory_curve_bytes(trace, alive->curve, i);
        uint32_t event = alive->curve->events[i], index;
        if (!groups_index(&alive->addresses, (uint64_t)args_of(alive, event)->address, 0, &index,
                          err))
            return false;
        alive->blocks[index].key = bytes > 0 ? (int64_t)event : -1;
    }
    return true;
}

// Sorts blocks by event, so that those of a thread are contiguous and in time order.
static void gather(struct alive *alive, struct keyed *scratch)
{
    for (uint32_t i = 0; i < alive->addresses.count; i++) {
        int64_t event = alive->blocks[i].key;
        if (event < 0)
            continue;
        alive->blocks[alive->count++] = (struct keyed){event, FACTS_NONE, FACTS_NONE};
        alive->bytes += args_of(alive, event)->bytes;
    }
    sort_keyed(alive->blocks, scratch, alive->count);
}

// Sets a of the blocks to the operator around them.
static bool find_ops(struct alive *alive, struct host_stack *cursor, struct err *err)
{
    const struct trace *trace = alive->facts->trace;
    uint32_t next = 0;
    for (uint32_t t = 0; t < trace->track_count && next < alive->count; t++) {
        const struct track *track = &trace->tracks[t];
        int64_t end = (int64_t)track->first + track->count;
        if (alive->blocks[next].key >= end)
            continue;
        host_stack_start(cursor, track, HOST_STACK_OPS);
        for (; next < alive->count && alive->blocks[next].key < end; next++) {
            int64_t time_ns = trace->begin_ns[alive->blocks[next].key];
            if (!host_stack_find(cursor, time_ns, time_ns, &alive->blocks[next].a, err))
                return false;
        }
    }
    return true;
}

// Sums the blocks by the operator and module that allocated them.
static bool sum(struct alive *alive, struct err *err)
{
    const struct facts *facts = alive->facts;
    if (facts->frame_state && !context_find_frames(facts, alive->blocks, alive->count, err))
        return false;
    for (uint32_t i = 0; i < alive->count; i++) {
        const struct keyed *block = &alive->blocks[i];
        str_id op = block->a == FACTS_NONE ? 0 : facts->trace->name[block->a];
        uint32_t module = 0, index;
        if (block->b != FACTS_NONE)
            module = facts->frame_state[block->b] & CONTEXT_MODULE_MASK;
        if (!groups_index(&alive->holders, op, module, &index, err))
            return false;
        alive->sums[index].bytes += args_of(alive, block->key)->bytes;
        alive->sums[index].allocations++;
    }
    return true;
}

static bool add_row(struct alive *alive, struct report *report, const struct holder *holder,
                    struct group_key by, struct err *err)
{
    struct str op = trace_text(alive->facts->trace, (str_id)by.a);
    struct str path = context_module_path(alive->facts, (uint32_t)by.b, &alive->arena, err);
    char device[32];
    struct row row = {.desc = &table_peak_allocations};
    if (!path.at)
        return false;
    row_text(&row, PEAK_ALLOCATIONS_DEVICE, memory_curve_device(alive->curve, device));
    row_text_if(&row, PEAK_ALLOCATIONS_OP, by.a != 0, op);
    row_text_if(&row, PEAK_ALLOCATIONS_MODULE, path.len > 0, path);
    row_i64_if(&row, PEAK_ALLOCATIONS_ALLOCATIONS, holder->allocations > 0, holder->allocations);
    row_i64(&row, PEAK_ALLOCATIONS_BYTES, holder->bytes);
    row_share(&row, PEAK_ALLOCATIONS_PEAK_SHARE, holder->bytes, alive->peak_bytes);
    row_word(&row, PEAK_ALLOCATIONS_ORIGIN, holder->allocations > 0 ? "recorded" : "before");
    return row_end(&row, report, err);
}

static bool add_rows(struct alive *alive, struct report *report, struct err *err)
{
    uint32_t count = alive->holders.count;
    struct ranked *ranked = arena_array(&alive->arena, count, sizeof *ranked, err);
    if (!ranked)
        return false;
    for (uint32_t h = 0; h < count; h++) {
        struct str name = trace_text(alive->facts->trace, (str_id)alive->holders.keys[h].a);
        ranked[h] = (struct ranked){alive->sums[h].bytes, name, h};
    }
    ranked_sort(ranked, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t h = ranked[i].index;
        if (!add_row(alive, report, &alive->sums[h], alive->holders.keys[h], err))
            return false;
    }
    struct holder before = {.bytes = alive->peak_bytes - alive->bytes};
    return before.bytes == 0 || add_row(alive, report, &before, (struct group_key){0, 0}, err);
}

static bool walk(struct alive *alive, uint32_t last, struct err *err)
{
    struct host_stack cursor;
    alive->blocks = arena_array(&alive->arena, 2 * ((size_t)last + 1), sizeof *alive->blocks, err);
    alive->sums = arena_array(&alive->arena, (size_t)last + 1, sizeof *alive->sums, err);
    if (!alive->blocks || !alive->sums || !replay(alive, last, err))
        return false;
    gather(alive, alive->blocks + last + 1);
    host_stack_init(&cursor, alive->facts->trace, alive->facts->budget);
    bool ok = find_ops(alive, &cursor, err);
    host_stack_free(&cursor);
    return ok && sum(alive, err);
}

bool memory_alive_add(const struct facts *facts, const struct memory_curve *curve,
                      struct memory_peak peak, struct report *report, int64_t *rest,
                      struct err *err)
{
    struct alive alive = {.facts = facts, .curve = curve, .peak_bytes = peak.allocated};
    arena_init(&alive.arena, facts->budget);
    groups_init(&alive.addresses, facts->budget);
    groups_init(&alive.holders, facts->budget);
    bool ok = (peak.point == FACTS_NONE || walk(&alive, peak.point, err)) &&
              add_rows(&alive, report, err);
    *rest = peak.allocated - alive.bytes;
    groups_free(&alive.holders);
    groups_free(&alive.addresses);
    arena_free(&alive.arena);
    return ok;
}
