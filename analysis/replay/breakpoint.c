// SPDX-License-Identifier: Apache-2.0
// A step is a longest path, whose length is convex in what is taken off a kernel: each further part
// brings no more than the one before, so the last part that brings its whole time is found by
// bisection.
#include "analysis/replay/breakpoint.h"

#include <string.h>

#define LEAST_GAIN 0.99 // of what is taken off

// Takes `parts` of BREAKPOINT_PARTS off each call of the kernel.
static void shorten(const struct whatif *whatif, const struct path_kernel *kernel, int parts,
                    int64_t *dur)
{
    const struct rank_graph *graph = &whatif->graph;
    const struct facts *facts = whatif->facts;
    for (uint32_t d = 0; d < facts->device_count; d++) { // device event d is node d
        if (facts_device_name(facts, d) != kernel->name ||
            path_part_of(facts, graph, d) != kernel->part)
            continue;
        int64_t dur_ns = graph->dur[d];
        dur[d] = dur_ns - dur_ns / BREAKPOINT_PARTS * parts -
                 dur_ns % BREAKPOINT_PARTS * parts / BREAKPOINT_PARTS;
    }
}

// By how much the steady steps get shorter.
static int64_t gained_ns(const struct whatif *whatif, const int64_t *dur, int64_t *end)
{
    int64_t sum_ns = 0;
    replay_run(&whatif->graph.graph, dur, end);
    for (uint32_t s = 0; s < whatif->graph.step_count; s++) {
        const struct path_span span = whatif_span(&whatif->graph, s, dur, end);
        sum_ns += whatif->base_ns[s] - (span.end_ns - span.begin_ns);
    }
    return sum_ns;
}

// A replay's durations and ends.
struct replaying {
    int64_t *dur, *end;
};

static bool pays(const struct whatif *whatif, const struct path_kernel *kernel, int parts,
                 const struct replaying *replaying)
{
    shorten(whatif, kernel, parts, replaying->dur);
    double taken_ns = (double)kernel->path_ns * parts / BREAKPOINT_PARTS;
    return (double)gained_ns(whatif, replaying->dur, replaying->end) >= LEAST_GAIN * taken_ns;
}

bool breakpoint_find(const struct whatif *whatif, const struct path_kernel *kernel,
                     int64_t *breakpoint_ns, struct err *err)
{
    size_t nodes = whatif->graph.graph.node_count;
    struct arena scratch;
    arena_init(&scratch, whatif->facts->budget);
    struct replaying replaying = {arena_room(&scratch, nodes + 1, sizeof *replaying.dur, err),
                                  arena_room(&scratch, nodes + 1, sizeof *replaying.end, err)};
    bool ok = replaying.dur && replaying.end;
    int low = 0, high = BREAKPOINT_PARTS;
    if (ok)
        memcpy(replaying.dur, whatif->graph.dur, nodes * sizeof *replaying.dur);
    if (ok && pays(whatif, kernel, high, &replaying))
        low = high;
    while (ok && high - low > 1) {
        int middle = (low + high) / 2;
        if (pays(whatif, kernel, middle, &replaying))
            low = middle;
        else
            high = middle;
    }
    arena_free(&scratch);
    *breakpoint_ns = (int64_t)((double)kernel->path_ns * low / BREAKPOINT_PARTS);
    return ok;
}
