// SPDX-License-Identifier: Apache-2.0
// The roles of a reinforcement learning job over its ranks.
#ifndef ANALYSIS_RUN_ROLES_H
#define ANALYSIS_RUN_ROLES_H

#include "analysis/run/run.h"

enum { RUN_MOST_ROLES = 32 }; // those of other traces are left out

struct role_span;

struct run_roles {
    struct arena arena; // owns all that follows
    struct str names[RUN_MOST_ROLES];
    uint8_t basis[RUN_MOST_ROLES]; // bits: of a trace, of ranges
    uint32_t name_count;
    struct role_span *spans;
    size_t count, cap;
};

// Pair with run_roles_close, even after a failure.
void run_roles_open(struct run_roles *roles, struct budget *budget);
void run_roles_close(struct run_roles *roles);

// Adds a rank, from summary, steps and role_steps; keeps nothing of the report. Called in the order
// of the ranks.
MUST_CHECK bool run_roles_add(struct run_roles *roles, const struct run *run, size_t rank,
                              const struct report *report, struct err *err);

// Adds roles and role_steps to the run's report, if there are two roles.
MUST_CHECK bool run_roles_write(const struct run_roles *roles, const struct run *run,
                                struct err *err);

#endif
