// SPDX-License-Identifier: Apache-2.0
// A rank's Flight Recorder dump as tables, so that the dumps of a run can be judged together
// whenever one more arrives.
#ifndef ANALYSIS_EVIDENCE_FLIGHT_TABLES_H
#define ANALYSIS_EVIDENCE_FLIGHT_TABLES_H

#include "analysis/report/report.h"
#include "ingest/evidence/evidence.h"

// Adds flight, flight_groups and flight_entries, and a doubt if the rank is unknown; nothing for a
// file that is not a dump.
MUST_CHECK bool flight_tables_add(const struct evidence *evidence, struct str file,
                                  struct report *report, struct err *err);

// The dump that such tables hold; nothing in them is trusted. Pair with evidence_free. *is false
// without them. ERR_LIMIT past the evidence's budget.
MUST_CHECK bool flight_tables_read(const struct report *report, struct evidence *evidence, bool *is,
                                   struct err *err);

#endif
