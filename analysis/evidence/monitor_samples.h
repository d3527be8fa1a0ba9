// SPDX-License-Identifier: Apache-2.0
// The samples themselves, for joining them to the ranks of a run.
#ifndef ANALYSIS_EVIDENCE_MONITOR_SAMPLES_H
#define ANALYSIS_EVIDENCE_MONITOR_SAMPLES_H

#include "analysis/report/report.h"
#include "ingest/evidence/evidence.h"

// Adds monitor_samples.
MUST_CHECK bool monitor_samples_add(const struct sample_set *set, struct report *report,
                                    struct err *err);

#endif
