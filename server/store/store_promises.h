// SPDX-License-Identifier: Apache-2.0
// What changes are expected to bring, kept with the run that was replayed.
// Part of the store; the rules in store.h apply.
#ifndef SERVER_STORE_PROMISES_H
#define SERVER_STORE_PROMISES_H

#include "server/store/store.h"

#define STORE_MAX_PROMISES      ((size_t)100) // of a run
#define STORE_CHANGES_MAX_BYTES ((size_t)8000)

// In the changes, the line before the run whose times they take; no change starts like that.
#define STORE_COUNTERPART "counterpart="

// Times are of a mean steady step.
struct promise {
    struct str id;
    struct str changes; // one a line; before them STORE_COUNTERPART and a run's id, if they need it
    struct str author;  // for display
    int64_t base_ns, step_ns;
    int64_t low_ns, high_ns; // -1: there was no interval
    int64_t created_ns;
};

// Oldest first.
MUST_CHECK bool store_list_promises(struct store *store, struct str run_id, struct arena *arena,
                                    struct promise **promises, size_t *count, struct err *err);

// Adds one; its id and time are ignored. ERR_USAGE for an invalid one, ERR_CONFLICT for too many.
MUST_CHECK bool store_add_promise(struct store *store, struct str run_id,
                                  const struct promise *promise, struct err *err);

// ERR_NOT_FOUND.
MUST_CHECK bool store_drop_promise(struct store *store, struct str run_id, struct str id,
                                   struct err *err);

// The run with a step time that came after this one in its series, or before it; "" if none did.
MUST_CHECK bool store_next_point(struct store *store, const struct run *run, struct arena *arena,
                                 struct str *id, struct err *err);
MUST_CHECK bool store_previous_point(struct store *store, const struct run *run,
                                     struct arena *arena, struct str *id, struct err *err);

#endif
