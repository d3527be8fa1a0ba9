// SPDX-License-Identifier: Apache-2.0
// One line per event on standard error: time, level, message and named values, as logfmt or, if
// STEPSCOPE_LOG_FORMAT=json is set, as JSON. Thread-safe. Never waits for the reader of a full
// pipe: lines are dropped instead, and the next line written gives their number.
#ifndef INGEST_BASE_LOG_H
#define INGEST_BASE_LOG_H

#include "ingest/base/err.h"
#include "ingest/base/str.h"

#define LOG_FORMAT_ENV "STEPSCOPE_LOG_FORMAT" // set it before threads start

enum log_level { LOG_INFO, LOG_WARN, LOG_ERROR };

// A named value in a line: a text, or a number if text.at is NULL.
struct log_field {
    const char *name; // lower case letters and _
    struct str text;  // any bytes; long ones are cut
    int64_t number;
};

void log_info(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_warn(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_error(const char *fmt, ...) PRINTF_LIKE(1, 2);

// Whether lines are JSON.
bool log_is_json(void);

void log_event(enum log_level level, const char *message, const struct log_field *fields,
               size_t count);

#endif
