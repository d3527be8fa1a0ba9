// SPDX-License-Identifier: Apache-2.0
// One device of a memory snapshot, as its tables show it.
#ifndef ANALYSIS_EVIDENCE_SNAPSHOT_VIEW_H
#define ANALYSIS_EVIDENCE_SNAPSHOT_VIEW_H

#include "analysis/report/report.h"
#include "analysis/report/row.h"
#include "ingest/evidence/evidence.h"

struct snapshot_view {
    const struct memory_snapshot *snapshot;
    const struct snapshot_device *device;
    uint32_t number; // of the device
    struct str file;
    struct report *report;
    struct arena *scratch;
};

// The first columns of all tables: file, rank, device.
void snapshot_row_place(const struct snapshot_view *view, struct row *row);
// Calls in a column, nothing for none.
void snapshot_row_calls(const struct snapshot_view *view, struct row *row, unsigned column,
                        uint32_t stack);

// What held most at the peak.
struct snapshot_top {
    const char *category;
    int64_t bytes;
};
// Adds the rows of snapshot_holders.
MUST_CHECK bool snapshot_holders_add(const struct snapshot_view *view, struct snapshot_top *top,
                                     struct err *err);

// Over how many steps growth was measured, and how much it was in all; steps 0: too few.
struct snapshot_growing {
    size_t steps, rows;
    int64_t bytes;
};
// Adds the rows of snapshot_growth.
MUST_CHECK bool snapshot_growth_add(const struct snapshot_view *view,
                                    struct snapshot_growing *growing, struct err *err);

#endif
