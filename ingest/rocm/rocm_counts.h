// SPDX-License-Identifier: Apache-2.0
// The hardware counters of one kernel. A profiler records a value for each instance of a counter's
// block, such as each shader engine of each XCD; the counter's value is their sum, as in
// rocprofv3's CSV and in rocpd's view `counters_collection`.
#ifndef INGEST_ROCM_ROCM_COUNTS_H
#define INGEST_ROCM_ROCM_COUNTS_H

#include "ingest/sqlite/text_table.h"

// What to do instead of sending counters alone.
#define ROCM_COUNTED "kernels ran one by one; upload *_kernel_trace.csv of rocprofv3 --kernel-trace"

struct rocm_count {
    int64_t counter; // its id
    double value;
};

struct rocm_counts {
    struct budget *budget;
    struct rocm_count *at;
    size_t count, cap;
};

void rocm_counts_free(struct rocm_counts *counts);

MUST_CHECK bool rocm_counts_add(struct rocm_counts *counts, int64_t counter, double value,
                                struct err *err);

// Adds the sums to a trace as values from a time on, of the process and time of `when`, and empties
// the counts. names: of counters by their ids.
MUST_CHECK bool rocm_counts_end(struct rocm_counts *counts, struct text_table *names,
                                struct trace_builder *builder, const struct counter_record *when,
                                struct err *err);

#endif
