// SPDX-License-Identifier: Apache-2.0
// Reads a training log into evidence: steps in any dialect, events between them, settings.
#ifndef INGEST_LOGS_LOG_READER_H
#define INGEST_LOGS_LOG_READER_H

#include "ingest/source/format.h"

// False with ERR_FORMAT if there is no step.
MUST_CHECK bool log_read(const struct format_input *input, struct err *err);

#endif
