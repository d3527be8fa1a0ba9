// SPDX-License-Identifier: Apache-2.0
// Refused requests, counted per hour by sender, address, request and answer: endless refusals
// increase a number, not a log. Not thread-safe.
#ifndef SERVER_REFUSALS_H
#define SERVER_REFUSALS_H

#include "server/store/store_access.h"

#define REFUSALS_KINDS 512 // counted separately per hour; all others together

struct refusals;

struct refused {
    int64_t row_id; // of the entry in the database; 0: none
    int64_t hour, first_ns, last_ns;
    uint64_t count;
    uint64_t summed; // how many of these are in the database
    int status;
    char who[160], peer[64], action[160], object[320], request_id[48];
};

// NULL with ERR_MEMORY. Pair with refusals_free.
MUST_CHECK struct refusals *refusals_new(struct err *err);
void refusals_free(struct refusals *refusals); // NULL is allowed

// Counts one. *is_new: it is the first of its kind in this hour, and the caller has to set row_id.
struct refused *refusals_count(struct refusals *refusals, const struct audit_row *row,
                               bool *is_new);

// Takes out one whose hour has ended, or any if all should go; false if there is none.
bool refusals_take(struct refusals *refusals, int64_t now_ns, bool all, struct refused *taken);

// Calls visit for all that have grown since the last call.
void refusals_each_grown(struct refusals *refusals,
                         void (*visit)(void *context, struct refused *refusal), void *context);

#endif
