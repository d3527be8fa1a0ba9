// SPDX-License-Identifier: Apache-2.0
// Figures of what a trace recorded, added up over the processes of a file.
#ifndef SERVER_TRACE_FIGURES_H
#define SERVER_TRACE_FIGURES_H

#include "analysis/stats/groups.h"
#include "ingest/base/figures.h"
#include "ingest/trace/trace.h"

struct trace_figures {
    struct figures *figures;
    struct groups kernels; // names, by their hash
    int64_t devices;
};

// "events", "repairs", "kernels", "kernel_total_ns", "distinct_kernels", "communication_kernels",
// and for each device of each process its activities and how long any of them ran.
MUST_CHECK bool trace_figures_add(struct trace_figures *totals, const struct trace *trace,
                                  struct err *err);

#endif
