// SPDX-License-Identifier: Apache-2.0
// What people say and keep: comments on runs and their rows, and pages saved under a short link.
// Part of the store; the rules in store.h apply.
#ifndef SERVER_STORE_SAID_H
#define SERVER_STORE_SAID_H

#include "server/store/store.h"

#define STORE_MAX_COMMENTS     ((size_t)1000)  // of a run
#define STORE_MAX_VIEWS        ((size_t)10000) // with a name
#define STORE_MAX_LINKS        ((size_t)10000) // without a name; then the oldest go
#define STORE_MAX_LISTED_VIEWS ((size_t)1000)
#define STORE_PLACE_MAX_BYTES  ((size_t)2000)
// With the longest name it fits into an index of PostgreSQL, whose rows end at 2704 bytes.
#define STORE_ADDRESS_MAX_BYTES ((size_t)2000)

struct comment {
    struct str id;
    struct str place;  // "" the run; "findings/ID", "kernels/NAME": a row of a table
    struct str author; // for display
    struct str text;
    int64_t created_ns;
};

// Oldest first.
MUST_CHECK bool store_list_comments(struct store *store, struct str run_id, struct arena *arena,
                                    struct comment **comments, size_t *count, struct err *err);

// Adds one; its id and time are ignored. ERR_USAGE for an invalid one, ERR_CONFLICT for too many.
MUST_CHECK bool store_add_comment(struct store *store, struct str run_id,
                                  const struct comment *comment, struct err *err);

// ERR_NOT_FOUND.
MUST_CHECK bool store_drop_comment(struct store *store, struct str run_id, struct str id,
                                   struct err *err);

struct saved_view {
    struct str id;
    struct str name;    // "" only a link
    struct str address; // path and query of a page
    struct str author;  // for display
    int64_t created_ns;
};

// Those with a name, ordered by it.
MUST_CHECK bool store_list_views(struct store *store, struct arena *arena,
                                 struct saved_view **views, size_t *count, struct err *err);

// ERR_NOT_FOUND.
MUST_CHECK bool store_find_view(struct store *store, struct str id, struct arena *arena,
                                struct saved_view *view, struct err *err);

// Saves an address, or finds the one that was saved with the same name; fills in id, author and
// time. ERR_USAGE for an invalid one, ERR_CONFLICT for too many with a name.
MUST_CHECK bool store_save_view(struct store *store, struct arena *arena, struct saved_view *view,
                                struct err *err);

// ERR_NOT_FOUND.
MUST_CHECK bool store_drop_view(struct store *store, struct str id, struct err *err);

#endif
