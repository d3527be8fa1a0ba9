// SPDX-License-Identifier: Apache-2.0
// In which part of a step a launch was made.
#ifndef ANALYSIS_COMM_PHASE_H
#define ANALYSIS_COMM_PHASE_H

#include "analysis/facts/facts.h"

enum comm_phase {
    PHASE_UNKNOWN,
    PHASE_FORWARD,
    PHASE_BACKWARD,  // including what activation checkpointing repeats
    PHASE_OPTIMIZER, // inside an annotation "Optimizer.step..."
    PHASE_OTHER,     // between backward and optimizer, and from there to the step's end
    COMM_PHASE_COUNT
};

// "forward", ...; NULL if unknown.
const char *comm_phase_word(enum comm_phase phase);

struct phase_span {
    int64_t begin_ns, end_ns;
};

// When backward and optimizer ran on the host. Arrays live in an arena.
struct comm_phases {
    const struct facts *facts;
    int64_t *backward_ns; // starts of the backward's launches, ascending
    uint32_t backward_count;
    struct phase_span *optimizer; // by begin; each ends no earlier than those before it
    uint32_t optimizer_count;
    uint8_t *of; // per launch: enum comm_phase
};

// Linear except for sorting.
MUST_CHECK bool comm_phases_make(const struct facts *facts, struct arena *arena,
                                 struct comm_phases *phases, struct err *err);

// For a launch (index into facts.launches, or FACTS_NONE).
static inline enum comm_phase comm_phase_of(const struct comm_phases *phases, uint32_t launch)
{
    return launch == FACTS_NONE ? PHASE_UNKNOWN : (enum comm_phase)phases->of[launch];
}

#endif
