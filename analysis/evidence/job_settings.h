// SPDX-License-Identifier: Apache-2.0
// The settings that a file gives, and the figures that the job reached.
#ifndef ANALYSIS_EVIDENCE_JOB_SETTINGS_H
#define ANALYSIS_EVIDENCE_JOB_SETTINGS_H

#include "analysis/report/report.h"
#include "ingest/evidence/evidence.h"

// Adds job_settings.
MUST_CHECK bool job_settings_add(const struct evidence *evidence, struct str file,
                                 struct report *report, struct err *err);

// Adds job_results.
MUST_CHECK bool job_results_add(const struct evidence *evidence, struct str file,
                                struct report *report, struct err *err);

#endif
