// SPDX-License-Identifier: Apache-2.0
// The stages of run_comm_solve, each in the file of its name; internal.
#ifndef ANALYSIS_RUN_COMM_STAGES_H
#define ANALYSIS_RUN_COMM_STAGES_H

#include "analysis/ranks/run_comm.h"

// This many are worth a helper thread: they take a few hundred microseconds.
enum { RUN_MATCHES_EACH = 1024, RUN_RANKS_EACH = 16 };

// Fills matches and members, and each event's match, by the recorded sequence numbers, which stand
// in the events' waits; says which matches are doubtful. Once clocks are known, again: doubtful
// ones by the clocks.
MUST_CHECK bool run_match_make(struct run_comm *comm, struct err *err);
MUST_CHECK bool run_match_again(struct run_comm *comm, struct err *err);

// Fills comm_group.staged from the matches.
MUST_CHECK bool run_staged_make(struct run_comm *comm, struct err *err);

// Fills the ranks' offsets, components and errors from the matches, but for doubtful collectives.
MUST_CHECK bool run_clocks_make(struct run_comm *comm, struct err *err);

// Undoes matches of sends with receives that had ended before they began, by the clocks, and sets
// the waits of events to 0.
void run_match_finish(struct run_comm *comm);

// Fills the waits of events, latest rank and transfer of matches, and sums by step and rank.
MUST_CHECK bool run_waits_make(struct run_comm *comm, struct err *err);

// The number a call was recorded with, -1 when it was not; it stands where the wait will.
static inline int64_t run_match_sequence(const struct comm_event *event)
{
    return event->wait_ns;
}

// Whether someone can be late in it: its ranks do the same, and their clocks can be compared.
static inline bool run_match_has_late(const struct run_comm *comm, const struct comm_match *match)
{
    const struct comm_op *op = &comm->ops[match->op];
    return match->latest_rank != RUN_NONE && !run_comm_is_p2p(op->kind) &&
           !comm->groups[op->group].staged;
}

// Which of the ranks that were joined stands for them; parent[r] = r at first.
static inline uint32_t run_joined_root(uint32_t *parent, uint32_t rank)
{
    while (parent[rank] != rank) {
        parent[rank] = parent[parent[rank]];
        rank = parent[rank];
    }
    return rank;
}

// Median of values in any order, which are moved about; of an even number the mean of the two in
// the middle. 0 without values. Linear.
int64_t run_median(int64_t *values, int64_t *scratch, size_t count);

// Whether most members are in steady steps: only such matches count for the tables.
bool run_match_is_steady(const struct run_comm *comm, const struct comm_match *match);

#endif
