// SPDX-License-Identifier: Apache-2.0
// Shared by the db_sqlite_*.c files.
#ifndef SERVER_DB_SQLITE_H
#define SERVER_DB_SQLITE_H

#include "server/db/db.h"
#include "server/db/db_sqlite_kept.h"

struct db_sqlite_file {
    struct db db;
    sqlite3 *at;
    struct db_sqlite_kept kept;
    struct db_watch watch;
    int64_t deadline_ns; // of the reading transaction, 0: none
    bool was_unclean;
    int folder_fd; // of a writer, -1: none; who writes holds a lock on it
    char path[];
};

static inline struct db_sqlite_file *db_sqlite_of(const struct db *db)
{
    return (struct db_sqlite_file *)(uintptr_t)db;
}

// Opens a connection. One for writing does not have the write-ahead log enabled yet.
MUST_CHECK struct db *db_sqlite_connect(const char *path, enum db_access access,
                                        const struct db_watch *watch, struct err *err);

// db_sqlite_copy.c, db_sqlite_check.c: as in struct db_kind.
bool db_sqlite_copy(struct db *db, const char *to, struct err *err);
bool db_sqlite_copy_before_schema(struct db *db, int64_t version, struct err *err);
bool db_sqlite_drop_schema_copies(struct db *db, struct err *err);
bool db_sqlite_check(struct db *db, enum db_check_depth depth, const atomic_bool *stop,
                     char damage[DB_DAMAGE_BYTES], struct err *err);

#endif
