// SPDX-License-Identifier: Apache-2.0
// The table of what a profiler of single kernels measured.
#ifndef ANALYSIS_EVIDENCE_PROFILE_TABLES_H
#define ANALYSIS_EVIDENCE_PROFILE_TABLES_H

#include "analysis/report/report.h"
#include "ingest/evidence/evidence.h"

// Adds kernel_profiles, and to the trust report what was left out; nothing for a file without any.
MUST_CHECK bool profile_tables_add(const struct evidence *evidence, struct str file,
                                   struct report *report, struct err *err);

#endif
