// SPDX-License-Identifier: Apache-2.0
// The tables of a training log.
#ifndef ANALYSIS_EVIDENCE_LOG_TABLES_H
#define ANALYSIS_EVIDENCE_LOG_TABLES_H

#include "analysis/report/report.h"
#include "ingest/evidence/evidence.h"

// Adds logs, log_steps and log_events; nothing for a file without steps and events.
MUST_CHECK bool log_tables_add(const struct evidence *evidence, struct str file,
                               struct report *report, struct err *err);

#endif
