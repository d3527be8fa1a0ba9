// SPDX-License-Identifier: Apache-2.0
// Tables of one range, from what range_parts says about it.
#ifndef ANALYSIS_RANGE_VIEW_H
#define ANALYSIS_RANGE_VIEW_H

#include "analysis/report/report.h"

// Whether a table of a trace can be had by range: kernels, operators, categories, uncategorized,
// collectives, process_groups, idle_causes, classes and breakdown.
bool range_view_has(const struct table_desc *desc);

// Adds the rows of such a table. parts: the rows of range_parts of the range. Columns that do not
// follow from sums over device events, such as medians, are empty.
MUST_CHECK bool range_view_add(const struct table *parts, const struct table_desc *desc,
                               struct report *report, struct err *err);

#endif
