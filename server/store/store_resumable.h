// SPDX-License-Identifier: Apache-2.0
// Uploads that come in pieces, and keys by which clients say that they repeat an upload, in the
// store. As in store.h: any thread, one durable transaction each, texts in the arena.
#ifndef SERVER_STORE_RESUMABLE_H
#define SERVER_STORE_RESUMABLE_H

#include "server/store/store.h"

#define STORE_KEY_MAX_BYTES   ((size_t)200)
#define STORE_MAX_RESUMABLES  1024 // not accepted, refused or expired; they hold disk space
#define STORE_OWN_RESUMABLES  256  // of these, of one owner, so that there is room for others
#define STORE_KEY_LASTS_HOURS 24

struct resumable {
    struct str id, owner, metadata;
    uint64_t bytes;   // in all
    uint64_t flushed; // so many are on disk for good, whatever happens
    int64_t created_ns, expires_ns;
    struct str upload_id; // what it became; "" not yet
    struct str refused;   // why it never will; "" not so
    int64_t request;      // as in resumable_request; -1 unknown, from an older version
};

struct resumable_request {
    struct str owner;
    struct str key; // "" none
    struct str metadata;
    int64_t request; // a hash of the metadata, which goes when the upload has ended; not negative
    uint64_t bytes;
    int64_t expires_ns;
};

// ERR_BUSY when there are too many; ERR_CONFLICT when its key was used already.
MUST_CHECK bool store_add_resumable(struct store *store, const struct resumable_request *request,
                                    struct arena *arena, struct resumable *added, struct err *err);

// ERR_NOT_FOUND.
MUST_CHECK bool store_find_resumable(struct store *store, struct str id, struct arena *arena,
                                     struct resumable *found, struct err *err);

// Finds what a key began. ERR_NOT_FOUND.
MUST_CHECK bool store_find_resumable_of_key(struct store *store, struct str owner, struct str key,
                                            struct arena *arena, struct resumable *found,
                                            struct err *err);

// Notes that the first bytes are on disk for good, and counts those that are new as its owner's of
// today.
MUST_CHECK bool store_extend_resumable(struct store *store, struct str id, uint64_t flushed,
                                       int64_t expires_ns, struct err *err);

// Ends it for a reason that no waiting will change.
MUST_CHECK bool store_refuse_resumable(struct store *store, struct str id, const char *reason,
                                       struct err *err);

MUST_CHECK bool store_drop_resumable(struct store *store, struct str id, struct err *err);

// Drops those that have expired, and old keys. *dropped: there were some, and files may go.
MUST_CHECK bool store_drop_expired(struct store *store, int64_t now_ns, bool *dropped,
                                   struct err *err);

// Whether a row needs the file of that id.
MUST_CHECK bool store_names_resumable(struct store *store, struct str id, bool *named,
                                      struct err *err);

// The upload that a key gave, and the hash of what it was. ERR_NOT_FOUND.
struct keyed_upload {
    struct upload upload;
    bool has_hash; // false: it is not known what it came with, from an older version
    int64_t request;
};
MUST_CHECK bool store_find_upload_of_key(struct store *store, struct str owner, struct str key,
                                         struct arena *arena, struct keyed_upload *found,
                                         struct err *err);

#endif
