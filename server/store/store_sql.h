// SPDX-License-Identifier: Apache-2.0
// Shared by the store_*.c files: transactions, and parts of them.
#ifndef SERVER_STORE_SQL_H
#define SERVER_STORE_SQL_H

#include "server/db/db.h"
#include "server/store/store_care.h"
#include "server/store/store_tracking.h"

// --- transactions -------------------------------------------------------------------------------

// One connection, inside a transaction.
struct txn {
    struct store *store;
    struct db *db;
    enum db_access access;
};

int64_t store_opened_ns(const struct store *store); // wall clock

// Whether the last claim found a job, so that there may be another one.
bool store_found_job(const struct store *store);
void store_note_found(struct store *store, bool found);

// Waits for the writer, or for a reader. Pair with txn_end if true.
MUST_CHECK bool txn_begin(struct store *store, enum db_access access, struct txn *txn,
                          struct err *err);
// Commits if ok, else rolls back; returns the connection to the pool. Returns ok and whether it
// committed.
MUST_CHECK bool txn_end(struct txn *txn, bool ok, struct err *err);

// A writing transaction. Where a database is shared, it first runs beside others of its kind. What
// is certain only while nobody else writes asks txn_has_turn; without a turn all of it is undone,
// and done by turn from the beginning.
//
// These wait for each other in one order, and so in no circle: a job to be claimed and its trace,
// the run, its series, a key, an unfinished upload, a blob, what its owner has, the day of a quota.
// Each changes one of a kind at most, and what only it knows of.
MUST_CHECK bool txn_write(struct store *store,
                          bool (*run)(struct db *db, void *context, struct err *err), void *context,
                          struct err *err);
// If not, the caller fails.
MUST_CHECK bool txn_has_turn(struct db *db, struct err *err);

// --- statements (db.h) --------------------------------------------------------------------------

// A SELECT whose rows of these tables nobody else changes until the transaction ends. It has what
// they were changed to before.
struct stmt sql_begin_holding(struct db *db, const char *text, const char *tables, struct err *err);

// Untrusted text, without anything that looks like a secret; and the value that belongs to a name.
void sql_bind_clean(struct stmt *stmt, struct str value);
void sql_bind_clean_value(struct stmt *stmt, struct str name, struct str value);
void sql_bind_cell(struct stmt *stmt, const struct column *column, const struct cell *cell);

struct cell sql_cell(struct stmt *stmt, int column, enum column_type type, struct arena *arena);

// Adds all rows to a table whose columns are the statement's, and ends it. An integer for a text
// column is a time, written as RFC 3339.
MUST_CHECK bool sql_end_table(struct stmt *stmt, struct arena *arena, struct table *table);

// Runs a statement whose only parameter is the id.
MUST_CHECK bool sql_run_with(struct db *db, const char *text, struct str id, struct err *err);

// Adds the texts of the first column to a new array, and ends the statement.
MUST_CHECK bool sql_end_ids(struct stmt *stmt, struct arena *arena, struct str **ids,
                            size_t *count);

// --- small things -------------------------------------------------------------------------------

// "r_" and random letters and digits.
MUST_CHECK bool sql_new_id(char prefix, char id[STORE_ID_SIZE], struct err *err);

// Whether a text could be such an id.
bool sql_has_id_form(char prefix, struct str text);

// Counts a change of a run. ERR_NOT_FOUND if it is gone.
MUST_CHECK bool sql_touch_run(struct db *db, struct str run_id, struct err *err);

// "%text%" for LIKE ... ESCAPE '\\', or "" for an empty text; NULL text on failure.
MUST_CHECK struct str sql_like(struct arena *arena, struct str text, struct err *err);
// For LIKE without ESCAPE: what would need one is any character.
MUST_CHECK struct str sql_like_more(struct arena *arena, struct str text, struct err *err);

// --- the database -------------------------------------------------------------------------------

const char *store_path(const struct store *store);

// Updates the schema, after copying what an older program wrote. ERR_UNSUPPORTED for a database of
// a newer program.
MUST_CHECK bool migrate_check(struct db *db, struct err *err);
MUST_CHECK bool migrate_schema(struct db *db, struct err *err);

// The number that a statement with at most one parameter (NULL text: none) returns; 0 without rows.
MUST_CHECK bool store_number(struct store *store, const char *sql, struct str parameter,
                             int64_t *number, struct err *err);

// --- texts of people, ERR_USAGE naming what (store_texts.c) -------------------------------------

bool text_is_blank(struct str text);

// Valid UTF-8; for a line without control characters.
MUST_CHECK bool text_check(const char *what, struct str text, size_t max_bytes, struct err *err);
MUST_CHECK bool text_check_line(const char *what, struct str text, size_t max_bytes,
                                struct err *err);

// Names are keys, so a secret in one cannot be masked.
MUST_CHECK bool text_check_secret(const char *what, struct str text, struct err *err);

// "A-Z a-z 0-9 . _ -", 1 to STORE_WORD_MAX_BYTES of them and not only dots; a word also has no
// secret.
MUST_CHECK bool text_check_letters(const char *what, struct str word, struct err *err);
MUST_CHECK bool text_check_word(const char *what, struct str word, struct err *err);

// A role that nobody else takes, once it has an owner: kept is the first one.
MUST_CHECK bool leader_keep(struct db *db, const char *role, struct str mark,
                            char kept[STORE_ID_SIZE], struct err *err);

// --- pieces of transactions that several files use ----------------------------------------------

// Ids that a query with one or two parameters (NULL text: none) returns.
struct id_search {
    struct str id;      // the first
    int64_t world_size; // its second column, if there is one; -1 unknown
    int count;          // 2: two or more
};
MUST_CHECK bool runs_search(struct db *db, const char *text, const struct str parameters[2],
                            struct arena *arena, struct id_search *found, struct err *err);

// ERR_NOT_FOUND.
MUST_CHECK bool runs_load(struct db *db, struct str id, struct arena *arena, struct run *run,
                          struct err *err);
// Loads the other members of runs of which the list has the ids.
MUST_CHECK bool runs_load_listed(struct db *db, struct arena *arena, struct run_list *list,
                                 struct err *err);

// Whether a run that is not in the bin is at that revision. ERR_NOT_FOUND, ERR_CONFLICT.
MUST_CHECK bool runs_check_revision(struct db *db, struct str id, int64_t expected,
                                    struct err *err);

// Whether the caller may only repeat what is already there (store_rights.c).
MUST_CHECK bool runs_is_locked(struct db *db, struct str id, const struct run_request *request,
                               bool *locked, struct err *err);
bool runs_deny(struct err *err);

// Everything that people entered for a run, to detect changes.
MUST_CHECK bool runs_said(struct db *db, struct str id, struct arena *arena, struct str *said,
                          struct err *err);

// Finds or creates the run of a request; id lives in the arena.
MUST_CHECK bool runs_get_or_create(struct db *db, const struct run_request *request,
                                   struct arena *arena, struct str *id, struct err *err);

// Whether these are valid settings. ERR_USAGE.
MUST_CHECK bool meta_check(const struct run_tag *meta, size_t count, struct err *err);

// Merges them into the existing ones; one whose value's text is NULL is removed. ERR_USAGE for too
// many.
MUST_CHECK bool meta_merge(struct db *db, struct str run_id, const struct run_tag *meta,
                           size_t count, struct err *err);

// Records what a resumable upload became. ERR_NOT_FOUND if it was ended meanwhile.
MUST_CHECK bool resumable_accept(struct db *db, struct str id, struct str upload_id,
                                 struct err *err);

// Records the key of an upload. ERR_CONFLICT if its owner used it already.
MUST_CHECK bool upload_key_insert(struct db *db, const struct upload_request *request,
                                  struct str upload_id, struct err *err);

// Counts bytes as sent today.
MUST_CHECK bool uploads_charge(struct db *db, struct str who, uint64_t bytes, struct err *err);

// Traces of the upload belong to who, unless someone uploaded them before. They are not counted
// yet.
MUST_CHECK bool uploads_own(struct db *db, struct str who, struct str upload_id, struct err *err);

// Counts what its owners have stored with it: the new traces of an upload, a trace, an input, or a
// run and all it has. Call after it has come, and before it goes; before and after it changes.
enum owned { OWNED_UPLOAD, OWNED_TRACE, OWNED_INPUT, OWNED_RUN };
enum owned_sign { OWNED_COMES = 1, OWNED_GOES = -1 };
MUST_CHECK bool owners_count(struct db *db, enum owned owned, struct str id, enum owned_sign sign,
                             struct err *err);
// How many bytes the results of a trace, or of its run as a whole, take.
MUST_CHECK bool owners_note_trace_made(struct db *db, struct str trace_id, int64_t bytes,
                                       struct err *err);
MUST_CHECK bool owners_note_run_made(struct db *db, struct str run_id, int64_t bytes,
                                     struct err *err);

// An upload just replaced possibly damaged bytes with sound ones. If the damage made a trace fail,
// it is read again.
MUST_CHECK bool blobs_heal(struct db *db, struct str sha256, struct err *err);

// Queues the failed traces of a blob again.
MUST_CHECK bool jobs_queue_failed_of(struct db *db, struct str sha256, struct err *err);

// A run's analysis ended, successfully (error NULL) or not.
MUST_CHECK bool jobs_mark_run(struct db *db, struct str run_id, const char *error, struct err *err);

// A job may be queued before those that were claimed already: the next claim looks at the whole
// queue.
void jobs_put_first(struct db *db);

// Ends a job that its worker still owns. ERR_NOT_FOUND if it no longer does.
MUST_CHECK bool jobs_end(struct db *db, const struct job *job, struct str state, struct str reason,
                         struct err *err);
MUST_CHECK bool jobs_fail(struct db *db, const struct job *job, const char *reason,
                          struct err *err);

// What the parts of one upload, or the members of an archive, share.
struct adding {
    struct db *db;
    struct str run_id;
    bool replace;
    bool locked; // nothing new may come
    struct arena *arena;
    struct str owner; // of archives
    bool adds_only;   // as in run_request, for the runs of an archive's windows
};

// The trace or the archive that a part became, or was already.
struct added {
    char id[STORE_ID_SIZE];
    bool existing;
};

// Adds a trace and its job, unless it is there. ERR_CONFLICT, ERR_DENIED.
MUST_CHECK bool traces_add(const struct adding *adding, const struct trace_part *part,
                           struct added *added, struct err *err);
enum trace_state traces_state(struct str word);

// ERR_BUSY while the bytes are being removed elsewhere (store_garbage.c).
MUST_CHECK bool blobs_may_come(struct db *db, const char *sha256, struct err *err);
bool blobs_refuse(struct err *err); // says that
MUST_CHECK bool blobs_insert(struct db *db, const struct trace_part *part, struct err *err);
// A file was put in place that no row may come to name.
MUST_CHECK bool blobs_note_unneeded(struct db *db, const char *sha256, struct err *err);

// Archives (store_inputs.c): adding one and its job, what an upload has of them, and what becomes
// of their jobs.
MUST_CHECK bool inputs_add_archive(const struct adding *adding, const struct trace_part *part,
                                   struct added *added, struct err *err);
MUST_CHECK bool inputs_of_upload(struct db *db, struct upload *upload, struct arena *arena,
                                 struct err *err);
// The input's reason stays unless it says why it failed.
MUST_CHECK bool inputs_mark(struct db *db, struct str id, struct str state, struct err *err);
MUST_CHECK bool inputs_fail(struct db *db, const struct job *job, struct str reason,
                            struct err *err);
MUST_CHECK bool inputs_cancel(struct db *db, struct str run_id, struct str reason, struct err *err);
// Those of a run that failed or were interrupted, as far as their bytes are still there.
MUST_CHECK bool inputs_queue_again(struct db *db, struct str run_id, struct err *err);

// Attachments that are read (store_evidence.c): whether files of a format are; queueing one, those
// of a run, those of a run that were not read by this program, and all that an older one has read.
bool evidence_is_in(struct str format);
MUST_CHECK bool evidence_queue(struct db *db, struct str input_id, struct err *err);
MUST_CHECK bool evidence_queue_run(struct db *db, struct str run_id, struct err *err);
MUST_CHECK bool evidence_queue_unread(struct db *db, struct str run_id, struct err *err);
MUST_CHECK bool evidence_queue_stale(struct db *db, struct err *err);

// What follows from other rows (store_derived.c). Whoever changes traces or jobs of a run counts
// them afterwards, and before anything that depends on the counts.
MUST_CHECK bool runs_count_traces(struct db *db, struct str run_id, struct err *err);
// The same for one trace that was added, that waited and is read now, or was read and is done
// without a change of its run's world size: without looking at the others. Where something was
// added to the run or is done in it, its revision changes with that.
enum trace_move { MOVE_ADDED, MOVE_STARTED, MOVE_DONE };
MUST_CHECK bool runs_count_move(struct db *db, struct str run_id, enum trace_move move,
                                struct err *err);
MUST_CHECK bool runs_count_traces_with(struct db *db, struct str trace_id, struct err *err);
// Call before the attachment is marked as read.
MUST_CHECK bool runs_count_evidence(struct db *db, struct str run_id, struct str input_id,
                                    struct err *err);
MUST_CHECK bool runs_count_jobs(struct db *db, struct str run_id, struct err *err);
// What a search looks in: call after the run's name, project, GPU, note or tags were set.
MUST_CHECK bool runs_note_text(struct db *db, struct str run_id, struct err *err);
// Makes the index of all texts again, where rows were written by other means.
MUST_CHECK bool runs_index_texts(struct db *db, struct err *err);
// Call series_join for a run that is new in its series, series_leave before one is deleted or
// moved.
MUST_CHECK bool series_join(struct db *db, struct str run_id, struct err *err);
MUST_CHECK bool series_leave(struct db *db, struct str run_id, struct err *err);
// The run's series must be judged again: because of its point, or of something else about it, which
// counts only if it has a point.
MUST_CHECK bool series_note_change(struct db *db, struct str run_id, struct err *err);
MUST_CHECK bool series_note_point(struct db *db, struct str run_id, struct err *err);
// Queues a job for the run, trace or input of that id, unless it is queued or its run deleted.
MUST_CHECK bool jobs_insert(struct db *db, enum job_kind kind, struct str id, struct err *err);
// A row that named a blob is gone. Unless another one does, its file becomes garbage.
MUST_CHECK bool blobs_release(struct db *db, struct str sha256, struct err *err);
// Delete the rows of a trace, or of a run and all it has; their files become garbage.
MUST_CHECK bool traces_drop(struct db *db, struct str trace_id, struct err *err);
MUST_CHECK bool runs_drop(struct db *db, struct str run_id, struct err *err);

// Gives a trace without a rank one: from the file, its name, or the first free one. Drops it if a
// later upload has replaced it in the meantime: *is_kept is false then.
MUST_CHECK bool traces_settle_rank(struct db *db, const struct job *job, int64_t metadata_rank,
                                   bool *is_kept, struct err *err);

// Joins a run's ranks when none is on its way and there is something new to join.
MUST_CHECK bool jobs_queue_run_if_due(struct db *db, struct str run_id, struct err *err);
// The same after one of many ranks, which hardly ever makes it due: the next claim goes on from the
// last one.
MUST_CHECK bool jobs_queue_run_of_many(struct db *db, struct str run_id, struct err *err);

enum job_kind jobs_kind(struct str word);
// Marks what a job is about: "queued", "running".
MUST_CHECK bool jobs_mark(struct db *db, const struct job *job, struct str state, struct err *err);

// Queues a trace's job unless one is queued already, and marks the trace queued.
MUST_CHECK bool jobs_queue_trace(struct db *db, struct str trace_id, struct err *err);

// Queues all traces of a run again, including those being read: they were started before the
// change.
MUST_CHECK bool jobs_queue_traces(struct db *db, struct str run_id, struct err *err);

MUST_CHECK bool tables_save_input(struct db *db, struct str input_id, int tables, struct err *err);
// Writes a run's report in place of the one it had, and what follows from it. bytes: of its tables.
MUST_CHECK bool tables_save_run(struct db *db, struct str run_id, int tables, int64_t *bytes,
                                struct err *err);
// Some of a run's tables (NULL-terminated), within a transaction.
MUST_CHECK bool tables_load_run(struct db *db, struct str run_id,
                                const struct table_desc *const *known, struct report *report,
                                struct err *err);

// Whether a run has steps in its trace: of a recording in which none is marked, step_median_ns is
// the time of all of it.
#define STEPS_ARE_MARKED(run)                                                       \
    "(EXISTS (SELECT 1 FROM figure WHERE run_id = " run ".id AND "                  \
    "metric = 'step_median_ns') AND NOT EXISTS (SELECT 1 FROM figure WHERE run_id " \
    "= " run ".id AND metric = 'no_steps'))"
// 1 if the point_ns of a row of run is the time of a recording: no step is marked, and no log has
// step times.
#define IS_RECORDING                                                                        \
    "CASE WHEN EXISTS (SELECT 1 FROM figure WHERE run_id = run.id AND metric = 'step_ns') " \
    "OR " STEPS_ARE_MARKED("run") " THEN 0 ELSE 1 END"

// Takes the run's figures from its stored tables.
MUST_CHECK bool figures_take(struct db *db, struct str run_id, struct err *err);
// Takes the texts that lists filter by from there.
MUST_CHECK bool figures_take_words(struct db *db, struct str run_id, struct err *err);
// Takes a setting of the run as a figure, if it is a number.
MUST_CHECK bool figures_give(struct db *db, struct str run_id, struct str key, struct err *err);
// Sets the figures in *run to the rows of FIGURES_OF_RUN, and makes it ready for the next run.
#define FIGURES_OF_RUN "SELECT metric, value, source FROM figure WHERE run_id = ?"
void figures_read(struct stmt *stmt, struct arena *arena, struct run *run);

// Moves tables of runs from the schema before 0025_run_parts.sql; that is in place.
MUST_CHECK bool convert_run_tables(struct db *db, struct err *err);
// Writes a trace's report, after the one it had was forgotten; *bytes is what it takes.
MUST_CHECK bool tables_forget_trace(struct db *db, struct str trace_id, struct err *err);
MUST_CHECK bool tables_save_trace(struct db *db, struct str trace_id, int tables, int64_t *bytes,
                                  struct err *err);

#endif
