// SPDX-License-Identifier: Apache-2.0
// Who waits for whom in each process group.
#ifndef ANALYSIS_HANGS_HANG_JUDGE_H
#define ANALYSIS_HANGS_HANG_JUDGE_H

#include "analysis/hangs/hang_seats.h"

enum hang_role {
    HANG_WAITS,    // has it unfinished, and no other member is further
    HANG_BEHIND,   // has it unfinished, while another member has gone past it
    HANG_ABSENT,   // has not entered what another member waits in
    HANG_UNDUMPED, // left no dump
    HANG_PAST,     // has finished everything that others have unfinished
    HANG_UNKNOWN,  // its dump does not say
    HANG_ROLES
};

// A process group with unfinished collectives.
struct hang_case {
    const struct hang_group *group;
    enum hang_role *roles;             // of each member
    const struct hang_seat **at;       // of each member; NULL: none
    size_t counts[HANG_ROLES];         // members in each role
    bool synchronizes;                 // nobody can finish the lowest before all have entered it
    bool *odd;                         // of each member: calls something else than most
    size_t odd_count;                  // 0: no mismatch
    const struct hang_seat *most_call; // one of the majority, and
    const struct hang_seat *odd_call;  // one of the others
    bool tie;                          // there is no majority
};

struct hang_cases {
    struct hang_case *at;
    size_t count;
};

// Also counts in each dump the groups that it is behind in, absent from or waits in.
MUST_CHECK bool hang_judge(struct hang_job *job, struct hang_cases *cases, struct err *err);

#endif
