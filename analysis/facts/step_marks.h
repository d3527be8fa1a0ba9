// SPDX-License-Identifier: Apache-2.0
// The annotations that mark steps, on the host or on devices.
#ifndef ANALYSIS_STEP_MARKS_H
#define ANALYSIS_STEP_MARKS_H

#include "analysis/facts/facts.h"

// How the marks of a trace were found.
enum mark_source {
    MARKS_NONE,
    MARKS_CHOSEN,    // the user's pattern
    MARKS_PROFILER,  // ProfilerStep#N
    MARKS_OPTIMIZER, // Optimizer.step#...: they end a step, so each one extends to the next
    MARKS_REPEATED,  // an annotation that repeats and covers, or launches, most
};

struct step_mark {
    int64_t begin_ns, end_ns;
    uint32_t event;
};

struct step_marks {
    enum mark_source source;
    struct step_mark *marks; // ascending, disjoint
    uint32_t count;
    uint32_t joined; // marks of a step that another mark mostly covers
};

// Finds the marks on the host; they live in facts->arena.
MUST_CHECK bool step_marks_find(const struct facts *facts, struct step_marks *marks,
                                struct err *err);
// Those on devices, as profilers of JAX write them: ProfilerStep#N.
MUST_CHECK bool step_marks_find_on_device(const struct facts *facts, struct step_marks *marks,
                                          struct err *err);

// The optimizers' marks, whatever marks the steps: one of each iteration.
MUST_CHECK bool step_marks_find_updates(const struct facts *facts, struct step_marks *marks,
                                        struct err *err);

// Whether an annotation's name matches the user's pattern: equal, or a prefix if it ends with '*'.
bool step_marks_fit(struct str pattern, struct str name);

// Whether the user gave a pattern that matches no annotation of the trace.
bool step_marks_missed(const struct facts *facts);

// The number after '#' in "ProfilerStep#12", or fallback.
int64_t step_marks_number(struct str name, int64_t fallback);

#endif
