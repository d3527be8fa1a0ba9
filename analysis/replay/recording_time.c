// SPDX-License-Identifier: Apache-2.0
#include "analysis/replay/recording_time.h"

#include "analysis/findings/findings.h"

// Operators that a thread began within a stretch; *next moves forward with them.
static int64_t count_operators(const struct trace *trace, const struct track *track, uint32_t *next,
                               int64_t begin_ns, int64_t end_ns)
{
    int64_t count = 0;
    for (; *next < track->count && trace->begin_ns[track->first + *next] < end_ns; ++*next)
        count += trace->kind[track->first + *next] == EVENT_CPU_OP &&
                 trace->begin_ns[track->first + *next] >= begin_ns;
    return count;
}

bool recording_time(const struct facts *facts, const struct rank_graph *graph, struct arena *arena,
                    int64_t **ns, struct err *err)
{
    const struct trace *trace = facts->trace;
    uint32_t *next = arena_array(arena, (size_t)trace->track_count + 1, sizeof *next, err);
    *ns = arena_array(arena, (size_t)graph->graph.node_count + 1, sizeof **ns, err);
    if (!next || !*ns)
        return false;
    if (trace->job.recorder != RECORDER_PYTORCH)
        return true;
    for (uint32_t n = facts->device_count; n < graph->graph.node_count; n++) {
        const struct work_node node = rank_graph_node(facts, graph, n);
        if (!work_is_host(node.kind))
            continue;
        int64_t begin_ns = rank_graph_begin(facts, graph, n), dur_ns = graph->dur[n];
        int64_t all_ns =
            FINDING_RECORDING_NS * count_operators(trace, &trace->tracks[node.track],
                                                   &next[node.track], begin_ns, begin_ns + dur_ns);
        (*ns)[n] = all_ns < dur_ns ? all_ns : dur_ns;
    }
    return true;
}
