// SPDX-License-Identifier: Apache-2.0
// What each named range consists of, for tables by range.
#ifndef ANALYSIS_RANGE_PARTS_H
#define ANALYSIS_RANGE_PARTS_H

#include "analysis/report/report.h"
#include "analysis/trace/range_tree.h"

// Adds range_parts. Linear in device events and idle gaps, and a look at the depth of the tree per
// row.
MUST_CHECK bool range_parts_add(const struct range_tree *tree, struct report *report,
                                struct err *err);

#endif
