// SPDX-License-Identifier: Apache-2.0
// What makes a text a training log.
#ifndef INGEST_LOGS_LOG_HAS_STEP_H
#define INGEST_LOGS_LOG_HAS_STEP_H

#include "ingest/base/str.h"

#include <stdbool.h>

// Whether a step is in the text, whose last line may be cut.
bool log_has_step(struct str text);

#endif
