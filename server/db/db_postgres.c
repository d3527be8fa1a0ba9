// SPDX-License-Identifier: Apache-2.0
// PostgreSQL: a database that several services share. Writers take turns there too, by a lock of
// the database, so that a transaction sees what the one before it left, as with SQLite. None fails
// for the order of others, and none waits in a circle.
#include "server/db/db_postgres.h"

#include "ingest/base/buf.h"
#include "ingest/base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOW_NS        "CAST(extract(epoch FROM clock_timestamp()) * 1000000000 AS BIGINT)"
#define BEGIN_WRITING "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
// Columns are read from left to right: the time is that of the turn.
#define TAKE(lock, settings)                           \
    "SELECT CAST(pg_current_xact_id() AS TEXT), " lock \
    "(hashtextextended(current_schema(), 0)), " NOW_NS settings
#define TAKE_TURN TAKE("pg_advisory_xact_lock", "")
// A claim goes along the queue's index even before the table was analyzed: with default statistics
// the planner would read every waiting job.
#define TAKE_PLACE                                                                    \
    TAKE("pg_advisory_xact_lock_shared", ", set_config('enable_sort', 'off', TRUE), " \
                                         "set_config('enable_bitmapscan', 'off', TRUE)")

static bool is_url(const char *place)
{
    return str_starts_with(str_of(place), STR("postgres://")) ||
           str_starts_with(str_of(place), STR("postgresql://"));
}

static bool may_exist(const char *place)
{
    (void)place;
    return true; // opening it tells
}

static int64_t changes(struct db *db)
{
    return db_postgres_of(db)->changes;
}

static bool read_clock(struct db *db, int64_t *now_ns, struct err *err)
{
    const struct db_postgres *pg = db_postgres_of(db);
    if (pg->is_writing) {
        *now_ns = pg->begun_ns + clock_mono_ns() - pg->begun_mono_ns;
        return true;
    }
    struct stmt stmt = sql_begin(db, "SELECT " NOW_NS, err);
    *now_ns = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    return sql_end(&stmt);
}

// Transactions that ended make another snapshot; after a failover it is another server's.
static bool read_state(struct db *db, uint64_t *state, struct err *err)
{
    struct stmt stmt =
        sql_begin(db,
                  "SELECT hashtextextended(CAST(pg_current_snapshot() AS TEXT) || ' ' || "
                  "CAST(pg_postmaster_start_time() AS TEXT), 0)",
                  err);
    *state = sql_row(&stmt) ? (uint64_t)sql_i64(&stmt, 0) : 0;
    return sql_end(&stmt);
}

// --- copies -------------------------------------------------------------------------------------

#define COLUMNS                                                              \
    "SELECT CAST(column_name AS TEXT), CAST(data_type AS TEXT) "             \
    "FROM information_schema.columns WHERE table_schema = current_schema() " \
    "AND table_name = ? AND is_generated = 'NEVER' ORDER BY column_name COLLATE \"C\""

static bool continue_ids(struct db *db, const char *table, struct err *err)
{
    char text[200];
    snprintf(text, sizeof text,
             "SELECT setval(pg_get_serial_sequence('%s', 'id'), "
             "(SELECT coalesce(max(id), 0) + 1 FROM %s), false)",
             table, table);
    return sql_execute(db, text, err);
}

static bool take_alone(struct db *db, bool *is_alone, struct err *err)
{
    struct stmt stmt = sql_begin(
        db, "SELECT CAST(pg_try_advisory_lock(hashtextextended(current_schema(), 1)) AS INTEGER)",
        err);
    *is_alone = sql_row(&stmt) && sql_i64(&stmt, 0) == 1;
    return sql_end(&stmt);
}

// --- transactions -------------------------------------------------------------------------------

static void limit_time(struct db *db, int64_t deadline_ns)
{
    db_postgres_of(db)->deadline_ns = deadline_ns;
}

static PGresult *begin_reading(struct db_postgres *pg)
{
    char text[120] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    size_t len = strlen(text);
    int64_t left_ms = (pg->deadline_ns - clock_mono_ns()) / 1000000;
    if (pg->deadline_ns)
        snprintf(text + len, sizeof text - len, "; SET LOCAL statement_timeout = %lld",
                 (long long)(left_ms > 1 ? left_ms : 1));
    return pg->pq.execute(pg->conn, text);
}

// In one message.
static PGresult *begin_writing(struct db_postgres *pg, enum db_access access)
{
    struct postgres_kept kept;
    const char *take = access == DB_WRITE ? TAKE_TURN : TAKE_PLACE;
    if (!postgres_keep(pg, take, 0, &(Oid){0}, &kept))
        return NULL;
    if (kept.failure || !pg->pq.enter_pipeline(pg->conn))
        return kept.failure;
    pg->pending += pg->pq.send_with(pg->conn, BEGIN_WRITING, 0, NULL, NULL, NULL, NULL, 0);
    pg->pending += pg->pq.send_prepared(pg->conn, kept.name, 0, NULL, NULL, NULL, 0);
    return postgres_settle(pg);
}

// Its number, and when it got its turn.
static void note_begin(struct db_postgres *pg, const PGresult *result)
{
    snprintf(pg->transaction, sizeof pg->transaction, "%s", pg->pq.value(result, 0, 0));
    pg->begun_ns = strtoll(pg->pq.value(result, 0, 2), NULL, 10);
    pg->begun_mono_ns = clock_mono_ns();
}

static bool try_begin(struct db_postgres *pg, enum db_access access, struct err *err)
{
    bool reads = access == DB_READ;
    pg->transaction[0] = '\0';
    PGresult *result = reads ? begin_reading(pg) : begin_writing(pg, access);
    int status = result ? pg->pq.result_status(result) : -1;
    bool ok = status == (reads ? PGRES_COMMAND_OK : PGRES_TUPLES_OK);
    if (!ok)
        postgres_fail(pg, result, err);
    else if (!reads)
        note_begin(pg, result);
    pg->pq.clear(result);
    pg->in_transaction = !pg->is_lost;
    pg->is_writing = !reads;
    return ok;
}

// A connection that was lost since its last use is noticed here, where nothing was done yet.
static bool begin(struct db *db, enum db_access access, struct err *err)
{
    struct db_postgres *pg = db_postgres_of(db);
    struct err first;
    if (!postgres_revive(pg, err))
        return false;
    if (try_begin(pg, access, &first))
        return true;
    if (pg->is_lost)
        return postgres_revive(pg, err) && try_begin(pg, access, err);
    *err = first;
    return false;
}

// --- the end of a writing transaction -----------------------------------------------------------

#define MARK_AT(written)                                                                         \
    "INSERT INTO last_commit VALUES (?, ?, " written ") ON CONFLICT (connection) DO UPDATE SET " \
    "number = excluded.number, written_ns = excluded.written_ns"
// Divides by zero where a newer program has changed the tables: nothing is committed.
#define MARK_OF_VERSION \
    MARK_AT(NOW_NS " / CAST((SELECT version = ? FROM schema_version) AS INTEGER)")
// A day after their last use, connections have ended.
#define FORGET_MARKS "DELETE FROM last_commit WHERE written_ns < " NOW_NS " - 86400000000000"
// A number that is not taken by now is nobody's: that of a transaction of which nothing reached the
// disk before a crash. Where it was given again, this waits for another one, which does no harm.
#define GOES_ON                                                 \
    "SELECT CASE WHEN mine < pg_current_xact_id() "             \
    "THEN pg_xact_status(mine) = 'in progress' ELSE FALSE END " \
    "FROM (SELECT CAST(CAST(? AS TEXT) AS xid8) AS mine) AS asked"

// What tells later whether it was committed; it goes with the commit.
static bool mark(struct db_postgres *pg, struct err *err)
{
    if (pg->commits == 0 && !sql_execute(&pg->db, FORGET_MARKS, err))
        return false;
    const char *text = pg->db.version ? MARK_OF_VERSION : MARK_AT(NOW_NS);
    struct stmt stmt = sql_begin(&pg->db, text, err);
    sql_bind_i64(&stmt, pg->id);
    sql_bind_i64(&stmt, ++pg->commits);
    if (pg->db.version)
        sql_bind_i64(&stmt, pg->db.version);
    return sql_run_later(&stmt);
}

// Also false if the database does not answer.
static bool has_ended(struct db_postgres *pg)
{
    struct err ignored;
    struct stmt stmt = sql_begin(&pg->db, GOES_ON, &ignored);
    sql_bind_text(&stmt, str_of(pg->transaction));
    bool ended = sql_row(&stmt) && sql_i64(&stmt, 0) == 0;
    return sql_end(&stmt) && ended;
}

static bool find_mark(struct db_postgres *pg, bool *found)
{
    struct err ignored;
    struct stmt stmt = sql_begin(
        &pg->db, "SELECT count(*) FROM last_commit WHERE connection = ? AND number = ?", &ignored);
    sql_bind_i64(&stmt, pg->id);
    sql_bind_i64(&stmt, pg->commits);
    *found = sql_row(&stmt) && sql_i64(&stmt, 0) == 1;
    return sql_end(&stmt);
}

// Whether the transaction whose answer was lost took effect. Its mark is looked for in a statement
// that begins after it has ended. Others wait meanwhile, so only briefly.
static bool was_committed(struct db_postgres *pg, struct err *err)
{
    enum { WAIT_NS = 100000000 };
    int64_t end_ns = clock_mono_ns() + 10 * INT64_C(1000000000);
    bool found;
    while (clock_mono_ns() < end_ns) {
        if (has_ended(pg) && find_mark(pg, &found))
            return found ||
                   err_set(err, ERR_BUSY, "database: the connection was lost; nothing was changed");
        nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
    }
    return err_set(err, ERR_BUSY,
                   "database: the connection was lost; it is not known whether this was stored: "
                   "look, or send it again");
}

// With the statements before it, if they are not answered yet.
static PGresult *send_commit(struct db_postgres *pg)
{
    if (!pg->pending)
        return pg->pq.execute(pg->conn, "COMMIT");
    pg->pending += pg->pq.send_with(pg->conn, "COMMIT", 0, NULL, NULL, NULL, NULL, 0);
    return postgres_settle(pg);
}

static bool end(struct db_postgres *pg, struct err *err)
{
    PGresult *result = send_commit(pg);
    bool ok = result && pg->pq.result_status(result) == PGRES_COMMAND_OK;
    if (!ok)
        postgres_fail(pg, result, err);
    else if (pg->pq.verb(result)[0] != 'C') // a statement before it had failed
        ok = err_set(err, ERR_BUSY, "database: the transaction was rolled back");
    pg->pq.clear(result);
    return ok;
}

static bool commit(struct db *db, struct err *err)
{
    struct db_postgres *pg = db_postgres_of(db);
    bool is_marked = !pg->is_writing || mark(pg, err);
    bool ok = is_marked && end(pg, err);
    pg->in_transaction = !ok && !pg->is_lost; // it still is if a statement sent before failed
    pg->is_writing = false;
    pg->deadline_ns = 0;
    return ok || (is_marked && pg->is_lost && pg->transaction[0] && was_committed(pg, err));
}

static void rollback(struct db *db)
{
    struct db_postgres *pg = db_postgres_of(db);
    if (pg->pending)
        pg->pq.clear(postgres_settle(pg));
    if (pg->in_transaction && !pg->is_lost)
        pg->pq.clear(pg->pq.execute(pg->conn, "ROLLBACK"));
    pg->in_transaction = pg->is_writing = false;
    pg->deadline_ns = 0;
}

// --- care ---------------------------------------------------------------------------------------

static bool number(struct db *db, const char *text, int64_t *value, struct err *err)
{
    struct stmt stmt = sql_begin(db, text, err);
    *value = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    return sql_end(&stmt);
}

static bool read_version(struct db *db, int64_t *version, struct err *err)
{
    int64_t is_there;
    *version = 0;
    return number(db, "SELECT to_regclass('schema_version') IS NOT NULL", &is_there, err) &&
           (!is_there || number(db, "SELECT version FROM schema_version", version, err));
}

static bool write_version(struct db *db, int64_t version, struct err *err)
{
    if (!sql_execute_all(db,
                         "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL);"
                         "DELETE FROM schema_version;",
                         err))
        return false;
    struct stmt stmt = sql_begin(db, "INSERT INTO schema_version VALUES (?)", err);
    sql_bind_i64(&stmt, version);
    return sql_run(&stmt);
}

static bool was_unclean(const struct db *db)
{
    (void)db;
    return false; // the server recovers by itself
}

static struct db_sizes sizes(const struct db *db)
{
    return (struct db_sizes){atomic_load(&db_postgres_of(db)->data_bytes), 0};
}

// The server looks after its own log; only the database's size is read here.
static bool empty_log(struct db *db, bool *done, struct err *err)
{
    int64_t bytes;
    *done = number(db, "SELECT pg_database_size(current_database())", &bytes, err);
    if (*done)
        atomic_store(&db_postgres_of(db)->data_bytes, (unsigned long long)bytes);
    return *done;
}

static bool copy(struct db *db, const char *to, struct err *err)
{
    (void)db, (void)to;
    return err_set(err, ERR_UNSUPPORTED, "use pg_dump to copy a database of PostgreSQL");
}

static bool copy_before_schema(struct db *db, int64_t version, struct err *err)
{
    (void)db, (void)version, (void)err;
    return true; // the operator's backups have it
}

static bool drop_schema_copies(struct db *db, struct err *err)
{
    (void)db, (void)err;
    return true;
}

// Only whether it answers: PostgreSQL checks its pages by their checksums.
static bool check(struct db *db, enum db_check_depth depth, const atomic_bool *stop,
                  char damage[DB_DAMAGE_BYTES], struct err *err)
{
    int64_t version;
    (void)depth, (void)stop;
    damage[0] = '\0';
    return read_version(db, &version, err);
}

const struct db_kind db_postgres = {
    .name = "postgres",
    .claiming = " FOR UPDATE OF job SKIP LOCKED",
    .holding = " FOR UPDATE OF ",
    .is_shared = true,
    .is_place = is_url,
    .exists = may_exist,
    .open = postgres_open,
    .close = postgres_close,
    .prepare = postgres_prepare,
    .bind_null = postgres_bind_null,
    .bind_i64 = postgres_bind_i64,
    .bind_f64 = postgres_bind_f64,
    .bind_text = postgres_bind_text,
    .bind_bytes = postgres_bind_bytes,
    .step = postgres_step,
    .run_later = postgres_run_later,
    .reset = postgres_reset,
    .finish = postgres_finish,
    .is_null = postgres_column_is_null,
    .is_i64 = postgres_column_is_i64,
    .i64 = postgres_column_i64,
    .f64 = postgres_column_f64,
    .bytes = postgres_column_bytes,
    .changes = changes,
    .columns = COLUMNS,
    .continue_ids = continue_ids,
    .take_alone = take_alone,
    .clock = read_clock,
    .read_state = read_state,
    .begin = begin,
    .limit_time = limit_time,
    .commit = commit,
    .rollback = rollback,
    .read_version = read_version,
    .write_version = write_version,
    .was_unclean = was_unclean,
    .sizes = sizes,
    .empty_log = empty_log,
    .copy = copy,
    .copy_before_schema = copy_before_schema,
    .drop_schema_copies = drop_schema_copies,
    .check = check,
};
