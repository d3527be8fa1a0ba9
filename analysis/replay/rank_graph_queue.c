// SPDX-License-Identifier: Apache-2.0
// A device takes a limited number of launches ahead: with a full queue, a launching call returns
// once the device is done with what was launched that many launches before.
#include "analysis/replay/rank_graph_build.h"

#include "ingest/base/search.h"

// Shallower queues are not what held a call up.
#define LEAST_DEPTH 256
// A long call takes at least this, and at least this many times the median.
#define LONG_CALL_NS   15000
#define LONG_CALL_OF   4
#define LEAST_BLOCKED  64 // such calls, and half of all long ones: fewer do not show a full queue
#define IS_FULL(depth) ((depth) - (depth) / 32) // slots are given back a few at a time

static uint32_t ended_by(const struct launch_queue *queue, int64_t time_ns)
{
    return count_upto_i64(FIRST_OF(queue->ended, key), queue->ended_count, sizeof *queue->ended,
                          time_ns);
}

static int64_t length_ns(const struct host_call *call)
{
    return call->end_ns - call->begin_ns;
}

static bool list_ended(const struct graph_build *build, struct launch_queue *queue, struct err *err)
{
    const struct facts *facts = build->facts;
    queue->ended =
        arena_room(build->scratch, (size_t)facts->device_count + 1, sizeof *queue->ended, err);
    queue->launched =
        arena_room(build->scratch, (size_t)build->call_count + 1, sizeof *queue->launched, err);
    if (!queue->ended || !queue->launched)
        return false;
    for (uint32_t i = 0; i < facts->device_count; i++)
        if (facts->devices[build->by_end[i].a].launch != FACTS_NONE)
            queue->ended[queue->ended_count++] = build->by_end[i];
    for (uint32_t c = 0, launched = 0; c < build->call_count; c++) {
        uint32_t launch = build->calls[c].launch;
        launched += launch == FACTS_NONE ? 0 : facts->launches[launch].count;
        queue->launched[c] = launched;
    }
    return true;
}

// How many launches had not ended when a call returned.
static uint32_t ahead_of(const struct graph_build *build, const struct launch_queue *queue,
                         uint32_t c)
{
    uint32_t ended = ended_by(queue, build->calls[c].end_ns);
    return queue->launched[c] > ended ? queue->launched[c] - ended : 0;
}

static bool usual_call(const struct graph_build *build, int64_t *usual_ns, struct err *err)
{
    struct arena arena;
    arena_init(&arena, build->facts->budget);
    size_t room = (size_t)build->call_count + 1;
    int64_t *own_ns = arena_room(&arena, room, sizeof *own_ns, err);
    int64_t *other = own_ns ? arena_room(&arena, room, sizeof *other, err) : NULL;
    uint32_t count = 0;
    for (uint32_t c = 0; other && c < build->call_count; c++)
        if (build->calls[c].launch != FACTS_NONE)
            own_ns[count++] = length_ns(&build->calls[c]);
    if (other)
        sort_i64(own_ns, other, count);
    *usual_ns = other && count ? own_ns[count / 2] : 0;
    arena_free(&arena);
    return other != NULL;
}

static bool is_long(const struct launch_queue *queue, const struct host_call *call)
{
    int64_t own_ns = length_ns(call);
    return own_ns > LONG_CALL_NS && own_ns > LONG_CALL_OF * queue->usual_ns;
}

bool graph_build_queue(struct graph_build *build, struct err *err)
{
    struct launch_queue *queue = &build->queue;
    uint32_t deepest = 0, blocked = 0, slow = 0;
    if (!list_ended(build, queue, err) || !usual_call(build, &queue->usual_ns, err))
        return false;
    for (uint32_t c = 0; c < build->call_count; c++) {
        uint32_t ahead = build->calls[c].launch == FACTS_NONE ? 0 : ahead_of(build, queue, c);
        deepest = ahead > deepest ? ahead : deepest;
    }
    for (uint32_t c = 0; deepest >= LEAST_DEPTH && c < build->call_count; c++) {
        if (build->calls[c].launch == FACTS_NONE || !is_long(queue, &build->calls[c]))
            continue;
        slow++;
        blocked += ahead_of(build, queue, c) >= IS_FULL(deepest);
    }
    queue->depth = blocked >= LEAST_BLOCKED && blocked >= slow / 2 ? deepest : 0;
    return true;
}

uint32_t graph_build_slot(const struct graph_build *build, uint32_t c, int64_t *own_ns)
{
    const struct launch_queue *queue = &build->queue;
    const struct host_call *call = &build->calls[c];
    *own_ns = length_ns(call);
    if (queue->depth == 0 || call->launch == FACTS_NONE || queue->launched[c] <= queue->depth)
        return FACTS_NONE;
    uint32_t ended = ended_by(queue, call->end_ns);
    if (!is_long(queue, call) || ahead_of(build, queue, c) < IS_FULL(queue->depth) ||
        queue->ended[ended - 1].key <= call->begin_ns) // it had room
        return queue->ended[queue->launched[c] - queue->depth - 1].a;
    *own_ns = *own_ns < queue->usual_ns ? *own_ns : queue->usual_ns;
    return queue->ended[ended - 1].a;
}
