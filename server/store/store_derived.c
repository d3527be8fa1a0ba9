// SPDX-License-Identifier: Apache-2.0
// What follows from other rows and is stored because lists need it: the counts of runs, their
// series, the order of the queue, files that no row names any more. Each has one function here,
// called in the transaction that changes what it follows from. tests/unit/derived_audit.h compares
// the result with what all rows say.
#include "server/store/store_sql.h"

#include "ingest/base/clock.h"

#include <stdio.h>

// "" if there is no row.
static bool read_text(struct db *db, const char *text, struct str id, char *value, size_t size,
                      struct err *err)
{
    struct stmt stmt = sql_begin(db, text, err);
    sql_bind_text(&stmt, id);
    struct str found = sql_row(&stmt) ? sql_bytes(&stmt, 0) : STR("");
    snprintf(value, size, "%.*s", (int)found.len, found.len ? found.at : "");
    return sql_end(&stmt);
}

// --- counts of a run ----------------------------------------------------------------------------

#define OPEN_JOBS(kinds)                                                              \
    "(SELECT count(*) FROM job WHERE run_id = stored_run.id AND kind IN (" kinds ") " \
    "AND state IN ('queued', 'running'))"
#define COUNT_TRACES                                                                      \
    "UPDATE stored_run SET (received, done, failed, running) = (SELECT count(*), "        \
    "count(*) FILTER (WHERE state = 'done'), count(*) FILTER (WHERE state = 'failed'), "  \
    "count(*) FILTER (WHERE state = 'running') FROM trace WHERE run_id = stored_run.id) " \
    "WHERE id = ?"
#define COUNT_JOBS                                                                    \
    "UPDATE stored_run SET joining = " OPEN_JOBS("'run'") ", unpacking = " OPEN_JOBS( \
        "'unpack', 'evidence'") " WHERE id = ?"
#define COUNT_EVIDENCE                                            \
    "UPDATE stored_run SET evidence = evidence + 1 WHERE id = ? " \
    "AND EXISTS (SELECT 1 FROM input WHERE id = ? AND analysis_version IS NULL)"
#define WORLD_SIZE "(SELECT max(world_size) FROM trace WHERE run_id = stored_run.id)"

static bool take_world_size(struct db *db, struct str run_id, struct err *err)
{
    if (!sql_run_with(db,
                      "UPDATE stored_run SET traced_world_size = " WORLD_SIZE
                      " WHERE id = ? AND traced_world_size IS DISTINCT FROM " WORLD_SIZE,
                      run_id, err))
        return false;
    return db_changes(db) == 0 || series_note_point(db, run_id, err);
}

bool runs_count_traces(struct db *db, struct str run_id, struct err *err)
{
    return sql_run_with(db, COUNT_TRACES, run_id, err) && take_world_size(db, run_id, err);
}

bool runs_count_move(struct db *db, struct str run_id, enum trace_move move, struct err *err)
{
    static const char *const texts[] = {
        [MOVE_ADDED] = "UPDATE stored_run SET received = received + 1, revision = revision + 1 "
                       "WHERE id = ?",
        [MOVE_STARTED] = "UPDATE stored_run SET running = running + 1 WHERE id = ?",
        [MOVE_DONE] = "UPDATE stored_run SET running = running - 1, done = done + 1, "
                      "revision = revision + 1 WHERE id = ?",
    };
    struct stmt stmt = sql_begin(db, texts[move], err);
    sql_bind_text(&stmt, run_id);
    return sql_run_later(&stmt);
}

bool runs_count_traces_with(struct db *db, struct str trace_id, struct err *err)
{
    char run_id[STORE_ID_SIZE];
    return read_text(db, "SELECT run_id FROM trace WHERE id = ?", trace_id, run_id, sizeof run_id,
                     err) &&
           runs_count_traces(db, str_of(run_id), err);
}

bool runs_count_jobs(struct db *db, struct str run_id, struct err *err)
{
    return sql_run_with(db, COUNT_JOBS, run_id, err);
}

bool runs_count_evidence(struct db *db, struct str run_id, struct str input_id, struct err *err)
{
    struct stmt stmt = sql_begin(db, COUNT_EVIDENCE, err);
    sql_bind_text(&stmt, run_id);
    sql_bind_text(&stmt, input_id);
    return sql_run(&stmt);
}

// --- the text of a run --------------------------------------------------------------------------

#define LINE "'\n'"
#define TAGS                                                                              \
    "coalesce((SELECT group_concat(pair, " LINE ") FROM (SELECT \"key\" || '=' || value " \
    "AS pair FROM run_tag WHERE run_id = stored_run.id ORDER BY \"key\") AS pairs), '')"

// Each letter begins a piece of three, as its index has them.
#define TEXT                                                       \
    "coalesce(deleted_name, name) || " LINE " || project || " LINE \
    " || coalesce(gpu, '') || " LINE " || note || " LINE " || " TAGS " || " LINE " || " LINE

// PostgreSQL keeps its index itself.
static bool has_index_beside(const struct db *db)
{
    return db->kind == &db_sqlite;
}

// An index without the texts wants to know what it forgets.
static bool forget_text(struct db *db, struct str run_id, struct err *err)
{
    return !has_index_beside(db) ||
           sql_run_with(db,
                        "INSERT INTO run_text_index (run_text_index, rowid, text) "
                        "SELECT 'delete', id, text FROM run_text WHERE run_id = ?",
                        run_id, err);
}

static bool index_text(struct db *db, struct str run_id, struct err *err)
{
    return !has_index_beside(db) || sql_run_with(db,
                                                 "INSERT INTO run_text_index (rowid, text) "
                                                 "SELECT id, text FROM run_text WHERE run_id = ?",
                                                 run_id, err);
}

static bool set_text(struct db *db, struct str run_id, struct err *err)
{
    return forget_text(db, run_id, err) &&
           sql_run_with(db,
                        "INSERT INTO run_text (run_id, text) SELECT id, " TEXT
                        " FROM stored_run WHERE id = ? ON CONFLICT (run_id) "
                        "DO UPDATE SET text = excluded.text",
                        run_id, err) &&
           index_text(db, run_id, err);
}

bool runs_note_text(struct db *db, struct str run_id, struct err *err)
{
    char changes[2];
    return read_text(db,
                     "SELECT 'y' FROM stored_run LEFT JOIN run_text ON run_id = stored_run.id "
                     "WHERE stored_run.id = ? "
                     "AND text IS DISTINCT FROM " TEXT,
                     run_id, changes, sizeof changes, err) &&
           (!changes[0] || set_text(db, run_id, err));
}

bool runs_index_texts(struct db *db, struct err *err)
{
    return !has_index_beside(db) ||
           sql_execute(db, "INSERT INTO run_text_index (run_text_index) VALUES ('rebuild')", err);
}

// --- series -------------------------------------------------------------------------------------

#define OF_RUN(condition) \
    "WHERE (project, series) = (SELECT project, series FROM stored_run WHERE id = ?1" condition ")"

bool series_note_change(struct db *db, struct str run_id, struct err *err)
{
    return sql_run_with(db, "UPDATE series SET changed = changed + 1 " OF_RUN(""), run_id, err);
}

bool series_note_point(struct db *db, struct str run_id, struct err *err)
{
    return sql_run_with(
        db, "UPDATE series SET changed = changed + 1 " OF_RUN(" AND point_ns IS NOT NULL"), run_id,
        err);
}

bool series_join(struct db *db, struct str run_id, struct err *err)
{
    return sql_run_with(
        db,
        "INSERT INTO series (project, series, runs, first_ns, last_ns, changed, judged) "
        "SELECT project, series, 1, created_ns, created_ns, "
        "created_ns + CASE WHEN point_ns IS NULL THEN 0 ELSE 1 END, created_ns FROM stored_run "
        "WHERE id = ? "
        "ON CONFLICT (project, series) DO UPDATE SET runs = series.runs + 1, "
        "first_ns = min(series.first_ns, excluded.first_ns), "
        "last_ns = max(series.last_ns, excluded.last_ns), "
        "changed = series.changed + excluded.changed - excluded.judged",
        run_id, err);
}

// Of the series without the run.
#define OTHER_RUN(order)                                              \
    "(SELECT created_ns FROM run WHERE run.project = series.project " \
    "AND run.series = series.series AND run.id <> ?1 ORDER BY created_ns" order " LIMIT 1)"

bool series_leave(struct db *db, struct str run_id, struct err *err)
{
    return sql_run_with(db, "DELETE FROM series " OF_RUN("") " AND runs = 1", run_id, err) &&
           sql_run_with(
               db,
               "UPDATE series SET runs = runs - 1, changed = changed + "
               "(SELECT CASE WHEN point_ns IS NULL THEN 0 ELSE 1 END FROM stored_run WHERE id = "
               "?1), "
               "first_ns = " OTHER_RUN("") ", last_ns = " OTHER_RUN(" DESC") " " OF_RUN(""),
               run_id, err);
}

// --- the queue ----------------------------------------------------------------------------------

// A file is due a second after it arrived, and one more for each megabyte, counted from the last
// file of its run in the queue if that is later, which is looked up in the order of an index:
// PostgreSQL would read all of them for max(). The view run excludes deleted runs, so nothing is
// queued for the bin.
#define QUEUE_FILE(kind, table, column)                                                    \
    "INSERT INTO job (kind, run_id, " column ", created_ns, due_ns) "                      \
    "SELECT '" kind "', run_id, id, ?1, 1000000000 + 1000 * bytes + max(?1, "              \
    "coalesce((SELECT due_ns FROM job WHERE run_id = file.run_id AND kind = '" kind "' "   \
    "AND state = 'queued' AND attempts = 0 ORDER BY due_ns DESC LIMIT 1), 0)) FROM " table \
    " AS file WHERE id = ?2 "                                                              \
    "AND EXISTS (SELECT 1 FROM run WHERE id = file.run_id) ON CONFLICT DO NOTHING"
#define QUEUE_RUN(condition)                                                               \
    "INSERT INTO job (kind, run_id, created_ns) SELECT 'run', id, ?1 FROM run WHERE id = " \
    "?2 " condition "ON CONFLICT DO NOTHING"
// No trace is left to read. A run of many ranks is also joined each time their number has doubled:
// its page shows figures early, and all joins together cost twice the last.
#define IS_DUE                         \
    "AND (done >= max(2 * joined, 8) " \
    "OR (done + failed = received AND received + evidence > 0 AND unpacking = 0)) "

bool jobs_insert(struct db *db, enum job_kind kind, struct str id, struct err *err)
{
    static const char *const texts[] = {
        [JOB_TRACE] = QUEUE_FILE("trace", "trace", "trace_id"),
        [JOB_RUN] = QUEUE_RUN(""),
        [JOB_UNPACK] = QUEUE_FILE("unpack", "input", "input_id"),
        [JOB_EVIDENCE] = QUEUE_FILE("evidence", "input", "input_id"),
    };
    struct stmt stmt = sql_begin(db, texts[kind], err);
    sql_bind_i64(&stmt, clock_wall_ns());
    sql_bind_text(&stmt, id);
    if (!sql_run_later(&stmt) || kind == JOB_TRACE)
        return !stmt.failed;
    if (kind == JOB_RUN) {
        jobs_put_first(db);
        return runs_count_jobs(db, id, err);
    }
    char run_id[STORE_ID_SIZE];
    return read_text(db, "SELECT run_id FROM input WHERE id = ?", id, run_id, sizeof run_id, err) &&
           runs_count_jobs(db, str_of(run_id), err);
}

bool jobs_queue_run_if_due(struct db *db, struct str run_id, struct err *err)
{
    jobs_put_first(db);
    return jobs_queue_run_of_many(db, run_id, err);
}

bool jobs_queue_run_of_many(struct db *db, struct str run_id, struct err *err)
{
    struct stmt queue = sql_begin(db, QUEUE_RUN(IS_DUE), err);
    sql_bind_i64(&queue, clock_wall_ns());
    sql_bind_text(&queue, run_id);
    if (!sql_run_later(&queue))
        return false;
    struct stmt count = sql_begin(db, COUNT_JOBS " " IS_DUE, err);
    sql_bind_text(&count, run_id);
    return sql_run_later(&count);
}

// --- files --------------------------------------------------------------------------------------

bool blobs_release(struct db *db, struct str sha256, struct err *err)
{
    if (!sql_run_with(db,
                      "DELETE FROM blob WHERE sha256 = ?1 "
                      "AND NOT EXISTS (SELECT 1 FROM trace WHERE trace.sha256 = ?1) "
                      "AND NOT EXISTS (SELECT 1 FROM input WHERE input.blob = ?1)",
                      sha256, err))
        return false;
    return db_changes(db) == 0 ||
           sql_run_with(db, "INSERT INTO garbage VALUES ('blob', ?) ON CONFLICT DO NOTHING", sha256,
                        err);
}

bool traces_drop(struct db *db, struct str trace_id, struct err *err)
{
    char run_id[STORE_ID_SIZE], sha256[STORE_SHA256_SIZE];
    return read_text(db, "SELECT run_id FROM trace WHERE id = ?", trace_id, run_id, sizeof run_id,
                     err) &&
           read_text(db, "SELECT sha256 FROM trace WHERE id = ?", trace_id, sha256, sizeof sha256,
                     err) &&
           owners_count(db, OWNED_TRACE, trace_id, OWNED_GOES, err) &&
           sql_run_with(db, "DELETE FROM trace WHERE id = ?", trace_id, err) &&
           sql_run_with(db, "INSERT INTO garbage VALUES ('trace_file', ?) ON CONFLICT DO NOTHING",
                        trace_id, err) &&
           blobs_release(db, str_of(sha256), err) && runs_count_traces(db, str_of(run_id), err);
}

static bool drop_run(struct db *db, struct str run_id, struct arena *arena, struct err *err)
{
    struct str *names;
    size_t count;
    struct stmt stmt = sql_begin(db,
                                 "SELECT sha256 FROM trace WHERE run_id = ?1 UNION "
                                 "SELECT blob FROM input WHERE run_id = ?1 AND blob IS NOT NULL",
                                 err);
    sql_bind_text(&stmt, run_id);
    bool ok =
        sql_end_ids(&stmt, arena, &names, &count) &&
        sql_run_with(db,
                     "INSERT INTO garbage SELECT 'trace_file', id FROM trace WHERE run_id = ?1 "
                     "UNION ALL SELECT 'trace_file', id FROM stored_run WHERE id = ?1 "
                     "ON CONFLICT DO NOTHING",
                     run_id, err) &&
        forget_text(db, run_id, err) && owners_count(db, OWNED_RUN, run_id, OWNED_GOES, err) &&
        sql_run_with(db, "DELETE FROM stored_run WHERE id = ?", run_id, err);
    for (size_t i = 0; ok && i < count; i++)
        ok = blobs_release(db, names[i], err);
    return ok;
}

bool runs_drop(struct db *db, struct str run_id, struct err *err)
{
    struct arena arena;
    char in_series[2];
    if (!read_text(db, "SELECT 'y' FROM run WHERE id = ?", run_id, in_series, sizeof in_series,
                   err) ||
        (in_series[0] && !series_leave(db, run_id, err)))
        return false;
    arena_init(&arena, NULL);
    bool ok = drop_run(db, run_id, &arena, err);
    arena_free(&arena);
    return ok;
}
