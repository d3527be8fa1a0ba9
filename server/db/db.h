// SPDX-License-Identifier: Apache-2.0
// A connection to the database and its statements, independent of the kind of database. Statements
// remember their first failure, so a query reads as begin, bind, rows, end.
//
// To add a kind: a file db_x.c with a `const struct db_kind db_x`, a line in db.c, its schema in
// schema/x, and other words for what only SQLite understands in the statements of server/store.
#ifndef SERVER_DB_H
#define SERVER_DB_H

#include "ingest/base/arena.h"
#include "ingest/base/err.h"

#include <stdatomic.h>

struct db;
struct stmt;

// DB_BESIDE: writes beside others of its kind, where a database is shared; those of DB_WRITE write
// alone.
enum db_access { DB_READ, DB_WRITE, DB_BESIDE };

// What a failed write says about the disk.
enum db_trouble {
    DB_DISK_FULL,
    DB_FLUSH_FAILED, // written data may be lost, although later flushes succeed
};

// Notified of disk trouble, on the thread that uses the connection.
struct db_watch {
    void (*trouble)(void *context, enum db_trouble trouble);
    void *context;
};

enum db_check_depth {
    DB_CHECK_QUICK, // table by table, without comparing indexes
    DB_CHECK_FULL,  // table by table, with indexes and references
    DB_CHECK_WHOLE, // everything in one read, including pages that belong to no table
};

struct db_sizes {
    uint64_t data_bytes, log_bytes;
};

#define DB_DAMAGE_BYTES 200

enum db_step { DB_ROW, DB_DONE, DB_FAILED };

// The operations of a database kind. Functions that return bool or DB_FAILED set the error passed
// in, or the statement's.
struct db_kind {
    const char *name;
    const char *claiming; // ends a SELECT of rows to claim from table "job": those of others are
                          // passed over; "" where only one claims at a time
    const char *holding;  // before names of tables at the end of a SELECT: nobody else changes
                          // these rows until the transaction ends; unused unless is_shared
    bool is_shared;       // whether several processes may serve one database
    bool (*is_place)(const char *place); // whether such a place belongs to this kind
    bool (*exists)(const char *place);   // whether there is a database

    // Connections. Opening one for writing creates the database if it does not exist.
    struct db *(*open)(const char *place, enum db_access access, const struct db_watch *watch,
                       struct err *err);
    // flush: whether the disk can still be trusted with what is in memory.
    void (*close)(struct db *db, bool flush);

    // Statements. prepare takes the first one of a text; *rest is what follows it. stmt->at is NULL
    // if only whitespace and comments were left.
    bool (*prepare)(struct stmt *stmt, const char *text, const char **rest);
    bool (*bind_null)(struct stmt *stmt);
    bool (*bind_i64)(struct stmt *stmt, int64_t value);
    bool (*bind_f64)(struct stmt *stmt, double value);
    bool (*bind_text)(struct stmt *stmt, struct str value, bool copy);
    bool (*bind_bytes)(struct stmt *stmt, struct str value);
    enum db_step (*step)(struct stmt *stmt);
    // Sends a statement whose answer is awaited with that of a later one. NULL: answers are there
    // at once.
    bool (*run_later)(struct stmt *stmt);
    bool (*reset)(struct stmt *stmt);
    bool (*finish)(struct stmt *stmt);
    bool (*is_null)(const struct stmt *stmt, int column);
    bool (*is_i64)(const struct stmt *stmt, int column);
    int64_t (*i64)(const struct stmt *stmt, int column);
    double (*f64)(const struct stmt *stmt, int column);
    struct str (*bytes)(const struct stmt *stmt, int column);
    int64_t (*changes)(struct db *db);
    // A statement: name and declared type of each column of the table in its parameter into which
    // rows are inserted, by name.
    const char *columns;
    // New ids of a table's rows continue after the largest one.
    bool (*continue_ids)(struct db *db, const char *table, struct err *err);
    // Takes the database for this connection alone, until it closes; taking it twice is fine. For a
    // database in a folder, the lock on the folder does this.
    bool (*take_alone)(struct db *db, bool *is_alone, struct err *err);
    // The time of day, the same for all who share the database.
    bool (*clock)(struct db *db, int64_t *now_ns, struct err *err);

    // A number that is the same only while the same rows are visible, whoever writes. NULL unless
    // is_shared.
    bool (*read_state)(struct db *db, uint64_t *state, struct err *err);

    // Transactions.
    bool (*begin)(struct db *db, enum db_access access, struct err *err);
    // Statements fail with ERR_BUSY after deadline_ns (clock_mono_ns), until the transaction ends.
    // 0: no limit.
    void (*limit_time)(struct db *db, int64_t deadline_ns);
    bool (*commit)(struct db *db, struct err *err);
    void (*rollback)(struct db *db);

    // Maintenance.
    bool (*read_version)(struct db *db, int64_t *version, struct err *err);
    bool (*write_version)(struct db *db, int64_t version, struct err *err);
    bool (*was_unclean)(const struct db *db); // the last process did not close it
    struct db_sizes (*sizes)(const struct db *db);
    bool (*empty_log)(struct db *db, bool *done, struct err *err);
    bool (*copy)(struct db *db, const char *to, struct err *err);
    bool (*copy_before_schema)(struct db *db, int64_t version, struct err *err);
    bool (*drop_schema_copies)(struct db *db, struct err *err);
    bool (*check)(struct db *db, enum db_check_depth depth, const atomic_bool *stop,
                  char damage[DB_DAMAGE_BYTES], struct err *err);
};

extern const struct db_kind *const db_kinds[]; // ends with NULL
extern const struct db_kind db_sqlite, db_postgres;

// The first member of each kind's connection struct.
struct db {
    const struct db_kind *kind;
    int64_t version;        // of the tables that this program knows; 0: it is not known, or updates
                            // them
    bool is_beside;         // others may write during this transaction (DB_BESIDE)
    bool needs_turn;        // it was found that they must not
    int64_t front_ns;       // due_ns of the job that was claimed last (store_claim.c)
    int64_t front_until_ns; // how long (clock_mono_ns) claims may look from there on
};

// --- connections --------------------------------------------------------------------------------

// place: the path of a file, or postgres://... watch may be NULL.
MUST_CHECK struct db *db_open(const char *place, enum db_access access,
                              const struct db_watch *watch, struct err *err);
// For reading; the database must exist. ERR_NOT_FOUND.
MUST_CHECK struct db *db_open_existing(const char *place, struct err *err);
void db_close(struct db *db, bool flush); // NULL is allowed

// Rows changed by the last statement that changes rows.
int64_t db_changes(struct db *db);

// --- statements ---------------------------------------------------------------------------------

// After the first failure *err is set and everything else does nothing.
struct stmt {
    struct db *db;
    void *at;  // belongs to the kind; NULL after a failure
    int bound; // parameters bound so far
    bool failed;
    struct err *err;
};

struct stmt sql_begin(struct db *db, const char *text, struct err *err);

// Bind the next parameter. Texts and bytes must stay valid until sql_end.
void sql_bind_text(struct stmt *stmt, struct str value);
void sql_bind_text_copy(struct stmt *stmt, struct str value); // may be freed before sql_end
void sql_bind_i64(struct stmt *stmt, int64_t value);
void sql_bind_u64(struct stmt *stmt, uint64_t value); // values above INT64_MAX are stored as
                                                      // INT64_MAX
void sql_bind_f64(struct stmt *stmt, double value);
void sql_bind_null(struct stmt *stmt);
// NULL unless known.
void sql_bind_i64_if(struct stmt *stmt, bool known, int64_t value);
void sql_bind_f64_if(struct stmt *stmt, bool known, double value);
void sql_bind_text_if(struct stmt *stmt, bool known, struct str value);
void sql_bind_bytes(struct stmt *stmt, struct str bytes);

// True if a row is ready to be read; false at the end and after a failure.
MUST_CHECK bool sql_row(struct stmt *stmt);
// Runs a statement, discards its rows and readies it for the next binding.
void sql_step(struct stmt *stmt);
// False if anything failed.
MUST_CHECK bool sql_end(struct stmt *stmt);

// Readies a statement for the next binding while rows are left.
void sql_reset(struct stmt *stmt);

// sql_step and sql_end for a statement without results.
MUST_CHECK bool sql_run(struct stmt *stmt);
// Like sql_run, in a writing transaction, for a statement of which only a failure matters: that may
// come with a later statement, or the commit. Saves a round trip to the database.
MUST_CHECK bool sql_run_later(struct stmt *stmt);
void sql_step_later(struct stmt *stmt); // the same of sql_step
// Like sql_run, from the statement's text.
MUST_CHECK bool sql_execute(struct db *db, const char *text, struct err *err);
// Runs all statements of a text.
MUST_CHECK bool sql_execute_all(struct db *db, const char *text, struct err *err);
// Whether the plan of a statement may be kept for the next time. Others change the schema, or may
// do their work when they are planned, as a PRAGMA does.
bool sql_may_be_kept(const char *text);

bool sql_is_null(const struct stmt *stmt, int column);
bool sql_is_i64(const struct stmt *stmt, int column);
int64_t sql_i64(const struct stmt *stmt, int column);
int64_t sql_i64_or(const struct stmt *stmt, int column, int64_t if_null);
double sql_f64(const struct stmt *stmt, int column);
// Copies into the arena; "" for null and after a failure.
struct str sql_text(struct stmt *stmt, int column, struct arena *arena);
// Borrowed until the next row.
struct str sql_bytes(const struct stmt *stmt, int column);

#endif
