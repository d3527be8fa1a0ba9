// SPDX-License-Identifier: Apache-2.0
// Whom the others waited for, what that rank did meanwhile, and who made it wait in turn.
#ifndef ANALYSIS_RUN_BLAME_H
#define ANALYSIS_RUN_BLAME_H

#include "analysis/ranks/run_comm.h"

// What may make a rank late; in the order of the words below.
enum reason {
    REASON_SLOWER,
    REASON_MORE_WORK,
    REASON_DATA_LOADING,
    REASON_HOST,
    REASON_COPIES,
    REASON_COMMUNICATION,
    REASON_UNKNOWN,
    REASON_COUNT
};

// Sums over the matches of steady steps in which a rank can be late (run_match_has_late).
struct rank_blame {
    int64_t calls;       // it took part in
    int64_t late_calls;  // it started last
    int64_t lateness_ns; // in those: its start minus the median start of the others
    int64_t
        caused_ns; // waits of others: in those, minus what is passed on, plus what is passed to it
    int64_t excess_ns[BEFORE_COUNT]; // in those: what it did more than the others
    double reason_ns[REASON_COUNT];  // in those: lateness by reason
    int64_t compute_ns;              // in those: its compute since the previous match
    uint32_t group;                  // where it caused most
    int64_t group_ns;
};

// What delayed a match: `share` of it the match `cause`, in which the last rank had to wait; the
// rest is the rank's own.
struct match_blame {
    uint32_t cause; // RUN_NONE: nobody else
    float share;
    int64_t caused_ns;       // 0 unless the match counts
    struct comm_member peer; // where the rank that took the cause's place was
};

struct blame {
    const struct run_comm *comm;
    struct rank_blame *ranks;
    struct match_blame *matches;
};

// Arrays live in arena. Linear.
MUST_CHECK bool run_blame_make(const struct run_comm *comm, struct arena *arena,
                               struct blame *blame, struct err *err);

// The rank at the start of the chain of waits that led to the match: the last to arrive, provided
// that it did not have to wait itself (run_root.c).
uint32_t run_root_of(const struct blame *blame, uint32_t match);

// Exposed waiting for a rank that may be at fault.
int64_t run_blame_wait(const struct run_comm *comm, const struct comm_event *event);

// The event before `late`, after index `from`, in which its rank waited longer than the peer in the
// same place; *excess_ns is by how much in total, counted back to where that is largest: further
// back, where ranks met, the peer may have waited for this one. late.event if there is none.
uint32_t run_blame_longest(const struct run_comm *comm, struct comm_member late,
                           struct comm_member peer, uint32_t from, int64_t *excess_ns);

// The member that many calls earlier; rank RUN_NONE if there is none.
static inline struct comm_member run_blame_back(struct comm_member member, uint32_t back)
{
    bool known = member.rank != RUN_NONE && member.event >= back;
    return (struct comm_member){known ? member.rank : RUN_NONE, known ? member.event - back : 0};
}

// The member that started last.
struct comm_member run_blame_late(const struct run_comm *comm, const struct comm_match *match);

#endif
