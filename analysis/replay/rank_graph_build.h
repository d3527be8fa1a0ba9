// SPDX-License-Identifier: Apache-2.0
// While a rank's graph is built: its calls, its streams and what it knows of usual delays.
#ifndef ANALYSIS_RANK_GRAPH_BUILD_H
#define ANALYSIS_RANK_GRAPH_BUILD_H

#include "analysis/facts/stream_waits.h"
#include "analysis/replay/rank_graph.h"

#include <assert.h>

// A call that launches or waits for a device.
struct host_call {
    int64_t begin_ns, end_ns; // end: at most the start of the next one on the thread
    uint32_t event, track;
    uint32_t launch; // index into facts.launches, or FACTS_NONE
    bool synchronizes;
    bool of_all_streams; // it waits for the last work of every stream
};

// A device event that another one waits for; next: index of one more for the same, or FACTS_NONE.
struct await {
    uint32_t device, next;
};

// What a device was given ahead of its work.
struct launch_queue {
    uint32_t depth;      // the most launches that it takes; 0: it was never full
    int64_t usual_ns;    // what a launching call takes
    struct keyed *ended; // launched device events by end: key, a
    uint32_t ended_count;
    uint32_t *launched; // per call: device events that were launched with it and before
};

struct graph_build {
    const struct facts *facts;
    struct rank_graph *graph;
    struct arena *arena;      // of the graph
    struct arena *made_edges; // and of its edges
    struct arena *scratch;    // of the build
    struct arena *edge_arena; // of the edges, which outlive the rest of it
    struct host_traits traits;
    struct stream_waits waits;
    struct host_call *calls; // by begin
    uint32_t call_count;
    bool has_synchronizing; // some call waits for a device
    bool may_wait_silently; // and if not, threads may do so without a record
    uint32_t silent_waits;  // found
    struct await *awaits;
    uint32_t *first_await; // per device event: index into awaits, or FACTS_NONE
    uint32_t await_count;
    size_t await_room;
    uint32_t *launch_call; // per launch: index into calls
    uint32_t *previous;    // per device event: the one before it on its stream, or FACTS_NONE
    struct keyed *by_end;  // device events by end: key, a
    struct launch_queue queue;
    int64_t launch_ns, gap_ns, return_ns; // the least delays: from the start of a launch to its
                                          // event, between two events of a stream, and from the
                                          // end of what a call waits for to its return
    size_t node_room, other_room, edge_room;
    uint32_t node_count, other_count;
    struct replay_edge *edges;
    size_t edge_count;
};

// Tracks are rows of a file, of which memory holds far fewer.
static inline struct work_node graph_build_work(uint32_t event, uint32_t track, enum work_kind kind)
{
    assert(track < 1u << 29);
    return (struct work_node){event, track & ((1u << 29) - 1), kind & 7};
}

// Adds the node of a device event or a call, in their order; or any other, after those.
MUST_CHECK bool graph_build_node(struct graph_build *build, int64_t dur_ns, uint32_t *index,
                                 struct err *err);
MUST_CHECK bool graph_build_other(struct graph_build *build, struct work_node node, int64_t dur_ns,
                                  uint32_t *index, struct err *err);
// lag_ns is limited to what an edge holds.
MUST_CHECK bool graph_build_edge(struct graph_build *build, uint32_t from, uint32_t to,
                                 int64_t lag_ns, struct err *err);

// The node of what a thread does before a call, and that of the call: they follow the devices'.
uint32_t graph_build_before(const struct graph_build *build, uint32_t call);
uint32_t graph_build_call(const struct graph_build *build, uint32_t call);

// When a device event was launched, or INT64_MIN if that is unknown.
int64_t graph_build_launched_ns(const struct graph_build *build, uint32_t device);

// Device events that had ended by a time: the first ones of by_end.
uint32_t graph_build_ended(const struct graph_build *build, int64_t time_ns);

// The last device event to end by the second time that was launched before the first, or
// FACTS_NONE; but_track: not on that row (FACTS_NONE: on any).
uint32_t graph_build_done(const struct graph_build *build, uint32_t but_track, int64_t launched_ns,
                          int64_t ended_ns);

// The last event on another stream to end before this one, of those launched before the time.
uint32_t graph_build_last_done(const struct graph_build *build, uint32_t device,
                               int64_t launched_ns);

// Sorts by key; the room that it takes is given back.
MUST_CHECK bool graph_build_sort(const struct graph_build *build, struct keyed *items,
                                 uint32_t count, struct err *err);

// Finds what the host made streams wait for.
MUST_CHECK bool graph_build_waits(struct graph_build *build, struct err *err);

// Lists the calls of all threads by begin.
MUST_CHECK bool graph_build_calls(struct graph_build *build, struct err *err);

// Learns whether calls had to wait for a full queue.
MUST_CHECK bool graph_build_queue(struct graph_build *build, struct err *err);

// The device event whose end makes room for what a call launches, and what the call takes besides
// waiting for it. FACTS_NONE: there was room for all.
uint32_t graph_build_slot(const struct graph_build *build, uint32_t call, int64_t *own_ns);

// Adds the nodes of the threads and what they wait for.
MUST_CHECK bool graph_build_hosts(struct graph_build *build, struct err *err);

// Adds what the device events wait for.
MUST_CHECK bool graph_build_devices(struct graph_build *build, struct err *err);

#endif
