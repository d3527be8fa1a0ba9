// SPDX-License-Identifier: Apache-2.0
// The tables of what a file says about a run besides a timeline of events.
#ifndef ANALYSIS_EVIDENCE_REPORT_H
#define ANALYSIS_EVIDENCE_REPORT_H

#include "analysis/report/report.h"
#include "ingest/evidence/evidence.h"

// Adds the tables of evidence_tables that the file has rows for. file: its name, in every row.
MUST_CHECK bool evidence_report(const struct evidence *evidence, struct str file,
                                struct report *report, struct err *err);

#endif
