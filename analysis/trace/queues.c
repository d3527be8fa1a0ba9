// SPDX-License-Identifier: Apache-2.0
// How many launches wait in each stream's queue, weighted by time.
#include "analysis/trace/analyses.h"
#include "analysis/stats/sort.h"
#include "analysis/trace/streams.h"
#include "analysis/report/tables.h"

#define FULL 1000 // launches block at about this many

// Arrays with room for the events of any stream.
struct queue_memory {
    int64_t *launch_ns, *begin_ns; // ascending: when launches join the queue and leave it
    int64_t *scratch;
    int64_t *level_ns;   // time by number of queued events; one more than events
    uint32_t *queued_on; // per launch: the last row it was queued on, plus 1
};

static int64_t within(const struct facts *facts, int64_t time_ns)
{
    if (time_ns < facts->begin_ns)
        return facts->begin_ns;
    return time_ns < facts->end_ns ? time_ns : facts->end_ns;
}

// How many launches queue on a stream: each once, until its first event there starts. Devices work
// in launch order, so launches need no sorting.
static uint32_t gather(const struct facts *facts, const struct streams *streams, uint32_t track,
                       struct queue_memory *memory)
{
    uint32_t count = 0;
    bool ascends = true;
    for (uint32_t i = streams->first[track]; i < streams->first[track + 1]; i++) {
        const struct device_event *device = &facts->devices[streams->devices[i]];
        if (device->launch == FACTS_NONE)
            continue;
        int64_t launch_ns = facts->trace->begin_ns[facts->launches[device->launch].event];
        if (memory->queued_on[device->launch] == track + 1 || launch_ns >= device->begin_ns)
            continue;
        memory->queued_on[device->launch] = track + 1;
        memory->launch_ns[count] = within(facts, launch_ns);
        memory->begin_ns[count] = device->begin_ns;
        ascends &= count == 0 || memory->launch_ns[count - 1] <= memory->launch_ns[count];
        count++;
    }
    if (!ascends)
        sort_i64(memory->launch_ns, memory->scratch, count);
    return count;
}

// Fills level_ns and returns the number of levels. If a launch and a start coincide, the launch
// comes first, so that no level is negative.
static uint32_t weigh(const struct facts *facts, uint32_t count, struct queue_memory *memory)
{
    uint32_t launched = 0, levels = 1;
    int64_t now_ns = facts->begin_ns;
    memory->level_ns[0] = 0;
    for (uint32_t begun = 0; begun < count;) {
        bool launch = launched < count && memory->launch_ns[launched] <= memory->begin_ns[begun];
        int64_t then_ns = launch ? memory->launch_ns[launched] : memory->begin_ns[begun];
        memory->level_ns[launched - begun] += then_ns - now_ns;
        now_ns = then_ns;
        launched += launch;
        begun += !launch;
        if (launched - begun == levels)
            memory->level_ns[levels++] = 0;
    }
    memory->level_ns[0] += facts->end_ns - now_ns; // all have started
    return levels;
}

// The lowest level with at least that percentage of the time at or below it.
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

static bool add_row(const struct facts *facts, uint32_t track, uint32_t count,
                    struct queue_memory *memory, struct report *report, struct err *err)
{
    int64_t window_ns = facts->end_ns - facts->begin_ns, full_ns = 0;
    uint32_t levels = weigh(facts, count, memory), max = 0;
    double weighted = 0;
    for (uint32_t level = 0; level < levels; level++) {
        weighted += (double)level * (double)memory->level_ns[level];
        max = memory->level_ns[level] ? level : max;
        full_ns += level >= FULL ? memory->level_ns[level] : 0;
    }
    const struct track *stream = &facts->trace->tracks[track];
    char device[32], name[32];
    struct row row = {.desc = &table_queues};
    row_text(&row, QUEUES_DEVICE, facts_label(facts->trace, stream->pid, device));
    row_text(&row, QUEUES_STREAM, facts_label(facts->trace, stream->tid, name));
    row_i64(&row, QUEUES_LAUNCHES, count);
    row_f64_if(&row, QUEUES_MEAN, window_ns > 0,
               weighted / (double)(window_ns > 0 ? window_ns : 1));
    row_i64(&row, QUEUES_MEDIAN, percentile(memory->level_ns, levels, window_ns, 50));
    row_i64(&row, QUEUES_P95, percentile(memory->level_ns, levels, window_ns, 95));
    row_i64(&row, QUEUES_MAX, max);
    row_share(&row, QUEUES_EMPTY_SHARE, memory->level_ns[0], window_ns);
    row_i64(&row, QUEUES_FULL_NS, full_ns);
    return row_end(&row, report, err);
}

static bool run(const struct facts *facts, struct arena *arena, struct report *report,
                struct err *err)
{
    size_t count = facts->device_count;
    struct queue_memory memory = {
        .launch_ns = arena_room(arena, count, sizeof(int64_t), err),
        .begin_ns = arena_room(arena, count, sizeof(int64_t), err),
        .scratch = arena_room(arena, count, sizeof(int64_t), err),
        .level_ns = arena_room(arena, count + 1, sizeof(int64_t), err),
        .queued_on = arena_array(arena, facts->launch_count, sizeof(uint32_t), err),
    };
    struct streams streams;
    if (!memory.launch_ns || !memory.begin_ns || !memory.scratch || !memory.level_ns ||
        !memory.queued_on || !streams_make(facts, arena, &streams, err))
        return false;
    for (uint32_t t = 0; t < facts->trace->track_count; t++) {
        uint32_t queued = gather(facts, &streams, t, &memory);
        if (queued && !add_row(facts, t, queued, &memory, report, err))
            return false;
    }
    return true;
}

const struct analysis queues_analysis = {"queues", run};
