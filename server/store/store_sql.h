// SPDX-License-Identifier: Apache-2.0
// What the store_*.c files share: connections, transactions and statements that remember their
// first failure, so that a query reads as begin, bind, rows, end.
#ifndef SERVER_STORE_SQL_H
#define SERVER_STORE_SQL_H

#include "server/store/store_care.h"
#include "server/store/store_tracking.h"

#include <sqlite3.h>

// --- transactions -------------------------------------------------------------------------------

enum txn_kind { TXN_READ, TXN_WRITE };

// One connection, inside a transaction.
struct txn {
    struct store *store;
    sqlite3 *db;
    enum txn_kind kind;
    int64_t deadline_ns; // of one that reads
};

// Waits for the writer, or for a reader. Pair with txn_end when true.
MUST_CHECK bool txn_begin(struct store *store, enum txn_kind kind, struct txn *txn,
                          struct err *err);
// Commits when ok, else rolls back; gives the connection back. Returns ok and whether it committed.
MUST_CHECK bool txn_end(struct txn *txn, bool ok, struct err *err);

// --- statements ---------------------------------------------------------------------------------

// After the first failure *err is set and everything else does nothing.
struct stmt {
    sqlite3 *db;
    sqlite3_stmt *at; // NULL after a failure
    int bound;        // parameters bound so far
    bool failed;
    struct err *err;
};

// What a failure of SQLite's means for callers: only ERR_IO says something of the file itself.
enum err_code sql_code(sqlite3 *db, int rc);

struct stmt sql_begin(sqlite3 *db, const char *text, struct err *err);

// Bind the next parameter. Texts and bytes must stay until sql_end.
void sql_bind_text(struct stmt *stmt, struct str value);
// Text from outside, without what looks like a secret; and the value that stands beside a name.
void sql_bind_clean(struct stmt *stmt, struct str value);
void sql_bind_clean_value(struct stmt *stmt, struct str name, struct str value);
void sql_bind_i64(struct stmt *stmt, int64_t value);
void sql_bind_u64(struct stmt *stmt, uint64_t value); // at most INT64_MAX arrives
void sql_bind_f64(struct stmt *stmt, double value);
void sql_bind_null(struct stmt *stmt);
void sql_bind_bytes(struct stmt *stmt, struct str bytes);
void sql_bind_cell(struct stmt *stmt, const struct column *column, const struct cell *cell);

// True when a row stands ready to be read; false at the end and after a failure.
MUST_CHECK bool sql_row(struct stmt *stmt);
// Runs a statement whose rows nobody wants and makes it ready for the next binding.
void sql_step(struct stmt *stmt);
// False when anything failed.
MUST_CHECK bool sql_end(struct stmt *stmt);

// Makes a statement ready for the next binding while rows are left.
void sql_reset(struct stmt *stmt);

// sql_step and sql_end for a statement without results.
MUST_CHECK bool sql_run(struct stmt *stmt);

bool sql_is_null(const struct stmt *stmt, int column);
int64_t sql_i64(const struct stmt *stmt, int column);
int64_t sql_i64_or(const struct stmt *stmt, int column, int64_t if_null);
// Copies into the arena; "" for null and after a failure.
struct str sql_text(struct stmt *stmt, int column, struct arena *arena);
// Borrowed until the next row.
struct str sql_bytes(const struct stmt *stmt, int column);
struct cell sql_cell(struct stmt *stmt, int column, enum column_type type, struct arena *arena);

// Adds all rows to a table, whose columns are the statement's, and ends it. A whole number for a
// column of text is a time; it becomes RFC 3339.
MUST_CHECK bool sql_end_table(struct stmt *stmt, struct arena *arena, struct table *table);

// --- small things -------------------------------------------------------------------------------

// "r_" and random letters and digits.
MUST_CHECK bool sql_new_id(char prefix, char id[STORE_ID_SIZE], struct err *err);

// Whether a text could be such an id.
bool sql_has_id_form(char prefix, struct str text);

// Counts a change of a run. ERR_NOT_FOUND when it is gone.
MUST_CHECK bool sql_touch_run(sqlite3 *db, struct str run_id, struct err *err);

// Grows an array in an arena: room for one more of count elements of size bytes; NULL on failure.
void *sql_grow(struct arena *arena, void *items, size_t count, size_t size, struct err *err);

// "%text%" for LIKE ... ESCAPE '\\', or "" for an empty text; NULL text on failure.
MUST_CHECK struct str sql_like(struct arena *arena, struct str text, struct err *err);

// --- connections --------------------------------------------------------------------------------

enum { STORE_BUSY_MS = 5000 }; // how long one waits for another process, such as a backup

// Opens a connection with the settings that all have; NULL on failure.
sqlite3 *store_connect(const char *path, int flags, struct err *err);

const char *store_path(const struct store *store);

// Brings the schema of the database at path up to date, after copying what an older program wrote.
// ERR_UNSUPPORTED for a database of a newer program.
MUST_CHECK bool migrate_check(sqlite3 *db, struct err *err);
MUST_CHECK bool migrate_schema(sqlite3 *db, const char *path, struct err *err);

// Copies the database of a connection, in no transaction, into a new file and flushes that.
MUST_CHECK bool copy_database(sqlite3 *db, const char *to, struct err *err);

// Copies the database beside itself before its schema changes from a version on; the newest two
// such copies stay.
MUST_CHECK bool copy_before_schema(sqlite3 *db, const char *path, int64_t version, struct err *err);

// The number that a statement with at most one parameter (NULL text: none) yields; 0 without rows.
MUST_CHECK bool store_number(struct store *store, const char *sql, struct str parameter,
                             int64_t *number, struct err *err);

// --- pieces of transactions that several files use ----------------------------------------------

// Ids that a query with one or two parameters (NULL text: none) yields.
struct id_search {
    struct str id; // the first
    int count;     // 2: two or more
};
MUST_CHECK bool runs_search(sqlite3 *db, const char *text, const struct str parameters[2],
                            struct arena *arena, struct id_search *found, struct err *err);

// ERR_NOT_FOUND.
MUST_CHECK bool runs_load(sqlite3 *db, struct str id, struct arena *arena, struct run *run,
                          struct err *err);

// Whether a run that is not in the bin is at that revision. ERR_NOT_FOUND, ERR_CONFLICT.
MUST_CHECK bool runs_check_revision(sqlite3 *db, struct str id, int64_t expected, struct err *err);

// Whether whoever asks may only repeat what is there already (store_rights.c).
MUST_CHECK bool runs_is_locked(sqlite3 *db, struct str id, const struct run_request *request,
                               bool *locked, struct err *err);
bool runs_deny(struct err *err);

// All that people said of a run, to tell whether it changed.
MUST_CHECK bool runs_said(sqlite3 *db, struct str id, struct arena *arena, struct str *said,
                          struct err *err);

// Gets or makes the run of a request; id lives in the arena.
MUST_CHECK bool runs_get_or_create(sqlite3 *db, const struct run_request *request,
                                   struct arena *arena, struct str *id, struct err *err);

// Names are keys, so nothing can stand in the place of a secret in one. ERR_USAGE naming what.
MUST_CHECK bool meta_check_secret(const char *what, struct str text, struct err *err);

// "A-Z a-z 0-9 . _ -", 1 to STORE_WORD_MAX_BYTES of them, not dots alone, and no secret. ERR_USAGE
// naming what.
MUST_CHECK bool meta_check_word(const char *what, struct str word, struct err *err);

// Whether these can be settings. ERR_USAGE.
MUST_CHECK bool meta_check(const struct run_tag *meta, size_t count, struct err *err);

// Sets them beside those that are there; one whose value's text is NULL goes. ERR_USAGE for too
// many.
MUST_CHECK bool meta_merge(sqlite3 *db, struct str run_id, const struct run_tag *meta, size_t count,
                           struct err *err);

// Notes what an upload in pieces became. ERR_NOT_FOUND when it was ended meanwhile.
MUST_CHECK bool resumable_accept(sqlite3 *db, struct str id, struct str upload_id, struct err *err);

// Notes the key of an upload. ERR_CONFLICT when its owner used it already.
MUST_CHECK bool upload_key_insert(sqlite3 *db, const struct upload_request *request,
                                  struct str upload_id, struct err *err);

// Counts bytes as sent today.
MUST_CHECK bool uploads_charge(sqlite3 *db, struct str who, uint64_t bytes, struct err *err);

// Traces that came with the upload belong to who, unless somebody brought them before.
MUST_CHECK bool uploads_own(sqlite3 *db, struct str who, struct str upload_id, struct err *err);

// Notes what a look at a blob's bytes found ("" sound), and warns on its traces.
MUST_CHECK bool blobs_note(sqlite3 *db, struct str sha256, struct str damage, struct err *err);

// An upload just put sound bytes in place of what may have been damaged. Where that is why a trace
// failed, it is read anew.
MUST_CHECK bool blobs_heal(sqlite3 *db, struct str sha256, struct err *err);

// Queues anew the traces of a blob that failed.
MUST_CHECK bool jobs_queue_failed_of(sqlite3 *db, struct str sha256, struct err *err);

// Sets a trace's state and forgets its error.
MUST_CHECK bool jobs_mark_trace(sqlite3 *db, struct str trace_id, struct str state,
                                struct err *err);

// A run's analysis ended, well (error NULL) or not.
MUST_CHECK bool jobs_mark_run(sqlite3 *db, struct str run_id, const char *error, struct err *err);

// Ends a job that its worker still has. ERR_NOT_FOUND when he has it no more.
MUST_CHECK bool jobs_end(sqlite3 *db, const struct job *job, struct str state, struct str reason,
                         struct err *err);
MUST_CHECK bool jobs_fail(sqlite3 *db, const struct job *job, const char *reason, struct err *err);

// Deletes a trace's rows; its files become garbage.
MUST_CHECK bool traces_drop(sqlite3 *db, struct str trace_id, struct err *err);

// Gives a trace that waits for its rank one: what the file says, its name, or the first free one.
MUST_CHECK bool traces_settle_rank(sqlite3 *db, const struct job *job, int64_t metadata_rank,
                                   struct err *err);

// Queues a trace's job unless one waits already, and marks the trace queued.
MUST_CHECK bool jobs_queue_trace(sqlite3 *db, struct str trace_id, struct err *err);

// Queues all traces of a run anew, those that are being read too: they began before the change.
MUST_CHECK bool jobs_queue_traces(sqlite3 *db, struct str run_id, struct err *err);

// Deletes and writes all run tables.
MUST_CHECK bool tables_replace(sqlite3 *db, struct str run_id, int tables, struct err *err);
// Writes a trace's report; *bytes is what it takes.
MUST_CHECK bool tables_save_trace(sqlite3 *db, struct str trace_id, int tables, int64_t *bytes,
                                  struct err *err);

#endif
