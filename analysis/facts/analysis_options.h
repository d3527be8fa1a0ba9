// SPDX-License-Identifier: Apache-2.0
// What the user may choose for the analysis of a trace.
#ifndef ANALYSIS_ANALYSIS_OPTIONS_H
#define ANALYSIS_ANALYSIS_OPTIONS_H

#include "ingest/base/cores.h"

#include <stdint.h>

struct peaks; // what devices can do: analysis/names/peaks.h

// Choices of the user that change numbers, which are part of the result's identity; and who may
// help, which changes none.
struct analysis_options {
    const char *step_pattern;  // annotation that marks a step, NULL for the defaults
    int warmup_steps;          // steps to leave out at the start, -1 for the rule (steps.h)
    const struct peaks *peaks; // rows that go before those built in, NULL: none
    int64_t tokens_per_step;   // over all ranks, 0: not known
    struct cores *cores;       // whose free ones may help; NULL: all on the calling thread
};

#endif
