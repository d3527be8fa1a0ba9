// SPDX-License-Identifier: Apache-2.0
// How much shorter a kernel can get before the steps no longer gain what it loses.
#ifndef ANALYSIS_BREAKPOINT_H
#define ANALYSIS_BREAKPOINT_H

#include "analysis/replay/whatif.h"

// The parts into which a kernel's time is divided: a breakpoint is known to one of them.
#define BREAKPOINT_PARTS 64

// Device events of a name on the critical path.
struct path_kernel {
    enum path_part part;
    str_id name;
    int64_t path_ns; // in all steady steps together
};

// Takes the same share off each of its calls. *breakpoint_ns is how much of path_ns they can lose
// in steady steps as long as these get at least 99 % of that shorter; path_ns: all. At most 7
// replays. Any threads at a time.
MUST_CHECK bool breakpoint_find(const struct whatif *whatif, const struct path_kernel *kernel,
                                int64_t *breakpoint_ns, struct err *err);

#endif
