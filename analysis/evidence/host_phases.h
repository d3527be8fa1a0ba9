// SPDX-License-Identifier: Apache-2.0
// What the host of a rank did over the whole job, from structured logs.
#ifndef ANALYSIS_EVIDENCE_HOST_PHASES_H
#define ANALYSIS_EVIDENCE_HOST_PHASES_H

#include "analysis/report/report.h"
#include "ingest/evidence/evidence.h"

// Adds host_phases: a row per name of spans.
MUST_CHECK bool host_phases_add(const struct evidence *evidence, struct str file,
                                struct report *report, struct err *err);

#endif
