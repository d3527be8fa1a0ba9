// SPDX-License-Identifier: Apache-2.0
// Resumable uploads, and the keys by which clients repeat an upload, in the store. As in store.h:
// any thread, one durable transaction each, strings in the arena.
#ifndef SERVER_STORE_RESUMABLE_H
#define SERVER_STORE_RESUMABLE_H

#include "server/store/store.h"

#define STORE_KEY_MAX_BYTES   ((size_t)200)
#define STORE_MAX_RESUMABLES  1024 // not accepted, refused or expired; they hold disk space
#define STORE_OWN_RESUMABLES  256  // the most per owner, so that there is room for others
#define STORE_KEY_LASTS_HOURS 24

struct resumable {
    struct str id, owner, metadata;
    uint64_t bytes;   // in all
    uint64_t flushed; // durable on disk
    int64_t created_ns, expires_ns;
    struct str upload_id; // what it became; "" not yet
    struct str refused;   // why it was refused; "" it was not
    int64_t request;      // as in resumable_request; -1 unknown, from an older version
};

struct resumable_request {
    struct str owner;
    struct str key; // "" none
    struct str metadata;
    int64_t request; // a hash of the metadata, which is deleted when the upload has ended; not
                     // negative
    uint64_t bytes;
    int64_t expires_ns;
};

// ERR_BUSY if there are too many; ERR_CONFLICT if its key was used already.
MUST_CHECK bool store_add_resumable(struct store *store, const struct resumable_request *request,
                                    struct arena *arena, struct resumable *added, struct err *err);

// ERR_NOT_FOUND.
MUST_CHECK bool store_find_resumable(struct store *store, struct str id, struct arena *arena,
                                     struct resumable *found, struct err *err);

// Finds the upload that a key started. ERR_NOT_FOUND.
MUST_CHECK bool store_find_resumable_of_key(struct store *store, struct str owner, struct str key,
                                            struct arena *arena, struct resumable *found,
                                            struct err *err);

// Records how many leading bytes are durable, and counts the new ones for its owner today. before:
// what was known of it; ERR_BUSY if another service has recorded more since.
MUST_CHECK bool store_extend_resumable(struct store *store, const struct resumable *before,
                                       uint64_t flushed, int64_t expires_ns, struct err *err);

// Ends it for a reason that waiting will not change.
MUST_CHECK bool store_refuse_resumable(struct store *store, struct str id, const char *reason,
                                       struct err *err);

MUST_CHECK bool store_drop_resumable(struct store *store, struct str id, struct err *err);

// Drops expired ones, and old keys. *dropped: there were some, so files may be removed.
MUST_CHECK bool store_drop_expired(struct store *store, int64_t now_ns, bool *dropped,
                                   struct err *err);

// Whether a row needs the file of that id.
MUST_CHECK bool store_names_resumable(struct store *store, struct str id, bool *named,
                                      struct err *err);

// The upload created with a key, and the hash of its contents. ERR_NOT_FOUND.
struct keyed_upload {
    struct upload upload;
    bool has_hash; // false: its contents are unknown, since an older version stored it
    int64_t request;
};
MUST_CHECK bool store_find_upload_of_key(struct store *store, struct str owner, struct str key,
                                         struct arena *arena, struct keyed_upload *found,
                                         struct err *err);

#endif
