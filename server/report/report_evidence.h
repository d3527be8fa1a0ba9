// SPDX-License-Identifier: Apache-2.0
// Sections of a report based on files other than traces: what links reached, and how fast losses
// fell.
#ifndef SERVER_REPORT_EVIDENCE_H
#define SERVER_REPORT_EVIDENCE_H

#include "analysis/report/report.h"
#include "server/report/document.h"

// Sides of a report that are shown side by side.
struct report_sides {
    const struct report *const *tables; // of each side's first run
    const struct str *names;
    size_t count;
};

// The highest bus bandwidth of each collective in tests of the links. No section without any.
void report_add_links(struct document *doc, const struct report_sides *sides);

// Losses after the same number of steps, and how long each side takes to reach a loss that all
// reach. No section unless a side has losses.
void report_add_convergence(struct document *doc, struct str title,
                            const struct report_sides *sides);

#endif
