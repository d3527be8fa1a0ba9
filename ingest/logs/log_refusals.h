// SPDX-License-Identifier: Apache-2.0
// Text that people take for the log of a job.
#ifndef INGEST_LOGS_LOG_REFUSALS_H
#define INGEST_LOGS_LOG_REFUSALS_H

#include "ingest/base/str.h"

// What to say if there is no step: what it is by its head, and what to send.
const char *log_refusal_of(struct str head);

#endif
