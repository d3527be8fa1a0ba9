// SPDX-License-Identifier: Apache-2.0
// Goes back from the end of a step, from each node to the one that held it up.
#include "analysis/replay/critical_path.h"

const char *path_part_word(enum path_part part)
{
    static const char *const words[PATH_PARTS] = {
        [PATH_COMPUTE] = "compute",    [PATH_COMMUNICATION] = "communication",
        [PATH_MEMORY] = "memory",      [PATH_HOST] = "host",
        [PATH_DELAY] = "delay",        [PATH_UNRECORDED] = "unrecorded",
        [PATH_ERROR] = "replay_error",
    };
    return words[part];
}

enum path_part path_part_of(const struct facts *facts, const struct rank_graph *graph,
                            uint32_t node)
{
    static const enum path_part of_class[] = {[CLASS_COMPUTE] = PATH_COMPUTE,
                                              [CLASS_COMMUNICATION] = PATH_COMMUNICATION,
                                              [CLASS_MEMORY] = PATH_MEMORY};
    switch (rank_graph_kind(facts, graph, node)) {
    case WORK_DEVICE: return of_class[facts->devices[node].class];
    case WORK_HOST:
    case WORK_CALL: return PATH_HOST;
    case WORK_UNRECORDED:
    case WORK_LEAD: break;
    }
    return PATH_UNRECORDED;
}

// While a path is read.
struct going_back {
    const struct path_span *span;
    const struct path_reader *reader;
    int64_t at_ns; // everything after it has been given
};

// Gives the time from `from_ns` on, as far as it is within the span.
static bool give(struct going_back *back, int64_t from_ns, struct path_piece piece, struct err *err)
{
    int64_t begin_ns = back->span->begin_ns;
    from_ns = from_ns > begin_ns ? from_ns : begin_ns;
    if (from_ns >= back->at_ns)
        return true;
    piece.ns = back->at_ns - from_ns;
    back->at_ns = from_ns;
    return back->reader->visit(back->reader->context, &piece, err);
}

bool critical_path_read(const struct path_span *span, const struct path_reader *reader,
                        struct err *err)
{
    struct going_back back = {span, reader, span->end_ns};
    uint32_t node = span->node, delayed = REPLAY_NONE;
    while (node != REPLAY_NONE && back.at_ns > span->begin_ns) {
        int64_t start_ns = span->end[node] - span->dur[node];
        if (!give(&back, span->end[node], (struct path_piece){delayed, true, 0}, err) ||
            !give(&back, start_ns, (struct path_piece){node, false, 0}, err))
            return false;
        uint32_t edge = replay_holding_edge(span->graph, span->end, node);
        delayed = node;
        node = edge == REPLAY_NONE ? REPLAY_NONE : replay_edge_to(span->graph, node, edge).from;
    }
    return give(&back, span->begin_ns, (struct path_piece){delayed, true, 0}, err);
}
