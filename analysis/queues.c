// SPDX-License-Identifier: Apache-2.0
// How many launches wait in each stream's queue, weighted by time.
#include "analysis/analyses.h"
#include "analysis/sort.h"
#include "analysis/streams.h"
#include "analysis/tables.h"

#define FULL 1000 // launches block at about this many

// Arrays have room for the events of any stream.
struct queue_memory {
    struct keyed *changes, *scratch; // two per event; a: 1 for a launch, 0 for a begin
    int64_t *level_ns;               // time by number of queued events, one more than events
    uint32_t *queued_on;             // per launch: the last row it queued on, plus 1
};

static int64_t within(const struct facts *facts, int64_t time_ns)
{
    if (time_ns < facts->begin_ns)
        return facts->begin_ns;
    return time_ns < facts->end_ns ? time_ns : facts->end_ns;
}

// The changes of a stream in order of time. A launch queues once per stream, until its first event
// there begins.
static uint32_t gather(const struct facts *facts, const struct streams *streams, uint32_t track,
                       struct queue_memory *memory)
{
    uint32_t changes = 0;
    for (uint32_t i = streams->first[track]; i < streams->first[track + 1]; i++) {
        const struct device_event *device = &facts->devices[streams->devices[i]];
        if (device->launch == FACTS_NONE)
            continue;
        int64_t launch_ns = facts->trace->begin_ns[facts->launches[device->launch].event];
        if (memory->queued_on[device->launch] == track + 1 || launch_ns >= device->begin_ns)
            continue;
        memory->queued_on[device->launch] = track + 1;
        memory->changes[changes++] = (struct keyed){within(facts, launch_ns), 1, 0};
        memory->changes[changes++] = (struct keyed){device->begin_ns, 0, 0};
    }
    sort_keyed(memory->changes, memory->scratch, changes);
    return changes;
}

// Fills level_ns and returns how many levels it has.
static uint32_t weigh(const struct facts *facts, uint32_t changes, struct queue_memory *memory)
{
    uint32_t level = 0, levels = 1;
    int64_t now_ns = facts->begin_ns;
    memory->level_ns[0] = 0;
    for (uint32_t i = 0; i < changes; i++) {
        memory->level_ns[level] += memory->changes[i].key - now_ns;
        now_ns = memory->changes[i].key;
        level = memory->changes[i].a ? level + 1 : level - 1;
        if (level == levels)
            memory->level_ns[levels++] = 0;
    }
    memory->level_ns[level] += facts->end_ns - now_ns;
    return levels;
}

// The smallest level with at least that percentage of the time at or below it.
static uint32_t percentile(const int64_t *level_ns, uint32_t levels, int64_t window_ns,
                           int64_t percent)
{
    int64_t sum_ns = 0;
    uint32_t level = 0;
    for (; level + 1 < levels; level++) {
        sum_ns += level_ns[level];
        if (sum_ns * 100 >= window_ns * percent) // a window lasts hours: no overflow
            break;
    }
    return level;
}

static bool add_row(const struct facts *facts, uint32_t track, uint32_t changes,
                    struct queue_memory *memory, struct report *report, struct err *err)
{
    int64_t window_ns = facts->end_ns - facts->begin_ns, full_ns = 0;
    uint32_t levels = weigh(facts, changes, memory), max = 0;
    double weighted = 0;
    for (uint32_t level = 0; level < levels; level++) {
        weighted += (double)level * (double)memory->level_ns[level];
        max = memory->level_ns[level] ? level : max;
        full_ns += level >= FULL ? memory->level_ns[level] : 0;
    }
    const struct track *stream = &facts->trace->tracks[track];
    char device[32], name[32];
    struct row row = {0};
    row_text(&row, facts_label(facts->trace, stream->pid, device));
    row_text(&row, facts_label(facts->trace, stream->tid, name));
    row_i64(&row, changes / 2);
    row_f64_if(&row, window_ns > 0, weighted / (double)(window_ns > 0 ? window_ns : 1));
    row_i64(&row, percentile(memory->level_ns, levels, window_ns, 50));
    row_i64(&row, percentile(memory->level_ns, levels, window_ns, 95));
    row_i64(&row, max);
    row_share(&row, memory->level_ns[0], window_ns);
    row_i64(&row, full_ns);
    return row_end(&row, &table_queues, report, err);
}

static bool add_streams(const struct facts *facts, struct arena *arena, struct report *report,
                        struct err *err)
{
    size_t count = facts->device_count;
    struct queue_memory memory = {
        .changes = arena_array(arena, 2 * count, sizeof(struct keyed), err),
        .scratch = arena_array(arena, 2 * count, sizeof(struct keyed), err),
        .level_ns = arena_array(arena, count + 1, sizeof(int64_t), err),
        .queued_on = arena_array(arena, facts->launch_count, sizeof(uint32_t), err),
    };
    struct streams streams;
    if (!memory.changes || !memory.scratch || !memory.level_ns || !memory.queued_on ||
        !streams_make(facts, arena, &streams, err))
        return false;
    for (uint32_t t = 0; t < facts->trace->track_count; t++) {
        uint32_t changes = gather(facts, &streams, t, &memory);
        if (changes && !add_row(facts, t, changes, &memory, report, err))
            return false;
    }
    return true;
}

static bool run(const struct facts *facts, struct report *report, struct err *err)
{
    struct arena arena;
    arena_init(&arena, facts->budget);
    bool ok = add_streams(facts, &arena, report, err);
    arena_free(&arena);
    return ok;
}

const struct analysis queues_analysis = {"queues", run};
