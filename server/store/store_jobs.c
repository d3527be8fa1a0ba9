// SPDX-License-Identifier: Apache-2.0
// The durable queue: queueing, claiming, finishing and failing jobs. The rest is in
// store_job_care.c.
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

// Queues the join once no trace is left to read. A run of many ranks is also joined each time their
// number has doubled: its page shows figures early, and all joins together cost twice the last.
bool jobs_queue_run_if_due(struct db *db, struct str run_id, struct err *err)
{
    struct stmt stmt =
        sql_begin(db,
                  "SELECT 1 FROM run WHERE id = ? AND (done >= max(2 * joined, 8) "
                  "OR (done + failed = received AND received + evidence > 0 AND unpacking = 0))",
                  err);
    sql_bind_text(&stmt, run_id);
    bool is_due = sql_row(&stmt);
    return sql_end(&stmt) && (!is_due || jobs_insert(db, JOB_RUN, run_id, err));
}

// --- claiming -----------------------------------------------------------------------------------

// A job that was running during a crash runs alone, and once it is due no other starts before it.
// No join here: whatever the number of waiting jobs and the planner's statistics, it walks the
// index job_queue and looks up each job by keys.
#define NEXT                                                                          \
    "SELECT id FROM job WHERE state = 'queued' "                                      \
    "AND (SELECT deleted_ns IS NULL FROM stored_run WHERE id = job.run_id) "          \
    "AND coalesce((SELECT bytes FROM trace WHERE id = job.trace_id), "                \
    "(SELECT bytes FROM input WHERE id = job.input_id), 0) <= ? "                     \
    "AND (SELECT count(*) FROM job AS other WHERE other.state = 'running' "           \
    "AND (other.crashes > 0 OR (other.run_id = job.run_id AND other.kind = job.kind " \
    "AND other.trace_id IS NOT DISTINCT FROM job.trace_id))) = 0 "                    \
    "ORDER BY due_ns, id LIMIT 1"
#define FOUND                                                                            \
    "SELECT job.id, job.kind, job.run_id, job.trace_id, "                                \
    "coalesce(trace.sha256, input.blob), coalesce(trace.bytes, input.bytes), "           \
    "attempts + 1, step_pattern, warmup_steps, "                                         \
    "crashes > 0 AND EXISTS (SELECT 1 FROM job WHERE state = 'running'), job.input_id, " \
    "trace.process, input.filename, crashes "                                            \
    "FROM job JOIN stored_run ON stored_run.id = job.run_id "                            \
    "LEFT JOIN trace ON trace.id = job.trace_id "                                        \
    "LEFT JOIN input ON input.id = job.input_id WHERE job.id = ?"

// Looks for jobs whose file has at most max_bytes.
struct search {
    int64_t max_bytes;
    bool beside_others; // others claim at the same time
    bool needs_turn;    // set: which job is next is certain only while nobody else claims
};

// 0 if none can start.
static bool find_next(struct db *db, const struct search *search, int64_t *id, struct err *err)
{
    char text[sizeof NEXT + 40];
    snprintf(text, sizeof text, NEXT "%s", search->beside_others ? db->kind->claiming : "");
    struct stmt stmt = sql_begin(db, text, err);
    sql_bind_i64(&stmt, search->max_bytes);
    *id = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    return sql_end(&stmt);
}

// Its id becomes 0 if it cannot start yet.
static bool read_job(struct db *db, struct search *search, int64_t id, struct arena *arena,
                     struct job *job, struct err *err)
{
    struct stmt stmt = sql_begin(db, FOUND, err);
    sql_bind_i64(&stmt, id);
    bool found = sql_row(&stmt);
    search->needs_turn = found && search->beside_others && sql_i64(&stmt, 13) > 0;
    if (found && !search->needs_turn && !sql_i64(&stmt, 9))
        *job = (struct job){
            .id = sql_i64(&stmt, 0),
            .kind = jobs_kind(sql_bytes(&stmt, 1)),
            .run_id = sql_text(&stmt, 2, arena),
            .trace_id = sql_text(&stmt, 3, arena),
            .input_id = sql_text(&stmt, 10, arena),
            .filename = sql_text(&stmt, 12, arena),
            .sha256 = sql_text(&stmt, 4, arena),
            .bytes = sql_i64(&stmt, 5),
            .attempt = sql_i64(&stmt, 6),
            .process = sql_i64_or(&stmt, 11, 0),
            .step_pattern = sql_text(&stmt, 7, arena),
            .warmup_steps = sql_i64_or(&stmt, 8, -1),
        };
    return sql_end(&stmt);
}

static bool start_job(struct db *db, const struct job *job, struct str owner, struct err *err)
{
    int64_t now_ns;
    if (!db->kind->clock(db, &now_ns, err))
        return false;
    struct stmt stmt = sql_begin(db,
                                 "UPDATE job SET state = 'running', attempts = ?, started_ns = ?, "
                                 "lease_until_ns = ?, owner = ? WHERE id = ?",
                                 err);
    sql_bind_i64(&stmt, job->attempt);
    sql_bind_i64(&stmt, now_ns);
    sql_bind_i64(&stmt, now_ns + STORE_LEASE_NS);
    sql_bind_text(&stmt, owner);
    sql_bind_i64(&stmt, job->id);
    return sql_run(&stmt) && jobs_mark(db, job, STR("running"), err);
}

static bool take_turn(struct db *db, struct search *search, struct job *job, struct err *err)
{
    if (!job->id || !search->beside_others)
        return true;
    bool ok = jobs_take_turn(db, job, err);
    search->needs_turn = ok && !job->id;
    return ok;
}

static bool claim_as(struct store *store, enum db_access access, struct search *search,
                     struct arena *arena, struct job *job, struct err *err)
{
    struct txn txn;
    int64_t id;
    *job = (struct job){0};
    search->beside_others = access == DB_CLAIM;
    if (!txn_begin(store, access, &txn, err))
        return false;
    bool ok = find_next(txn.db, search, &id, err) &&
              (!id || read_job(txn.db, search, id, arena, job, err)) &&
              take_turn(txn.db, search, job, err) &&
              (!job->id || start_job(txn.db, job, store_owner(store), err));
    return txn_end(&txn, ok, err);
}

static bool claim(struct store *store, int64_t max_bytes, struct arena *arena, struct job *job,
                  struct err *err)
{
    struct search search = {.max_bytes = max_bytes};
    *job = (struct job){0};
    if (store_is_shared(store) && jobs_none_queued(store))
        return true;
    if (!store_is_shared(store))
        return claim_as(store, DB_WRITE, &search, arena, job, err);
    return claim_as(store, DB_CLAIM, &search, arena, job, err) &&
           (!search.needs_turn || claim_as(store, DB_WRITE, &search, arena, job, err));
}

bool store_claim_job(struct store *store, struct arena *arena, struct job *job, bool *found,
                     struct err *err)
{
    bool ok = claim(store, INT64_MAX, arena, job, err);
    *found = ok && job->id;
    return ok;
}

bool store_claim_small_job(struct store *store, struct arena *arena, struct job *job, bool *found,
                           struct err *err)
{
    bool ok = claim(store, STORE_SMALL_BYTES, arena, job, err);
    *found = ok && job->id;
    return ok;
}

// --- ending -------------------------------------------------------------------------------------

bool jobs_end(struct db *db, const struct job *job, struct str state, struct str reason,
              struct err *err)
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
    if (!sql_run(&stmt))
        return false;
    if (db_changes(db) != 1)
        return err_set(err, ERR_NOT_FOUND, "job %lld was requeued, or deleted with its run",
                       (long long)job->id);
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

static bool write_figures(struct db *db, struct str trace_id, const struct trace_result *result,
                          struct err *err)
{
    struct stmt stmt = sql_begin(
        db,
        "UPDATE trace SET state = 'done', error = NULL, analysis_version = ?, world_size = ?, "
        "events = ?, text_bytes = ?, parse_ns = ?, analyze_ns = ?, secrets = ?, join_bytes = ? "
        "WHERE id = ?",
        err);
    sql_bind_i64(&stmt, ANALYSIS_VERSION);
    sql_bind_i64_if(&stmt, result->world_size > 0, result->world_size);
    sql_bind_i64(&stmt, result->events);
    sql_bind_i64(&stmt, result->text_bytes);
    sql_bind_i64(&stmt, result->parse_ns);
    sql_bind_i64(&stmt, result->analyze_ns);
    sql_bind_i64(&stmt, result->secrets);
    sql_bind_i64(&stmt, result->join_bytes);
    sql_bind_text(&stmt, trace_id);
    return sql_run(&stmt);
}

// Counts the bytes derived from a trace to its owner.
static bool note_trace_made(struct db *db, struct str trace_id, int64_t bytes, struct err *err)
{
    struct stmt stmt = sql_begin(db, "UPDATE trace_owner SET made = ? WHERE trace_id = ?", err);
    sql_bind_i64(&stmt, bytes);
    sql_bind_text(&stmt, trace_id);
    return sql_run(&stmt);
}

static bool save_trace(struct db *db, struct str trace_id, const struct trace_result *result,
                       struct err *err)
{
    int64_t bytes;
    return write_figures(db, trace_id, result, err) && mark_if_queued(db, trace_id, err) &&
           tables_save_trace(db, trace_id, result->tables, &bytes, err) &&
           note_trace_made(db, trace_id, bytes + result->kept_bytes, err);
}

static bool finish_trace(struct db *db, const struct job *job, const struct trace_result *result,
                         struct err *err)
{
    bool is_kept;
    return jobs_end(db, job, STR("done"), STR(""), err) &&
           traces_settle_rank(db, job, result->rank, &is_kept, err) &&
           (!is_kept || save_trace(db, job->trace_id, result, err)) &&
           runs_count_traces(db, job->run_id, err) && jobs_queue_run_if_due(db, job->run_id, err) &&
           sql_touch_run(db, job->run_id, err);
}

bool store_finish_trace(struct store *store, const struct job *job,
                        const struct trace_result *result, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = finish_trace(txn.db, job, result, err);
    return txn_end(&txn, ok, err);
}

// Without a fraction; some databases round when they cast.
#define STEP_FIGURE(metric)                                                                      \
    "(SELECT CAST(value AS BIGINT) - CASE WHEN CAST(value AS BIGINT) > value THEN 1 ELSE 0 END " \
    "FROM figure WHERE run_id = stored_run.id AND metric = '" metric "')"
// Of the trace, else of the log.
#define POINT                                                                                      \
    "CASE WHEN status IN ('done', 'partial') THEN coalesce(" STEP_FIGURE(                          \
        "step_median_ns") ", " STEP_FIGURE("step_ns") ") WHEN status IN ('failed', 'empty') THEN " \
                                                      "NULL ELSE point_ns END"

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
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = jobs_end(txn.db, job, STR("done"), STR(""), err) &&
              tables_save_run(txn.db, job->run_id, tables, err) &&
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
        "SELECT rank, id, role, join_bytes FROM trace WHERE run_id = ? AND state = 'done' "
        "ORDER BY rank",
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
        (*ranks)[(*count)++] =
            (struct rank_trace){sql_i64(&stmt, 0), sql_text(&stmt, 1, arena),
                                sql_text(&stmt, 2, arena), sql_i64_or(&stmt, 3, -1)};
    }
    bool ok = sql_end(&stmt);
    return txn_end(&txn, ok, err);
}

bool store_count_jobs(struct store *store, uint64_t *open, struct err *err)
{
    int64_t count;
    if (!store_number(store, "SELECT count(*) FROM job WHERE state IN ('queued', 'running')",
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
