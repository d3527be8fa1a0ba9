// SPDX-License-Identifier: Apache-2.0
// Shared by the db_postgres*.c files.
#ifndef SERVER_DB_POSTGRES_H
#define SERVER_DB_POSTGRES_H

#include "server/db/db.h"
#include "server/db/libpq.h"

enum { POSTGRES_MOST_PLANS = 128 };

// A statement that the server has planned for a connection.
struct postgres_plan {
    char *text; // NULL: none
    Oid *types; // of its parameters
    int count;
    uint64_t hash; // of the text
    uint64_t used; // the higher, the later
};

struct db_postgres {
    struct db db;
    struct libpq pq;
    PGconn *conn;
    enum db_access access;
    bool in_transaction;
    bool is_writing;     // the transaction writes
    bool is_lost;        // the connection, which is reopened before its next use
    int64_t deadline_ns; // of the reading transaction, 0: none
    int64_t changes;
    int64_t id;               // of the connection, in the table last_commit
    int64_t commits;          // that were tried
    char transaction[24];     // the number of the writing one
    int64_t begun_ns;         // when it began, by the server's clock
    int64_t begun_mono_ns;    // and by ours
    atomic_ullong data_bytes; // when they were last read
    struct postgres_plan plans[POSTGRES_MOST_PLANS];
    uint64_t uses; // of plans
    int pending;   // statements that were sent and not answered yet
};

static inline struct db_postgres *db_postgres_of(const struct db *db)
{
    return (struct db_postgres *)(uintptr_t)db;
}

// --- connections (db_postgres_link.c) ------------------------------------------------------------

MUST_CHECK struct db *postgres_open(const char *place, enum db_access access,
                                    const struct db_watch *watch, struct err *err);
void postgres_close(struct db *db, bool flush);
// Connects again if the connection was lost. ERR_BUSY.
MUST_CHECK bool postgres_revive(struct db_postgres *pg, struct err *err);
// What the library says about a failure, as an error.
bool postgres_fail(struct db_postgres *pg, const PGresult *result, struct err *err);

// --- kept statements (db_postgres_kept.c) --------------------------------------------------------

struct postgres_kept {
    char name[16];     // by which it is run
    PGresult *failure; // NULL unless the server refused it, which ends the transaction
};

// Whether it is planned already.
bool postgres_is_kept(struct db_postgres *pg, const char *text, int count, const Oid *types,
                      struct postgres_kept *kept);
// Has the server plan a statement once for this connection. False if it is not kept. A type 0, of a
// null, says too little to plan with.
bool postgres_keep(struct db_postgres *pg, const char *text, int count, const Oid *types,
                   struct postgres_kept *kept);
void postgres_forget_kept(struct db_postgres *pg);

// --- statements (db_postgres_stmt.c) -------------------------------------------------------------

bool postgres_prepare(struct stmt *stmt, const char *text, const char **rest);
bool postgres_bind_null(struct stmt *stmt);
bool postgres_bind_i64(struct stmt *stmt, int64_t value);
bool postgres_bind_f64(struct stmt *stmt, double value);
bool postgres_bind_text(struct stmt *stmt, struct str value, bool copy);
bool postgres_bind_bytes(struct stmt *stmt, struct str bytes);
enum db_step postgres_step(struct stmt *stmt);
// Awaits the answers to what was sent: that of the last statement, or of the first that failed.
PGresult *postgres_settle(struct db_postgres *pg);
bool postgres_run_later(struct stmt *stmt);
bool postgres_reset(struct stmt *stmt);
bool postgres_finish(struct stmt *stmt);
bool postgres_column_is_null(const struct stmt *stmt, int column);
bool postgres_column_is_i64(const struct stmt *stmt, int column);
int64_t postgres_column_i64(const struct stmt *stmt, int column);
double postgres_column_f64(const struct stmt *stmt, int column);
struct str postgres_column_bytes(const struct stmt *stmt, int column);

#endif
