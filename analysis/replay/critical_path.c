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

static enum path_part part_of(const struct whatif *whatif, uint32_t node)
{
    static const enum path_part of_class[] = {[CLASS_COMPUTE] = PATH_COMPUTE,
                                              [CLASS_COMMUNICATION] = PATH_COMMUNICATION,
                                              [CLASS_MEMORY] = PATH_MEMORY};
    const struct work_node *work = &whatif->graph.nodes[node];
    switch ((enum work_kind)work->kind) {
    case WORK_DEVICE: return of_class[whatif->facts->devices[work->event].class];
    case WORK_HOST:
    case WORK_CALL: return PATH_HOST;
    case WORK_UNRECORDED:
    case WORK_LEAD: break;
    }
    return PATH_UNRECORDED;
}

static bool give(const struct path_reader *reader, struct path_piece piece, struct err *err)
{
    return piece.ns == 0 || reader->visit(reader->context, &piece, err);
}

bool critical_path_read(const struct whatif *whatif, const int64_t *end, uint32_t step,
                        const struct path_reader *reader, struct err *err)
{
    const struct rank_graph *graph = &whatif->graph;
    const struct work_step *borders = &graph->steps[step];
    const struct step *recorded = &whatif->facts->steps[borders->step];
    int64_t stop_ns = rank_graph_at(&borders->begin, graph->dur, end);
    int64_t at_ns = rank_graph_at(&borders->end, graph->dur, end), replayed_ns = at_ns - stop_ns;
    uint32_t node = borders->end.node, from = REPLAY_NONE;
    int64_t next_ns = node == REPLAY_NONE ? stop_ns : end[node]; // of what comes before
    uint32_t held = REPLAY_NONE;                                 // what the delay is before
    while (at_ns > stop_ns) {
        next_ns = next_ns > stop_ns && node != REPLAY_NONE ? next_ns : stop_ns;
        next_ns = next_ns < at_ns ? next_ns : at_ns;
        if (!give(reader, (struct path_piece){PATH_DELAY, held, node, at_ns - next_ns}, err))
            return false;
        at_ns = next_ns;
        if (node == REPLAY_NONE || at_ns <= stop_ns)
            break;
        int64_t start_ns = end[node] - graph->dur[node];
        start_ns = start_ns > stop_ns ? start_ns : stop_ns;
        start_ns = start_ns < at_ns ? start_ns : at_ns;
        if (!give(reader,
                  (struct path_piece){part_of(whatif, node), node, REPLAY_NONE, at_ns - start_ns},
                  err))
            return false;
        at_ns = start_ns;
        uint32_t edge = replay_holding_edge(&graph->graph, end, node);
        held = node;
        from = edge == REPLAY_NONE ? REPLAY_NONE : graph->graph.from[edge];
        node = from;
        next_ns = node == REPLAY_NONE ? stop_ns : end[node];
    }
    int64_t measured_ns = recorded->end_ns - recorded->begin_ns;
    return give(
        reader,
        (struct path_piece){PATH_ERROR, REPLAY_NONE, REPLAY_NONE, measured_ns - replayed_ns}, err);
}

static bool add_piece(void *context, const struct path_piece *piece, struct err *err)
{
    (void)err;
    int64_t *sums_ns = context;
    sums_ns[piece->part] += piece->ns;
    return true;
}

bool critical_path_sums(const struct whatif *whatif, int64_t sums_ns[PATH_PARTS], struct err *err)
{
    const struct path_reader reader = {add_piece, sums_ns};
    for (int part = 0; part < PATH_PARTS; part++)
        sums_ns[part] = 0;
    replay_run(&whatif->graph.graph, whatif->graph.dur, whatif->end);
    for (uint32_t s = 0; s < whatif->graph.step_count; s++)
        if (!critical_path_read(whatif, whatif->end, s, &reader, err))
            return false;
    return true;
}
