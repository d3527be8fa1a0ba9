// SPDX-License-Identifier: Apache-2.0
// Which device event a stream had to wait for. The recording has the calls, not their streams:
// communication waits for what was launched just before; other work for communication, each wait
// for one call, in order.
#include "analysis/replay/rank_graph_build.h"

#include "ingest/base/search.h"

enum { MOST_PENDING = 64 };

// Waits of a thread that no launch took up yet.
struct pending_waits {
    int64_t at_ns[MOST_PENDING];
    uint32_t count;
    uint32_t last_launch; // of the thread: event, or FACTS_NONE
};

struct resolver {
    struct graph_build *build;
    struct pending_waits *threads; // per track
    struct keyed *comm;            // communication by launch: key, a: device event
    uint32_t comm_count, comm_next;
    bool *taken; // per entry of comm
};

static bool list_comm(struct resolver *resolver, struct err *err)
{
    struct graph_build *build = resolver->build;
    const struct facts *facts = build->facts;
    uint32_t first = facts->class_first[CLASS_COMMUNICATION];
    uint32_t most = facts->class_first[CLASS_COMMUNICATION + 1] - first;
    resolver->comm = arena_room(build->scratch, 2 * (size_t)most + 1, sizeof *resolver->comm, err);
    resolver->taken = arena_array(build->scratch, (size_t)most + 1, sizeof(bool), err);
    if (!resolver->comm || !resolver->taken)
        return false;
    for (uint32_t i = 0; i < most; i++) {
        uint32_t device = facts->class_devices[first + i];
        int64_t launched_ns = graph_build_launched_ns(build, device);
        if (launched_ns != INT64_MIN)
            resolver->comm[resolver->comm_count++] = (struct keyed){launched_ns, device, 0};
    }
    sort_keyed(resolver->comm, resolver->comm + most, resolver->comm_count);
    return true;
}

// The first communication that nobody waited for yet and that had ended by then, or FACTS_NONE.
static uint32_t take_comm(struct resolver *resolver, uint32_t device, int64_t wait_ns)
{
    const struct device_event *devices = resolver->build->facts->devices;
    while (resolver->comm_next < resolver->comm_count && resolver->taken[resolver->comm_next])
        resolver->comm_next++;
    uint32_t end = resolver->comm_next + MOST_PENDING;
    end = end < resolver->comm_count ? end : resolver->comm_count;
    for (uint32_t c = resolver->comm_next; c < end && resolver->comm[c].key < wait_ns; c++) {
        uint32_t comm = resolver->comm[c].a;
        if (resolver->taken[c] || devices[comm].track == devices[device].track ||
            devices[comm].end_ns > devices[device].begin_ns)
            continue;
        resolver->taken[c] = true;
        return comm;
    }
    return FACTS_NONE;
}

uint32_t graph_build_last_done(const struct graph_build *build, uint32_t device,
                               int64_t launched_ns)
{
    const struct device_event *event = &build->facts->devices[device];
    return graph_build_done(build, event->track, launched_ns, event->begin_ns);
}

static bool add_awaited(struct graph_build *build, uint32_t device, uint32_t awaited,
                        struct err *err)
{
    if (awaited == FACTS_NONE)
        return true;
    if (build->await_count == build->await_room) {
        size_t room = 2 * build->await_room + 256, size = sizeof *build->awaits;
        void *awaits =
            arena_grow(build->scratch, build->awaits, build->await_room * size, room * size, err);
        if (!awaits)
            return false;
        build->awaits = awaits;
        build->await_room = room;
    }
    build->awaits[build->await_count] = (struct await){awaited, build->first_await[device]};
    build->first_await[device] = build->await_count++;
    return true;
}

// The calls between two events of a thread that make a stream wait for another one.
static void take_up(struct resolver *resolver, struct pending_waits *pending, uint32_t from,
                    uint32_t to)
{
    const struct stream_waits *waits = &resolver->build->waits;
    const struct trace *trace = resolver->build->facts->trace;
    uint32_t at = count_below_u32(waits->calls, waits->call_count, sizeof *waits->calls, from);
    for (; at < waits->call_count && waits->calls[at] < to; at++) {
        if (pending->count == MOST_PENDING)
            memmove(pending->at_ns, pending->at_ns + 1, --pending->count * sizeof *pending->at_ns);
        pending->at_ns[pending->count++] = trace->begin_ns[waits->calls[at]];
    }
}

static bool resolve(struct resolver *resolver, const struct host_call *call, struct err *err)
{
    struct graph_build *build = resolver->build;
    const struct facts *facts = build->facts;
    struct pending_waits *pending = &resolver->threads[call->track];
    uint32_t from = pending->last_launch == FACTS_NONE ? facts->trace->tracks[call->track].first
                                                       : pending->last_launch;
    uint32_t older = pending->count, device = facts->launches[call->launch].first;
    take_up(resolver, pending, from, call->event);
    pending->last_launch = call->event;
    if (facts->devices[device].class == CLASS_COMMUNICATION) {
        if (pending->count == older)
            return true;
        int64_t wait_ns = pending->at_ns[--pending->count];
        return add_awaited(build, device, graph_build_last_done(build, device, wait_ns), err);
    }
    for (uint32_t w = 0; w < pending->count; w++) {
        uint32_t awaited = take_comm(resolver, device, pending->at_ns[w]);
        if (awaited == FACTS_NONE)
            awaited = graph_build_last_done(build, device, pending->at_ns[w]);
        if (!add_awaited(build, device, awaited, err))
            return false;
    }
    pending->count = 0;
    return true;
}

// Rows of cuda_sync name the waiting stream: no guess is needed which one it is.
static bool resolve_rows(struct graph_build *build, struct err *err)
{
    for (uint32_t d = 0; d < build->facts->device_count; d++) {
        uint32_t wait = stream_waits_find(&build->waits, d, build->previous[d]);
        if (wait == FACTS_NONE || build->facts->devices[d].launch == FACTS_NONE)
            continue;
        uint32_t awaited = graph_build_last_done(build, d, graph_build_launched_ns(build, d));
        if (!add_awaited(build, d, awaited, err))
            return false;
    }
    return true;
}

bool graph_build_waits(struct graph_build *build, struct err *err)
{
    const struct facts *facts = build->facts;
    struct resolver resolver = {.build = build};
    uint32_t tracks = facts->trace->track_count;
    build->first_await =
        arena_room(build->scratch, (size_t)facts->device_count + 1, sizeof(uint32_t), err);
    resolver.threads = arena_array(build->scratch, tracks, sizeof *resolver.threads, err);
    if (!build->first_await || !resolver.threads || !list_comm(&resolver, err))
        return false;
    for (uint32_t d = 0; d < facts->device_count; d++)
        build->first_await[d] = FACTS_NONE;
    for (uint32_t t = 0; t < tracks; t++)
        resolver.threads[t].last_launch = FACTS_NONE;
    if (build->waits.row_count)
        return resolve_rows(build, err);
    for (uint32_t c = 0; c < build->call_count; c++)
        if (build->calls[c].launch != FACTS_NONE && !resolve(&resolver, &build->calls[c], err))
            return false;
    return true;
}
