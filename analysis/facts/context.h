// SPDX-License-Identifier: Apache-2.0
// Where in the model a launch is: Python frame, module, forward operator, recomputation.
#ifndef ANALYSIS_CONTEXT_H
#define ANALYSIS_CONTEXT_H

#include "analysis/facts/facts.h"
#include "analysis/stats/sort.h"

// facts.frame_state of a Python frame: the module inside it, and whether checkpointing repeats a
// forward there, or runs the engine on what was repeated.
#define CONTEXT_RECOMPUTED  (UINT32_C(1) << 31)
#define CONTEXT_ENGINE      (UINT32_C(1) << 30)
#define CONTEXT_MODULE_MASK (CONTEXT_ENGINE - 1)

// Longest module path in bytes; a longer one starts with ".../".
#define CONTEXT_PATH_MAX 1024

// Fills facts.modules, and frame, forward, module, backward and recompute of the launches.
MUST_CHECK bool context_make(struct facts *facts, struct err *err);

// The context of one host event.
struct context {
    uint32_t op;     // innermost operator around it, excluding itself, or FACTS_NONE
    uint32_t frame;  // innermost Python frame of its thread at the time, or FACTS_NONE
    uint32_t module; // index into facts.modules, 0: none
};

// Looks up one event of a host row; linear in its thread's rows, so for a few events only.
MUST_CHECK bool context_at(const struct facts *facts, uint32_t event, struct context *context,
                           struct err *err);

// Sets b of events on host rows, ascending by key, to the innermost Python frame at their start, or
// FACTS_NONE. Needs facts.frame_state; linear in the rows of the events' threads.
MUST_CHECK bool context_find_frames(const struct facts *facts, struct keyed *events, uint32_t count,
                                    struct err *err);

// "Model_0/Linear_3": names from the top module down, without the prefix "nn.Module: ". Empty for
// the root. Text lives in arena; NULL text on failure.
struct str context_module_path(const struct facts *facts, uint32_t module, struct arena *arena,
                               struct err *err);

#endif
