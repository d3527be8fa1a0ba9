// SPDX-License-Identifier: Apache-2.0
// The tables of what a monitor recorded.
#ifndef ANALYSIS_EVIDENCE_MONITOR_TABLES_H
#define ANALYSIS_EVIDENCE_MONITOR_TABLES_H

#include "analysis/report/report.h"
#include "ingest/evidence/evidence.h"

// Adds monitors and monitor_series; nothing for a file without samples.
MUST_CHECK bool monitor_tables_add(const struct evidence *evidence, struct str file,
                                   struct report *report, struct err *err);

#endif
