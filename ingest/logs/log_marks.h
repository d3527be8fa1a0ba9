// SPDX-License-Identifier: Apache-2.0
// Finds which of some texts comes next, in far less time than it takes to look at every byte.
#ifndef INGEST_LOGS_LOG_MARKS_H
#define INGEST_LOGS_LOG_MARKS_H

#include "ingest/base/budget.h"
#include "ingest/base/str.h"

// How long a mark must be at least; these bytes of it decide how far the search can skip.
#define LOG_MARK_BYTES ((size_t)8)

enum { LOG_MOST_MARKS = 240 };

struct log_marks {
    struct budget *budget;
    unsigned char *skips; // of two bytes: how far to go on, or the mark that they may end
    struct str texts[LOG_MOST_MARKS];
    uint64_t starts[LOG_MOST_MARKS];    // the first LOG_MARK_BYTES of each
    unsigned char next[LOG_MOST_MARKS]; // of the same two bytes
    size_t count;
};

// Pair with log_marks_close, also on failure.
MUST_CHECK bool log_marks_open(struct log_marks *marks, struct budget *budget, struct err *err);
void log_marks_close(struct log_marks *marks);

// At most LOG_MOST_MARKS; the first one is number 0. The text must outlive the marks.
void log_marks_add(struct log_marks *marks, struct str text);

// The next mark at or after *at, which becomes its position; the first added of several at one
// place. -1: none.
int log_marks_find(const struct log_marks *marks, struct str text, size_t *at);

#endif
