// SPDX-License-Identifier: Apache-2.0
// Requests that were refused, counted by who sent them, from where, what was asked and the answer,
// an hour at a time: whoever sends them without end makes a number grow, and no log. Not for
// several threads at a time.
#ifndef SERVER_REFUSALS_H
#define SERVER_REFUSALS_H

#include "server/store/store_access.h"

#define REFUSALS_KINDS 256 // counted apart in an hour; all others together

struct refusals;

struct refused {
    int64_t row_id; // of the entry in the database; 0 there is none
    int64_t hour, first_ns, last_ns;
    uint64_t count;
    uint64_t summed; // of these so many stand in the database
    int status;
    char who[160], peer[64], action[160], object[320], request_id[48];
};

// NULL with ERR_MEMORY. Pair with refusals_free.
MUST_CHECK struct refusals *refusals_new(struct err *err);
void refusals_free(struct refusals *refusals); // NULL is allowed

// Counts one. *is_new: it is the first of its kind in this hour, and row_id is for the caller to
// set.
struct refused *refusals_count(struct refusals *refusals, const struct audit_row *row,
                               bool *is_new);

// Moves out one whose hour ended, or any when all shall go; false when there is none.
bool refusals_take(struct refusals *refusals, int64_t now_ns, bool all, struct refused *taken);

// Calls visit for all that grew since it was last called.
void refusals_each_grown(struct refusals *refusals,
                         void (*visit)(void *context, struct refused *refusal), void *context);

#endif
