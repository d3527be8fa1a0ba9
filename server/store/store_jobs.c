// SPDX-License-Identifier: Apache-2.0
// The durable queue: queueing, finishing and failing jobs. Claiming is in store_claim.c, the rest
// in store_job_care.c.
#include "server/store/store_sql.h"

#include "ingest/base/clock.h"

#include <stdio.h>

// --- queueing -----------------------------------------------------------------------------------

// Sets a trace's state and clears its error.
static bool mark_trace(struct db *db, struct str trace_id, struct str state, struct err *err)
{
    struct stmt stmt = sql_begin(db, "UPDATE trace SET state = ?, error = NULL WHERE id = ?", err);
    sql_bind_text(&stmt, state);
    sql_bind_text(&stmt, trace_id);
    return sql_run(&stmt) && runs_count_traces_with(db, trace_id, err);
}

enum job_kind jobs_kind(struct str word)
{
    return str_equal(word, STR("run"))        ? JOB_RUN
           : str_equal(word, STR("unpack"))   ? JOB_UNPACK
           : str_equal(word, STR("evidence")) ? JOB_EVIDENCE
                                              : JOB_TRACE;
}

bool jobs_mark(struct db *db, const struct job *job, struct str state, struct err *err)
{
    switch (job->kind) {
    case JOB_TRACE: return mark_trace(db, job->trace_id, state, err);
    case JOB_UNPACK:
    case JOB_EVIDENCE: return inputs_mark(db, job->input_id, state, err);
    case JOB_RUN: break;
    }
    return true;
}

bool jobs_queue_trace(struct db *db, struct str trace_id, struct err *err)
{
    return jobs_insert(db, JOB_TRACE, trace_id, err) &&
           mark_trace(db, trace_id, STR("queued"), err);
}

// --- ending -------------------------------------------------------------------------------------

static struct stmt begin_end(struct db *db, const struct job *job, struct str state,
                             struct str reason, struct err *err)
{
    struct stmt stmt = sql_begin(
        db,
        "UPDATE job SET state = ?, error = nullif(?, ''), finished_ns = ?, lease_until_ns = NULL "
        "WHERE id = ? AND state = 'running' AND attempts = ?",
        err);
    sql_bind_text(&stmt, state);
    sql_bind_clean(&stmt, reason);
    sql_bind_i64(&stmt, clock_wall_ns());
    sql_bind_i64(&stmt, job->id);
    sql_bind_i64(&stmt, job->attempt);
    return stmt;
}

static bool is_not_ours(const struct job *job, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "job %lld was requeued, or deleted with its run",
                   (long long)job->id);
}

bool jobs_end(struct db *db, const struct job *job, struct str state, struct str reason,
              struct err *err)
{
    struct stmt stmt = begin_end(db, job, state, reason, err);
    if (!sql_run(&stmt))
        return false;
    if (db_changes(db) != 1)
        return is_not_ours(job, err);
    return job->kind == JOB_TRACE || runs_count_jobs(db, job->run_id, err);
}

// A trace that was queued again while it was read is neither done nor failed yet.
static bool mark_if_queued(struct db *db, struct str trace_id, struct err *err)
{
    struct stmt stmt =
        sql_begin(db,
                  "UPDATE trace SET state = 'queued', error = NULL WHERE id = ?1 "
                  "AND EXISTS (SELECT 1 FROM job WHERE trace_id = ?1 AND state = 'queued')",
                  err);
    sql_bind_text(&stmt, trace_id);
    return sql_run(&stmt);
}

// All that the end of reading a trace depends on, in one question.
struct ending {
    bool is_ours;    // the job was not queued again meanwhile
    bool is_pending; // the trace's rank is not settled
    bool is_usual;   // nothing happened to the trace, and its run's world size stays
    bool is_again;   // it has a report already
    bool is_near;    // with this trace its run may be due to be joined
};

#define ENDING                                                                                \
    "SELECT job.state = 'running' AND job.attempts = ?2 AND stored_run.deleted_ns IS NULL, "  \
    "trace.rank IS NULL, trace.state = 'running' AND NOT EXISTS (SELECT 1 FROM job AS other " \
    "WHERE other.trace_id = trace.id AND other.state = 'queued') "                            \
    "AND ((trace.world_size IS NULL AND ?3 <= coalesce(traced_world_size, 0)) "               \
    "OR coalesce(trace.world_size, 0) = ?3), "                                                \
    "EXISTS (SELECT 1 FROM trace_report WHERE trace_id = trace.id), "                         \
    "done + 1 >= max(2 * joined, 8) OR done + 1 + stored_run.failed >= received "             \
    "FROM job JOIN trace ON trace.id = job.trace_id "                                         \
    "JOIN stored_run ON stored_run.id = job.run_id WHERE job.id = ?1"

static bool look_at_ending(struct db *db, const struct job *job, int64_t world_size,
                           struct ending *ending, struct err *err)
{
    struct stmt stmt = sql_begin_holding(db, ENDING, "job", err);
    sql_bind_i64(&stmt, job->id);
    sql_bind_i64(&stmt, job->attempt);
    sql_bind_i64(&stmt, world_size > 0 ? world_size : 0);
    *ending = (struct ending){0};
    if (sql_row(&stmt))
        *ending =
            (struct ending){sql_i64(&stmt, 0) != 0, sql_i64(&stmt, 1) != 0, sql_i64(&stmt, 2) != 0,
                            sql_i64(&stmt, 3) != 0, sql_i64(&stmt, 4) != 0};
    return sql_end(&stmt);
}

#define FIGURES                                                                               \
    "UPDATE trace SET state = 'done', error = NULL, analysis_version = ?1, world_size = ?2, " \
    "events = ?3, text_bytes = ?4, parse_ns = ?5, analyze_ns = ?6, secrets = ?7, "            \
    "join_bytes = ?8 WHERE id = ?9"

static bool write_figures(struct db *db, struct str trace_id, const struct trace_result *result,
                          struct err *err)
{
    struct stmt stmt = sql_begin(db, FIGURES, err);
    sql_bind_i64(&stmt, ANALYSIS_VERSION);
    sql_bind_i64_if(&stmt, result->world_size > 0, result->world_size);
    sql_bind_i64(&stmt, result->events);
    sql_bind_i64(&stmt, result->text_bytes);
    sql_bind_i64(&stmt, result->parse_ns);
    sql_bind_i64(&stmt, result->analyze_ns);
    sql_bind_i64(&stmt, result->secrets);
    sql_bind_i64(&stmt, result->join_bytes);
    sql_bind_text(&stmt, trace_id);
    return sql_run_later(&stmt);
}

// bytes: that its results take.
static bool save_trace(struct db *db, struct str trace_id, const struct trace_result *result,
                       int64_t *bytes, struct err *err)
{
    if (!write_figures(db, trace_id, result, err) ||
        !tables_save_trace(db, trace_id, result->tables, bytes, err))
        return false;
    *bytes += result->kept_bytes;
    return true;
}

// The run comes last, for which others wait from then on. Whether it is due is certain only then.
static bool count_usual(struct db *db, const struct job *job, bool is_near, struct err *err)
{
    return runs_count_move(db, job->run_id, MOVE_DONE, err) &&
           (is_near ? jobs_queue_run_if_due(db, job->run_id, err)
                    : jobs_queue_run_of_many(db, job->run_id, err));
}

static bool count_again(struct db *db, const struct job *job, struct err *err)
{
    return mark_if_queued(db, job->trace_id, err) && runs_count_traces(db, job->run_id, err) &&
           jobs_queue_run_if_due(db, job->run_id, err) && sql_touch_run(db, job->run_id, err);
}

// Others may have been moved, or have gone, for its rank.
static bool settle_rank(struct db *db, const struct job *job, const struct trace_result *result,
                        bool *is_kept, struct ending *ending, struct err *err)
{
    return traces_settle_rank(db, job, result->rank, is_kept, err) &&
           look_at_ending(db, job, result->world_size, ending, err);
}

static bool finish_trace(struct db *db, const struct job *job, const struct trace_result *result,
                         struct err *err)
{
    struct ending ending;
    bool is_kept = true;
    int64_t bytes = 0;
    if (!look_at_ending(db, job, result->world_size, &ending, err))
        return false;
    if (!ending.is_ours)
        return is_not_ours(job, err);
    if ((ending.is_pending || !ending.is_usual) && !txn_has_turn(db, err))
        return false;
    struct stmt end = begin_end(db, job, STR("done"), STR(""), err);
    if (!sql_run_later(&end) ||
        (ending.is_pending && !settle_rank(db, job, result, &is_kept, &ending, err)) ||
        (ending.is_again && !tables_forget_trace(db, job->trace_id, err)) ||
        (is_kept && !save_trace(db, job->trace_id, result, &bytes, err)))
        return false;
    return (is_kept && ending.is_usual ? count_usual(db, job, ending.is_near, err)
                                       : count_again(db, job, err)) &&
           (!is_kept || owners_note_trace_made(db, job->trace_id, bytes, err));
}

struct finished {
    const struct job *job;
    const struct trace_result *result;
};

static bool finish(struct db *db, void *context, struct err *err)
{
    const struct finished *finished = context;
    return finish_trace(db, finished->job, finished->result, err);
}

bool store_finish_trace(struct store *store, const struct job *job,
                        const struct trace_result *result, struct err *err)
{
    return txn_write(store, finish, &(struct finished){job, result}, err);
}

// Without a fraction; some databases round when they cast.
#define STEP_FIGURE(metric)                                                                      \
    "(SELECT CAST(value AS BIGINT) - CASE WHEN CAST(value AS BIGINT) > value THEN 1 ELSE 0 END " \
    "FROM figure WHERE run_id = stored_run.id AND metric = '" metric "')"
#define MARKED_STEP \
    "CASE WHEN " STEPS_ARE_MARKED("stored_run") " THEN " STEP_FIGURE("step_median_ns") " END"
// Of the trace if steps are marked there, else of the log, else what the recording takes.
#define STEP \
    "coalesce(" MARKED_STEP ", " STEP_FIGURE("step_ns") ", " STEP_FIGURE("step_median_ns") ")"
#define POINT                                                \
    "CASE WHEN status IN ('done', 'partial') THEN " STEP " " \
    "WHEN status IN ('failed', 'empty') THEN NULL ELSE point_ns END"

// A run counts in its series once its analysis succeeded. While it is analyzed again it counts as
// before.
static bool settle_point(struct db *db, struct str run_id, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "UPDATE stored_run SET point_ns = " POINT
                                 " WHERE id = ? AND point_ns IS DISTINCT FROM " POINT,
                                 err);
    sql_bind_text(&stmt, run_id);
    return sql_run(&stmt) && (db_changes(db) == 0 || series_note_change(db, run_id, err));
}

bool jobs_mark_run(struct db *db, struct str run_id, const char *error, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "UPDATE stored_run SET analysis_version = ?, error = ?, joined = "
                                 "done, revision = revision + 1 "
                                 "WHERE id = ?",
                                 err);
    sql_bind_i64(&stmt, ANALYSIS_VERSION);
    if (error)
        sql_bind_clean(&stmt, str_of(error));
    else
        sql_bind_null(&stmt);
    sql_bind_text(&stmt, run_id);
    return sql_run(&stmt) && settle_point(db, run_id, err);
}

bool store_finish_run(struct store *store, const struct job *job, int tables, struct err *err)
{
    struct txn txn;
    int64_t bytes;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = jobs_end(txn.db, job, STR("done"), STR(""), err) &&
              tables_save_run(txn.db, job->run_id, tables, &bytes, err) &&
              owners_note_run_made(txn.db, job->run_id, bytes, err) &&
              figures_take_words(txn.db, job->run_id, err) &&
              jobs_mark_run(txn.db, job->run_id, NULL, err);
    return txn_end(&txn, ok, err);
}

static bool fail_trace(struct db *db, const struct job *job, struct str reason, struct err *err)
{
    struct stmt stmt =
        sql_begin(db, "UPDATE trace SET state = 'failed', error = ? WHERE id = ?", err);
    sql_bind_clean(&stmt, reason);
    sql_bind_text(&stmt, job->trace_id);
    return sql_run(&stmt) && mark_if_queued(db, job->trace_id, err) &&
           runs_count_traces(db, job->run_id, err) && jobs_queue_run_if_due(db, job->run_id, err) &&
           sql_touch_run(db, job->run_id, err);
}

bool jobs_fail(struct db *db, const struct job *job, const char *reason, struct err *err)
{
    return jobs_end(db, job, STR("failed"), str_of(reason), err) &&
           (job->kind == JOB_RUN     ? jobs_mark_run(db, job->run_id, reason, err)
            : job->kind == JOB_TRACE ? fail_trace(db, job, str_of(reason), err)
                                     : inputs_fail(db, job, str_of(reason), err));
}

bool store_fail_job(struct store *store, const struct job *job, const char *reason, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = jobs_fail(txn.db, job, reason, err);
    return txn_end(&txn, ok, err);
}

// --- looking ------------------------------------------------------------------------------------

bool store_done_ranks(struct store *store, struct str run_id, struct arena *arena,
                      struct rank_trace **ranks, size_t *count, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(
        txn.db,
        "SELECT rank, id, role, join_bytes, CASE WHEN process <> 0 AND rank_from = 'next' "
        "THEN filename ELSE '' END, process = 0 AND rank_from = 'next' FROM trace WHERE run_id = ? "
        "AND state = "
        "'done' ORDER BY rank",
        err);
    sql_bind_text(&stmt, run_id);
    *ranks = NULL;
    *count = 0;
    while (sql_row(&stmt)) {
        *ranks = arena_more(arena, *ranks, *count, sizeof **ranks, err);
        if (!*ranks) {
            stmt.failed = true;
            break;
        }
        (*ranks)[(*count)++] = (struct rank_trace){
            sql_i64(&stmt, 0),        sql_text(&stmt, 1, arena), sql_text(&stmt, 2, arena),
            sql_i64_or(&stmt, 3, -1), sql_text(&stmt, 4, arena), sql_i64(&stmt, 5) != 0};
    }
    bool ok = sql_end(&stmt);
    return txn_end(&txn, ok, err);
}

bool store_count_jobs(struct store *store, uint64_t *open, struct err *err)
{
    int64_t count;
    if (!store_number(store,
                      "SELECT (SELECT count(*) FROM job WHERE state = 'queued' AND due_ns >= 0) + "
                      "(SELECT count(*) FROM job WHERE state = 'running')",
                      (struct str){NULL, 0}, &count, err))
        return false;
    *open = (uint64_t)count;
    return true;
}

bool store_upload_open(struct store *store, struct str upload_id, bool *open, struct err *err)
{
    int64_t count;
    if (!store_number(store,
                      "SELECT EXISTS (SELECT 1 FROM upload_trace JOIN trace ON trace.id = trace_id "
                      "WHERE upload_id = ?1 AND state IN ('queued', 'running')) OR EXISTS "
                      "(SELECT 1 FROM upload_input JOIN input ON input.id = input_id "
                      "WHERE upload_id = ?1 AND state IN ('queued', 'running')) OR EXISTS "
                      "(SELECT 1 FROM upload_trace JOIN trace ON trace.id = upload_trace.trace_id "
                      "JOIN job ON job.run_id = trace.run_id WHERE upload_id = ?1 "
                      "AND kind = 'run' AND job.state IN ('queued', 'running')) OR EXISTS "
                      "(SELECT 1 FROM upload_input JOIN input AS member "
                      "ON member.parent = upload_input.input_id WHERE upload_id = ?1 "
                      "AND member.state IN ('queued', 'running')) OR EXISTS "
                      "(SELECT 1 FROM upload_input JOIN input ON input.id = upload_input.input_id "
                      "JOIN job ON job.run_id = input.run_id WHERE upload_id = ?1 "
                      "AND job.kind = 'run' AND job.state IN ('queued', 'running'))",
                      upload_id, &count, err))
        return false;
    *open = count != 0;
    return true;
}
