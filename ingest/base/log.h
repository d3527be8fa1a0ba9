// SPDX-License-Identifier: Apache-2.0
// One line per event on standard error: time, level, message. Safe from any thread.
#ifndef INGEST_BASE_LOG_H
#define INGEST_BASE_LOG_H

#include "ingest/base/err.h"

void log_info(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_warn(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_error(const char *fmt, ...) PRINTF_LIKE(1, 2);

#endif
