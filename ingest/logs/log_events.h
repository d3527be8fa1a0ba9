// SPDX-License-Identifier: Apache-2.0
// What logs say between steps: checkpoints, evaluations, faults.
#ifndef INGEST_LOGS_LOG_EVENTS_H
#define INGEST_LOGS_LOG_EVENTS_H

#include "ingest/evidence/log_book.h"

enum { LOG_MOST_EVENT_ROWS = 63 };

struct log_event_row {
    const char *mark; // LOG_MARK_BYTES or longer
    enum log_event_kind kind;
    bool ends;            // ends what an earlier line began
    const char *also;     // a text that must be in the line as well; NULL: none
    const char *loss;     // what the loss follows; NULL: none is printed
    const char *duration; // what the seconds follow; NULL: they are before "seconds", if anywhere
    unsigned char most;   // of a fault between two steps; 0: the first, since every rank has it
};

extern const struct log_event_row log_event_rows[];
extern const size_t log_event_row_count;

// Reads a line without colors as the event of a row: its kind, loss and duration, rank and time;
// false if it is none. The text, the position and the step are left to the caller, and so is *utc.
bool log_event_read(const struct log_event_row *row, struct str text, struct log_event *event,
                    bool *utc);

// What a line that says "finished" ends: the last event since the last step that its rank began, as
// others may print between; NULL: none.
struct log_event *log_event_begun(const struct log_book *book, const struct log_event *end);

#endif
