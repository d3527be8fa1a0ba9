// SPDX-License-Identifier: Apache-2.0
// Maintenance of what is stored: checks, copies, what is old enough to delete, and a full disk.
// Used by care.c, backup.c and the commands.
#ifndef SERVER_STORE_CARE_H
#define SERVER_STORE_CARE_H

#include "server/base/disk_fault.h"
#include "server/store/store.h"

// --- the disk -----------------------------------------------------------------------------------

// Where failures to flush are recorded, by the store and everything it is shared with; until then
// the store uses its own. It must outlive the store.
void store_share_fault(struct store *store, struct disk_fault *fault);

// Called, with no lock held, after a write failed because the disk is full.
void store_on_full(struct store *store, void (*hook)(void *context), void *context);

// Checkpoints the write-ahead log into the database file and truncates it, so that no deleted data
// is left in either. *done false: a reader still needs the log, so try again later.
MUST_CHECK bool store_empty_log(struct store *store, bool *done, struct err *err);

// Bytes of the database and its write-ahead log; write transactions since the start.
struct store_sizes {
    uint64_t db_bytes, wal_bytes, writes;
};
void store_sizes(const struct store *store, struct store_sizes *sizes);

// --- checking the database ----------------------------------------------------------------------

#define STORE_DAMAGE_SIZE 200

struct store_check {
    int64_t checked_ns;             // wall clock, 0 never
    char damage[STORE_DAMAGE_SIZE]; // the first thing found, "" sound
};

// Checks the database, table by table, alongside all other work: quickly, or (full) with all
// indexes and references. Stops with ERR_CANCELLED soon after *stop is set.
MUST_CHECK bool store_check_database(struct store *store, bool full, const atomic_bool *stop,
                                     struct store_check *found, struct err *err);

// Stores and loads the result of the last check of a kind.
MUST_CHECK bool store_note_check(struct store *store, bool full, const struct store_check *found,
                                 struct err *err);
MUST_CHECK bool store_last_check(struct store *store, bool full, struct store_check *found,
                                 struct err *err);

// Whether the previous process ended without closing the database.
bool store_was_unclean(const struct store *store);

// --- files --------------------------------------------------------------------------------------

struct store_blob {
    char sha256[STORE_SHA256_SIZE];
    int64_t bytes;
};

// The blob whose hash was verified longest ago, if that was before_ns or earlier, else one whose
// time is in the future.
MUST_CHECK bool store_next_to_scrub(struct store *store, int64_t before_ns, struct store_blob *blob,
                                    bool *found, struct err *err);

// Records the result of checking a blob ("" sound), and warns on its traces.
MUST_CHECK bool store_note_scrub(struct store *store, const char *sha256, const char *damage,
                                 struct err *err);

// When the blob was last verified to be sound; 0: it is damaged, or no row names it.
MUST_CHECK bool store_blob_sound_ns(struct store *store, struct str sha256, int64_t *at_ns,
                                    struct err *err);

struct damaged_blob {
    struct str sha256, damage, filename, run_id; // of one of its traces
};
MUST_CHECK bool store_list_damaged(struct store *store, struct arena *arena,
                                   struct damaged_blob **blobs, size_t *count, struct err *err);

// How many files of a run are damaged.
MUST_CHECK bool store_count_damaged(struct store *store, struct str run_id, int64_t *count,
                                    struct err *err);

// The hashes, or trace ids, that start with this prefix, ascending.
struct store_names {
    struct str *at;
    size_t count;
};
MUST_CHECK bool store_blobs_from(struct store *store, struct str prefix, struct arena *arena,
                                 struct store_names *names, struct err *err);
MUST_CHECK bool store_traces_from(struct store *store, struct str prefix, struct arena *arena,
                                  struct store_names *names, struct err *err);

// --- what is old --------------------------------------------------------------------------------

// The clock time last trusted when runs were checked for their age; 0 never.
MUST_CHECK bool store_believed_clock(struct store *store, int64_t *at_ns, struct err *err);
MUST_CHECK bool store_believe_clock(struct store *store, int64_t at_ns, struct err *err);

// Deletes finished jobs, old upload rows and the days of quotas from before a time; at most a few
// thousand per call.
MUST_CHECK bool store_prune(struct store *store, int64_t before_ns, uint64_t *pruned,
                            struct err *err);

// Removes the copies made before schema changes: they contain data deleted since.
MUST_CHECK bool store_drop_schema_copies(struct store *store, struct err *err);

// --- without a store ----------------------------------------------------------------------------

// Copies the database at path, which a running service may have open, into a new file, flushed.
// ERR_NOT_FOUND, ERR_CONFLICT if the file exists.
MUST_CHECK bool store_copy_file(const char *path, const char *to, struct err *err);

// Checks a database file completely; found->damage as above.
MUST_CHECK bool store_check_file(const char *path, struct store_check *found, struct err *err);

// Calls visit with each trace that a database file names.
MUST_CHECK bool store_each_trace(const char *path,
                                 bool (*visit)(void *context, const char *trace_id,
                                               struct err *err),
                                 void *context, struct err *err);

// Calls visit with each blob that a database file names, by hash.
MUST_CHECK bool store_each_blob(const char *path,
                                bool (*visit)(void *context, const struct store_blob *blob,
                                              struct err *err),
                                void *context, struct err *err);

#endif
