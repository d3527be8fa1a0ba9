// SPDX-License-Identifier: Apache-2.0
// The steps of ranks as they were recorded, as the replay gives them back, and after changes.
#ifndef ANALYSIS_WHATIF_H
#define ANALYSIS_WHATIF_H

#include "analysis/replay/change.h"
#include "analysis/replay/critical_path.h"

// Beyond a mean error of that share of the step the replay does not answer; nor with a lower share
// of the device time explained.
#define WHATIF_MAX_ERROR 0.03
#define WHATIF_MIN_KNOWN 0.9
// An interval is never narrower than this to either side: a modelled change is never exactly the
// real one.
#define WHATIF_LEAST_ERROR 0.001
// Nor than this share of what the change brings: a graph is a model. The second is of changes after
// which other things wait for each other.
#define WHATIF_DOUBT           0.02
#define WHATIF_STRUCTURE_DOUBT 0.1

struct whatif_step {
    int64_t number;
    int64_t measured_ns, replayed_ns, changed_ns;
};

// Means over steady steps. The error is that of the unchanged replay.
struct whatif_answer {
    const struct whatif_step *steps;
    uint32_t step_count;
    double measured_ns, replayed_ns, changed_ns;
    double error_share, worst_error_share; // of the measured step
    double known_share;                    // of the device time
    double candidate_ns;                   // measured, less what the replay gained
    bool has_interval;                     // there are several steps
    double low_ns, high_ns;                // of further steps; see WHATIF.md
    double gain_low_ns, gain_high_ns;      // of what the change brings to them
    double doubt_share;                    // of the gain, to either side
    bool hides_waits;                      // for absent ranks: the gain is the most there is
    uint32_t violated;
    int64_t touched_ns[CHANGE_MOST]; // recorded device or host time that each change selects
    const char *refused;             // NULL: the answer counts
};

// A rank that can be replayed.
struct whatif {
    const struct facts *facts;
    struct rank_graph graph;
    const int64_t *base_ns; // per step, of the unchanged replay
    const char *refused;    // why it cannot be replayed at all, NULL: it can
};

// Builds the graph and replays it once. Everything lives in arena, but for the graph's edges.
MUST_CHECK bool whatif_open(const struct facts *facts, struct arena *arena, struct arena *edges,
                            struct whatif *whatif, struct err *err);

// What the changes bring; without any: how well the replay reproduces the steps. path: where the
// changed steps' time goes then, all steady ones together, measured less what the replay gained to
// the nanosecond; NULL: not wanted. Any threads at a time.
MUST_CHECK bool whatif_change(const struct whatif *whatif, const struct change_list *list,
                              struct arena *arena, struct whatif_answer *answer,
                              struct path_sums *path, struct err *err);

// By how much the mean steady step gets shorter with these times of the nodes.
MUST_CHECK bool whatif_replay(const struct whatif *whatif, const int64_t *dur,
                              struct arena *scratch, double *gain_ns, struct err *err);

// The end of each node in the unchanged replay.
MUST_CHECK bool whatif_ends(const struct whatif *whatif, struct arena *arena, int64_t **end,
                            struct err *err);

// A step in a replay with these times and ends of the rank's nodes.
struct path_span whatif_span(const struct rank_graph *graph, uint32_t step, const int64_t *dur,
                             const int64_t *end);

// A graph after changes, and what its nodes take then.
struct replay_view {
    struct replay_graph graph;
    int64_t *dur;
};

// What the changes make of a rank that is not refused. It lives in arena.
MUST_CHECK bool whatif_view(const struct whatif *whatif, const struct change_list *list,
                            struct arena *arena, struct replay_view *view, struct err *err);

// What 90 of 100 further steps stay within, in standard deviations of that many steps.
double whatif_spread(uint32_t steps);

// How far an answer to such changes may be off, as a share of what they bring.
double whatif_doubt(const struct change_list *list);

// Whether changes that leave these times of the nodes are of communication.
bool whatif_is_of_communication(const struct whatif *whatif, const struct change_list *list,
                                const int64_t *dur);

// Sums up the steps of an answer, whose doubt is set and which are filled, and decides whether it
// counts.
MUST_CHECK bool whatif_conclude(const struct rank_graph *graph, struct arena *arena,
                                struct whatif_answer *answer, struct err *err);

#endif
