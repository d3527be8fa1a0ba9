// SPDX-License-Identifier: Apache-2.0
// Idle gaps: the maximal stretches of the window in which no device event runs, each with the one
// cause that held up the next event.
#ifndef ANALYSIS_GAPS_H
#define ANALYSIS_GAPS_H

#include "analysis/facts/facts.h"

// Each device costs a walk over the host rows; gaps of further devices get no cause.
#define GAPS_MAX_DEVICES 16

struct gap {
    int64_t begin_ns, end_ns;
    uint32_t before;     // last device event to end before it, or FACTS_NONE
    uint32_t next;       // device event that ends it, or FACTS_NONE at the end of the window
    uint32_t host_event; // explains most of it: index into the columns, or FACTS_NONE
    uint8_t cause;       // enum idle_cause
};

// Fills facts.gaps, and facts.gpu_gaps if there are several devices. A zero-length event ends a gap
// and starts the next one.
MUST_CHECK bool gaps_make(struct facts *facts, struct err *err);

#endif
