// SPDX-License-Identifier: Apache-2.0
// The tables of a memory snapshot.
#ifndef ANALYSIS_EVIDENCE_SNAPSHOT_TABLES_H
#define ANALYSIS_EVIDENCE_SNAPSHOT_TABLES_H

#include "analysis/report/report.h"
#include "ingest/evidence/evidence.h"

// Adds snapshots and its other tables; nothing for a file that is not a snapshot.
MUST_CHECK bool snapshot_tables_add(const struct evidence *evidence, struct str file,
                                    struct report *report, struct err *err);

#endif
