// SPDX-License-Identifier: Apache-2.0
// The user's options for the analysis of a trace.
#ifndef ANALYSIS_ANALYSIS_OPTIONS_H
#define ANALYSIS_ANALYSIS_OPTIONS_H

#include "ingest/base/cores.h"

#include <stdbool.h>
#include <stdint.h>

struct peaks; // device limits: analysis/names/peaks.h

// Options that change numbers, which are part of the result's identity; and cores, which do not.
struct analysis_options {
    const char *step_pattern;  // annotation that marks a step, NULL for the defaults
    int warmup_steps;          // steps to leave out at the start, -1: by the rule (steps.h)
    const struct peaks *peaks; // rows that take precedence over built-in ones, NULL: none
    int64_t tokens_per_step;   // over all ranks, 0: unknown
    struct cores *cores;       // free ones may help; NULL: single-threaded
    bool shares_file;          // no option: it is one of several processes of its file
};

#endif
