// SPDX-License-Identifier: Apache-2.0
// Keeps a report within the size that its reader will store.
#ifndef ANALYSIS_TABLE_LIMIT_H
#define ANALYSIS_TABLE_LIMIT_H

#include "analysis/report/report.h"

#define TRUST_ROWS_LEFT_OUT "rows_left_out"

// Rows of comm_calls; later ones are left out, and the trust report says so.
#define COMM_TABLE_MAX_CALLS 100000u

// Drops the last rows of the largest tables until all take at most max_bytes (0: no limit) by
// report_bytes, and says so in `trust`, the report's trust report. Small tables stay whole.
MUST_CHECK bool table_limit(struct report *report, uint64_t max_bytes,
                            const struct table_desc *trust, struct err *err);

#endif
