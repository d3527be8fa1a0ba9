// SPDX-License-Identifier: Apache-2.0
// When forward, backward and optimizer ran on each rank of a run: its tables passes, compact.
#ifndef ANALYSIS_RUN_PASSES_H
#define ANALYSIS_RUN_PASSES_H

#include "analysis/report/report.h"

struct pass_times {
    int64_t begin_ns, end_ns; // absolute, by the rank's own clock; none if end is not after begin
    int64_t compute_ns;       // between the two
};

struct step_times {
    int64_t number;
    bool steady;
    struct pass_times passes, optimizer;
    int64_t micro_batches; // forwards followed by a backward, 0 without
};

struct rank_times {
    struct step_times *steps; // ascending by number
    uint32_t count;
};

struct run_passes {
    struct arena arena; // owns all that follows
    struct rank_times *ranks;
    uint32_t count, cap;
    bool trains; // some rank runs optimizer or backward kernels, whether or not its passes are
                 // known
};

// Room for that many ranks. Pair with run_passes_close, even after a failure.
MUST_CHECK bool run_passes_open(struct run_passes *passes, size_t ranks, struct budget *budget,
                                struct err *err);
void run_passes_close(struct run_passes *passes);

// Adds the next rank, even one without the tables, from summary, passes and categories; keeps
// nothing of the report.
MUST_CHECK bool run_passes_add(struct run_passes *passes, const struct report *report,
                               struct err *err);

// The step with that number, NULL if the rank has none. Logarithmic.
const struct step_times *rank_times_find(const struct rank_times *rank, int64_t number);

#endif
