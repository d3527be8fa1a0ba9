// SPDX-License-Identifier: Apache-2.0
// Operator calls that launched something, grouped by the work they had to do.
#ifndef ANALYSIS_WORK_ROWS_H
#define ANALYSIS_WORK_ROWS_H

#include "analysis/facts/facts.h"
#include "analysis/stats/groups.h"
#include "analysis/facts/op_calls.h"
#include "analysis/names/peaks.h"
#include "analysis/work/work_model.h"

// Calls of one operator with the same shapes, types, operations and bytes.
struct work_row {
    str_id name, dims, types;
    struct work work;
    int64_t calls, kernels, recompute_calls;
    int64_t steady_calls, steady_recompute_calls; // in steady steps, by launch
    int64_t busy_ns, owned_ns;
    int64_t heavy_owned_ns; // owned by kernels for which work_is_heavy
    str_id kernel;          // with most time
    str_id strides;         // of the inputs of calls, those with most time
    uint32_t module;        // same, index into facts.modules
    uint32_t first;         // of its samples
    bool host_link;         // a copy over the link to the host or to another device
    bool communicates;      // its first device event is communication
    bool message;           // with a known size, or its operator's inputs give it
};

struct work_rows {
    const struct facts *facts;
    const struct op_calls *calls; // those of the facts
    uint32_t *row_of_call;
    struct work_row *rows;
    uint32_t count;
    int64_t *samples;        // busy time of the calls by row, and room for as many
    const struct peak *peak; // of the device, NULL if unknown
};

// Everything lives in arena. Linear in the launches; inputs are parsed once per distinct tuple.
MUST_CHECK bool work_rows_make(const struct facts *facts, struct arena *arena,
                               struct work_rows *rows, struct err *err);

// Whether a device event of a steady step is a matrix product, attention or a convolution: work
// with operations. What is between the products of an unfused attention has none.
bool work_is_heavy(const struct facts *facts, uint32_t device);

// Adds hfu, mfu and so on to the table of metrics.
MUST_CHECK bool work_metrics_add(const struct work_rows *rows, struct report *report,
                                 struct err *err);

#endif
