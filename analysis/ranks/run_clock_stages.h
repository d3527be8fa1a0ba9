// SPDX-License-Identifier: Apache-2.0
// The parts of run_clocks_make, each in the file of its name; internal.
#ifndef ANALYSIS_RUN_CLOCK_STAGES_H
#define ANALYSIS_RUN_CLOCK_STAGES_H

#include "analysis/stats/clock_graph.h"
#include "analysis/ranks/run_comm_stages.h"

#define RUN_CLOCK_ALL UINT8_MAX // instead of a slice

// Which matches count: all, or those in one slice of time.
struct clock_slice {
    const uint8_t *of; // per match; RUN_CLOCK_ALL for those without evidence on clocks
    uint8_t slice;     // RUN_CLOCK_ALL: `of` is ignored
};

static inline bool run_clock_counts(const struct clock_slice *slice, uint32_t match)
{
    return slice->slice == RUN_CLOCK_ALL || slice->of[match] == slice->slice;
}

// Pairs of ranks that send to each other but share no joint collective to compare their clocks by.
struct clock_pairs {
    struct clock_pair *pairs;
    uint32_t *matches; // by pair
    uint32_t count;
};

// The pairs of ranks in different components; none if there is one component. Marks their useful
// matches (comm_match.tells). Arrays live in arena.
MUST_CHECK bool run_clock_sends_find(struct run_comm *comm, struct arena *arena,
                                     struct clock_pairs *pairs, struct err *err);

// Adds an edge for each end of those pairs, each pair being a hub; there must be room.
MUST_CHECK bool run_clock_sends_add(const struct run_comm *comm, const struct clock_pairs *pairs,
                                    const struct clock_slice *slice, struct clock_graph *graph,
                                    struct err *err);

// Solves the offsets of all clocks from the matches that count. Results live in arena.
MUST_CHECK bool run_clocks_solve(struct run_comm *comm, const struct clock_pairs *pairs,
                                 const struct clock_slice *slice, struct arena *arena,
                                 struct clock_graph *graph, struct err *err);

// Fills drifts and jumps of clocks that stray; *strays is whether there are any.
MUST_CHECK bool run_clock_strays_find(struct run_comm *comm, const struct clock_pairs *pairs,
                                      const int64_t *middle_ns, bool *strays, struct err *err);

// End of a member on the rank's clock, straightened but not shifted.
static inline int64_t run_clock_end(const struct run_comm *comm, struct comm_member member)
{
    const struct comm_rank *rank = &comm->ranks[member.rank];
    return run_comm_end(rank, &rank->events[member.event]) - rank->offset_ns;
}

// Mean of values near a center, with weights that fall to 0 (Tukey's biweight), minus the center.
double run_clock_biweight(const int64_t *values, size_t count, int64_t center_ns, double spread_ns);

#define RUN_CLOCK_FLOOR_NS  200  // minimum spread of ends
#define RUN_CLOCK_JITTER_NS 1000 // of ends, which no number of collectives removes

#endif
