// SPDX-License-Identifier: Apache-2.0
// Lines of the trust report of a trace or of a run.
#ifndef ANALYSIS_TRUST_H
#define ANALYSIS_TRUST_H

#include "analysis/report/report.h"

struct doubt {
    const char *item;     // stable word
    const char *severity; // "info", "warning", "error"
    int64_t count;
    bool timed, placed; // whether the two members below are set
    int64_t time_ns;    // device time affected; for items on the host see their detail
    int64_t position;   // byte in the decompressed input
    const char *detail, *effect;
};

MUST_CHECK bool doubt_add(struct report *report, const struct doubt *doubt, struct err *err);
MUST_CHECK bool doubt_add_of_run(struct report *report, const struct doubt *doubt, struct err *err);

// Where the group trust starts in the table of a trace or of a run.
unsigned trust_doubt(const struct table_desc *desc);

// The item that counts the secrets of the file.
#define TRUST_SECRETS "secrets"

// The setting in which the hook says how long a step took without recording, in nanoseconds.
#define TRUST_PLAIN_STEP "stepscope.unrecorded_step_ns"

// The count of an item in the table; 0 if it is missing.
int64_t trust_count(const struct report *report, const char *item);

// The device time that it affects; 0 if it is missing or affects none.
int64_t trust_time_ns(const struct report *report, const char *item);

// Whether no step of that rank of a run is marked: its whole recording counts as one.
bool trust_lacks_steps(const struct report *report, int64_t rank);

// Worst severity of the table so far: "error", "warning", "info", or NULL without rows.
const char *trust_worst(const struct report *report);

#endif
