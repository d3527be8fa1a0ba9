// SPDX-License-Identifier: Apache-2.0
// Deleted runs: into the bin, out of it, and its contents. The view `run` leaves them out, so only
// here is the table itself read.
#include "server/store/store_bin.h"

#include "analysis/analysis.h"
#include "ingest/base/clock.h"
#include "server/store/store_sql.h"

// --- into the bin -------------------------------------------------------------------------------

static bool check_no_baseline(struct db *db, struct str id, struct err *err)
{
    struct stmt stmt =
        sql_begin(db, "SELECT name FROM baseline WHERE run_id = ? ORDER BY name LIMIT 1", err);
    sql_bind_text(&stmt, id);
    bool is_baseline = sql_row(&stmt);
    if (is_baseline) {
        struct str name = sql_bytes(&stmt, 0);
        err_set(err, ERR_CONFLICT,
                "the run is the baseline '%.*s': pin that to another run first, or remove it",
                (int)name.len, name.at);
    }
    return sql_end(&stmt) && !is_baseline;
}

static bool run_all(struct db *db, const char *const *texts, struct str id, struct err *err)
{
    bool ok = true;
    for (; ok && *texts; texts++) {
        struct stmt stmt = sql_begin(db, *texts, err);
        sql_bind_text(&stmt, id);
        ok = sql_run(&stmt);
    }
    return ok;
}

// Alerts with what people said about them are kept in the project ''; uploads go, and their
// Idempotency-Keys with them.
static bool forget_binned(struct db *db, struct str id, struct err *err)
{
    static const char *const texts[] = {
        "UPDATE alert SET project = '' WHERE run_id = ?",
        "UPDATE alert SET previous_id = NULL WHERE previous_id = ?",
        "UPDATE level_change SET previous_id = NULL WHERE previous_id = ?",
        "DELETE FROM level_change WHERE run_id = ?",
        "DELETE FROM job WHERE run_id = ? AND state IN ('queued', 'running')",
        "DELETE FROM upload WHERE run_id = ?",
        NULL,
    };
    return run_all(db, texts, id, err) && runs_count_jobs(db, id, err);
}

// An interrupted join is forgotten: restoring queues it.
static bool bin_run(struct db *db, struct str id, struct str who, struct err *err)
{
    if (!series_leave(db, id, err))
        return false;
    struct stmt stmt =
        sql_begin(db,
                  "UPDATE stored_run SET deleted_ns = ?, deleted_by = ?, deleted_name = name, "
                  "name = id, revision = revision + 1, analysis_version = "
                  "CASE WHEN joining > 0 THEN NULL ELSE analysis_version END WHERE id = ?",
                  err);
    sql_bind_i64(&stmt, clock_wall_ns());
    sql_bind_text(&stmt, who);
    sql_bind_text(&stmt, id);
    return sql_run(&stmt) && forget_binned(db, id, err);
}

bool store_bin_run(struct store *store, struct str id, int64_t expected, struct str who,
                   struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = runs_check_revision(txn.db, id, expected, err) &&
              check_no_baseline(txn.db, id, err) && bin_run(txn.db, id, who, err);
    return txn_end(&txn, ok, err);
}

// --- out of it ----------------------------------------------------------------------------------

static bool refuse(struct str id, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "no run '%.*s' in the bin", (int)(id.len < 40 ? id.len : 40),
                   id.at);
}

static bool check_in_bin(struct db *db, struct str id, struct err *err)
{
    struct stmt stmt =
        sql_begin(db, "SELECT 1 FROM stored_run WHERE id = ? AND deleted_ns IS NOT NULL", err);
    sql_bind_text(&stmt, id);
    bool found = sql_row(&stmt);
    return sql_end(&stmt) && (found || refuse(id, err));
}

static bool check_name_free(struct db *db, struct str id, struct err *err)
{
    struct stmt stmt = sql_begin(
        db,
        "SELECT other.id, other.name FROM stored_run AS this JOIN run AS other "
        "ON other.project = this.project AND other.name = this.deleted_name WHERE this.id = ?",
        err);
    sql_bind_text(&stmt, id);
    bool is_taken = sql_row(&stmt);
    if (is_taken) {
        struct str other = sql_bytes(&stmt, 0), name = sql_bytes(&stmt, 1);
        err_set(err, ERR_CONFLICT,
                "the project has another run '%.*s' now, %.*s: rename or delete that one, then "
                "restore this one",
                (int)(name.len < 100 ? name.len : 100), name.at, (int)other.len, other.at);
    }
    return sql_end(&stmt) && !is_taken;
}

// A join that was forgotten, or that a newer analysis would do again.
static bool queue_join(struct db *db, struct str id, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "SELECT 1 FROM run WHERE id = ? AND received > 0 "
                                 "AND done + failed = received "
                                 "AND (coalesce(analysis_version, 0) < ? OR joined < done)",
                                 err);
    sql_bind_text(&stmt, id);
    sql_bind_i64(&stmt, ANALYSIS_VERSION);
    bool lacks_join = sql_row(&stmt);
    return sql_end(&stmt) && (!lacks_join || jobs_insert(db, JOB_RUN, id, err));
}

// What was not read yet when the run was deleted.
static bool queue_missing(struct db *db, struct str id, struct err *err)
{
    struct arena arena;
    struct str *ids;
    size_t count;
    struct stmt stmt = sql_begin(db,
                                 "SELECT id FROM trace WHERE run_id = ? "
                                 "AND state IN ('queued', 'running') ORDER BY uploaded_ns, id",
                                 err);
    sql_bind_text(&stmt, id);
    arena_init(&arena, NULL);
    bool ok = sql_end_ids(&stmt, &arena, &ids, &count);
    for (size_t i = 0; ok && i < count; i++)
        ok = jobs_queue_trace(db, ids[i], err);
    arena_free(&arena);
    return ok && queue_join(db, id, err);
}

static bool restore_run(struct db *db, struct str id, struct err *err)
{
    struct stmt stmt =
        sql_begin(db,
                  "UPDATE stored_run SET deleted_ns = NULL, deleted_by = '', name = deleted_name, "
                  "deleted_name = NULL, restored_ns = ?, revision = revision + 1 WHERE id = ?",
                  err);
    sql_bind_i64(&stmt, clock_wall_ns());
    sql_bind_text(&stmt, id);
    static const char *const texts[] = {
        "UPDATE alert SET project = (SELECT project FROM stored_run WHERE id = ?1) "
        "WHERE run_id = ?1",
        NULL,
    };
    return sql_run(&stmt) && series_join(db, id, err) && run_all(db, texts, id, err) &&
           queue_missing(db, id, err) && inputs_queue_again(db, id, err) &&
           evidence_queue_unread(db, id, err);
}

bool store_restore_run(struct store *store, struct str id, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = check_in_bin(txn.db, id, err) && check_name_free(txn.db, id, err) &&
              restore_run(txn.db, id, err);
    return txn_end(&txn, ok, err);
}

// --- what is stored -----------------------------------------------------------------------------

#define SELECT_RUNS                                                                            \
    "SELECT id, coalesce(deleted_name, name), project, series, deleted_by, created_ns, "       \
    "max(created_ns, coalesce(restored_ns, 0)), coalesce(deleted_ns, 0), revision, received, " \
    "EXISTS (SELECT 1 FROM baseline WHERE run_id = stored_run.id), "                           \
    "EXISTS (SELECT 1 FROM job WHERE run_id = stored_run.id "                                  \
    "AND kind IN ('trace', 'run', 'unpack', 'evidence') AND state IN ('queued', 'running')) "

#define SELECT_TRACES                                                                           \
    "SELECT trace.run_id, trace.id, CASE WHEN trace.id = (SELECT other.id FROM trace AS other " \
    "JOIN stored_run AS holder ON holder.id = other.run_id WHERE other.sha256 = trace.sha256 "  \
    "ORDER BY holder.deleted_ns IS NULL DESC, holder.created_ns DESC, other.id LIMIT 1) "       \
    "THEN trace.bytes ELSE 0 END "

#define ALL    "FROM stored_run ORDER BY max(created_ns, coalesce(restored_ns, 0)), id"
#define IN_BIN "FROM stored_run WHERE deleted_ns IS NOT NULL ORDER BY deleted_ns, id"
#define TRACES_OF_ALL                                         \
    "FROM stored_run AS r CROSS JOIN trace ON run_id = r.id " \
    "ORDER BY max(r.created_ns, coalesce(r.restored_ns, 0)), r.id"
#define TRACES_IN_BIN                                         \
    "FROM stored_run AS r CROSS JOIN trace ON run_id = r.id " \
    "WHERE r.deleted_ns IS NOT NULL ORDER BY r.deleted_ns, r.id"

// Archives and attachments; a blob that a trace has, too, counts with the trace.
#define SELECT_INPUTS                                                                 \
    "SELECT input.run_id, CASE WHEN input.id = (SELECT other.id FROM input AS other " \
    "WHERE other.blob = input.blob ORDER BY other.created_ns, other.id LIMIT 1) "     \
    "AND NOT EXISTS (SELECT 1 FROM trace WHERE trace.sha256 = input.blob) "           \
    "THEN input.bytes ELSE 0 END "
#define INPUTS_OF_ALL                                         \
    "FROM stored_run AS r CROSS JOIN input ON run_id = r.id " \
    "WHERE input.blob IS NOT NULL "                           \
    "ORDER BY max(r.created_ns, coalesce(r.restored_ns, 0)), r.id"
#define INPUTS_IN_BIN                                         \
    "FROM stored_run AS r CROSS JOIN input ON run_id = r.id " \
    "WHERE r.deleted_ns IS NOT NULL AND input.blob IS NOT NULL ORDER BY r.deleted_ns, r.id"

static void read_run(struct stmt *stmt, struct arena *arena, struct stored_run *run)
{
    *run = (struct stored_run){
        .id = sql_text(stmt, 0, arena),
        .name = sql_text(stmt, 1, arena),
        .project = sql_text(stmt, 2, arena),
        .series = sql_text(stmt, 3, arena),
        .deleted_by = sql_text(stmt, 4, arena),
        .created_ns = sql_i64(stmt, 5),
        .since_ns = sql_i64(stmt, 6),
        .deleted_ns = sql_i64(stmt, 7),
        .revision = sql_i64(stmt, 8),
        .traces = sql_i64(stmt, 9),
        .is_baseline = sql_i64(stmt, 10) != 0,
        .is_busy = sql_i64(stmt, 11) != 0,
    };
}

static bool read_one(struct stmt stmt, struct arena *arena, struct stored_run *run, bool *found)
{
    *found = sql_row(&stmt);
    if (*found)
        read_run(&stmt, arena, run);
    return sql_end(&stmt);
}

bool store_find_in_bin(struct store *store, struct str id, struct arena *arena,
                       struct stored_run *run, struct err *err)
{
    struct txn txn;
    bool found;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(
        txn.db, SELECT_RUNS "FROM stored_run WHERE id = ? AND deleted_ns IS NOT NULL", err);
    sql_bind_text(&stmt, id);
    bool ok = read_one(stmt, arena, run, &found) && (found || refuse(id, err));
    return txn_end(&txn, ok, err);
}

bool store_next_in_bin(struct store *store, int64_t before_ns, struct arena *arena,
                       struct stored_run *run, bool *found, struct err *err)
{
    struct txn txn;
    *found = false;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt =
        sql_begin(txn.db,
                  SELECT_RUNS "FROM stored_run WHERE deleted_ns <= ? ORDER BY deleted_ns, id "
                              "LIMIT 1",
                  err);
    sql_bind_i64(&stmt, before_ns);
    return txn_end(&txn, read_one(stmt, arena, run, found), err);
}

static bool read_runs(struct stmt stmt, struct arena *arena, struct stored_list *list)
{
    while (sql_row(&stmt)) {
        list->runs = arena_more(arena, list->runs, list->count, sizeof *list->runs, stmt.err);
        if (!list->runs) {
            stmt.failed = true;
            break;
        }
        read_run(&stmt, arena, &list->runs[list->count++]);
    }
    return sql_end(&stmt);
}

// Traces come in the order of the runs.
static bool read_traces(struct stmt stmt, struct arena *arena, struct stored_list *list)
{
    size_t at = 0;
    while (sql_row(&stmt)) {
        list->traces =
            arena_more(arena, list->traces, list->trace_count, sizeof *list->traces, stmt.err);
        if (!list->traces) {
            stmt.failed = true;
            break;
        }
        while (at + 1 < list->count && !str_equal(list->runs[at].id, sql_bytes(&stmt, 0)))
            at++;
        list->runs[at].bytes += (uint64_t)sql_i64(&stmt, 2);
        list->traces[list->trace_count++] =
            (struct stored_trace){list->runs[at].id, sql_text(&stmt, 1, arena)};
    }
    return sql_end(&stmt);
}

// Inputs come in the order of the runs, too.
static bool add_inputs(struct stmt stmt, struct stored_list *list)
{
    size_t at = 0;
    while (sql_row(&stmt)) {
        while (at + 1 < list->count && !str_equal(list->runs[at].id, sql_bytes(&stmt, 0)))
            at++;
        list->runs[at].bytes += (uint64_t)sql_i64(&stmt, 1);
    }
    return sql_end(&stmt);
}

bool store_list_stored(struct store *store, enum stored_which which, struct arena *arena,
                       struct stored_list *list, struct err *err)
{
    struct txn txn;
    bool all = which == STORED_ALL;
    *list = (struct stored_list){0};
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    bool ok =
        read_runs(sql_begin(txn.db, all ? SELECT_RUNS ALL : SELECT_RUNS IN_BIN, err), arena,
                  list) &&
        read_traces(
            sql_begin(txn.db, all ? SELECT_TRACES TRACES_OF_ALL : SELECT_TRACES TRACES_IN_BIN, err),
            arena, list) &&
        add_inputs(
            sql_begin(txn.db, all ? SELECT_INPUTS INPUTS_OF_ALL : SELECT_INPUTS INPUTS_IN_BIN, err),
            list);
    return txn_end(&txn, ok, err);
}

bool store_list_old(struct store *store, int64_t before_ns, struct arena *arena,
                    struct stored_list *list, struct err *err)
{
    struct txn txn;
    *list = (struct stored_list){0};
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt =
        sql_begin(txn.db,
                  SELECT_RUNS "FROM stored_run WHERE deleted_ns IS NULL AND (project, series) IN "
                              "(SELECT project, series FROM run WHERE created_ns < ?) "
                              "ORDER BY max(created_ns, coalesce(restored_ns, 0)), id",
                  err);
    sql_bind_i64(&stmt, before_ns);
    return txn_end(&txn, read_runs(stmt, arena, list), err);
}
