// SPDX-License-Identifier: Apache-2.0
// What logs say between steps: a row per phrase. To add one, add a row.
#ifndef INGEST_LOGS_LOG_EVENTS_H
#define INGEST_LOGS_LOG_EVENTS_H

#include "ingest/evidence/log_book.h"

struct log_phrase {
    enum log_event_kind kind;
    struct str needle;
    const char *after; // a duration in seconds follows this in the line; NULL: none
    const char *loss;  // a loss follows this; NULL: none
};

enum { LOG_PHRASE_COUNT = 19 };
extern const struct log_phrase log_phrases[LOG_PHRASE_COUNT];

// What the line says; text, position and step are the caller's.
void log_phrase_read(const struct log_phrase *phrase, struct str line, struct log_event *event);

#endif
