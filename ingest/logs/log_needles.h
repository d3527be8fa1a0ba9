// SPDX-License-Identifier: Apache-2.0
// Finds a few words in many lines: most positions of most lines are dismissed by a table of bits.
#ifndef INGEST_LOGS_LOG_NEEDLES_H
#define INGEST_LOGS_LOG_NEEDLES_H

#include "ingest/base/str.h"

enum { LOG_MOST_NEEDLES = 64, LOG_FILTER_BITS = 12 };

// Starts as zeros. Words have four bytes or more.
struct log_needles {
    struct str words[LOG_MOST_NEEDLES];
    unsigned count;
    unsigned char filter[1 << LOG_FILTER_BITS];
};

// Its number is how many were added before.
void log_needles_add(struct log_needles *needles, struct str word);

// The first word in a text at `from` or later. False if there is none.
bool log_needles_find(const struct log_needles *needles, struct str text, size_t from, size_t *at,
                      unsigned *number);

#endif
