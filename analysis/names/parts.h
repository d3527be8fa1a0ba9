// SPDX-License-Identifier: Apache-2.0
// The eight exclusive parts of a stretch of time, and figures derived from them.
#ifndef ANALYSIS_PARTS_H
#define ANALYSIS_PARTS_H

#include "analysis/names/gap_cause.h"
#include "analysis/report/row.h"

struct parts {
    int64_t bar_ns[BAR_COUNT]; // sum to the window
    int64_t total_comm_ns, total_memory_ns;
    bool waits_only; // communication is the waits for transfers: what is hidden is unknown
    int64_t idle_ns[IDLE_CAUSE_COUNT]; // sum to the bars without a device event; 0 if read from a
                                       // table
};

int64_t parts_window_ns(const struct parts *parts);
int64_t parts_compute_ns(const struct parts *parts);
int64_t parts_idle_ns(const struct parts *parts); // without any device event, including unrecorded
                                                  // time
int64_t parts_busy_ns(const struct parts *parts);

// The window without unrecorded time: the basis of shares and utilization.
int64_t parts_recorded_ns(const struct parts *parts);

// Fills the group times, from `column` on.
void parts_row(struct row *row, unsigned column, const struct parts *parts);

// Reads them back from a table's row; `times` is the first column of its group times.
struct parts parts_read(const struct table *table, size_t row, unsigned times);

#define PARTS_MOST_NS (INT64_C(1) << 55) // of a recording: a year

// The first bar that is negative or, with those before it, longer than that, as only damaged tables
// have it; BAR_COUNT: none.
unsigned parts_unsound(const struct parts *parts);

// The mean per step, in integers whose bars sum exactly to the rounded mean window (largest
// remainder). All 0 for unsound parts, and for less than one step.
struct parts parts_per_step(const struct parts *parts, int64_t steps);

// Distributes `whole` in proportion to weights (not negative) by largest remainder, so that out
// sums to it exactly; ties go to the earlier one. If all weights are 0, everything goes to the
// first. O(n log n)
MUST_CHECK bool parts_share_out(int64_t whole, const int64_t *weights, int64_t *out, size_t count,
                                struct err *err);

#endif
