// SPDX-License-Identifier: Apache-2.0
// The best the device can do for the calls of a row of work.
#ifndef ANALYSIS_WORK_ROOFLINE_H
#define ANALYSIS_WORK_ROOFLINE_H

#include "analysis/work/work_rows.h"

// For all calls of a row, in ns; NaN if unknown.
struct roofline {
    double compute_ns, memory_ns, total_ns;
    const char *bound;
    const char *note;
};

// peak NULL: no peaks are known.
struct roofline work_roofline(const struct work_row *row, const struct peak *peak);

#endif
