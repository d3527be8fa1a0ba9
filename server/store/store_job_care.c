// SPDX-License-Identifier: Apache-2.0
// What happens to jobs that did not finish: put back, recovered at a start, taken from a lost
// worker, failed after repeated crashes, cancelled, started over.
#include "server/store/store_sql.h"

#include "ingest/base/clock.h"

#include <stdio.h>

// How far back in the queue a job goes that did not finish. It does not wait forever: files that
// arrive later than that come after it.
#define SECOND_NS            INT64_C(1000000000)
#define WAIT_AFTER_KILL_NS   (10 * SECOND_NS)
#define WAIT_AFTER_STRIKE_NS (10 * SECOND_NS)  // for each
#define WAIT_AFTER_CRASH_NS  (600 * SECOND_NS) // for each; others must wait while it runs

// --- putting back -------------------------------------------------------------------------------

// A job that goes back into the queue.
struct back {
    int64_t attempts;
    int64_t wait_ns;    // how long after a file that arrives now; 0: it keeps its place
    const char *reason; // why, NULL: nothing is wrong with it
};

static bool requeue(struct db *db, const struct job *job, struct back back, struct err *err)
{
    jobs_put_first(db);
    // A newer job for the same trace or run may be queued already: then this one is not needed.
    struct stmt stmt = sql_begin(
        db,
        "UPDATE job SET state = 'queued', attempts = ?1, lease_until_ns = NULL, "
        "due_ns = CASE WHEN ?2 > 0 THEN max(due_ns, ?3) + ?2 ELSE due_ns END, "
        "error = coalesce(?4, error) WHERE id = ?5 AND state = 'running' AND attempts = ?6 "
        "AND NOT EXISTS (SELECT 1 FROM job AS other WHERE other.run_id = job.run_id "
        "AND other.kind = job.kind AND other.state = 'queued' "
        "AND other.trace_id IS NOT DISTINCT FROM job.trace_id "
        "AND other.input_id IS NOT DISTINCT FROM job.input_id)",
        err);
    sql_bind_i64(&stmt, back.attempts);
    sql_bind_i64(&stmt, back.wait_ns);
    sql_bind_i64(&stmt, clock_wall_ns());
    sql_bind_text_if(&stmt, back.reason, str_of(back.reason));
    sql_bind_i64(&stmt, job->id);
    sql_bind_i64(&stmt, job->attempt);
    return sql_run(&stmt) &&
           (db_changes(db) == 1 || jobs_end(db, job, STR("done"), STR(""), err)) &&
           jobs_mark(db, job, STR("queued"), err);
}

bool store_requeue_job(struct store *store, const struct job *job, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = requeue(txn.db, job, (struct back){.attempts = job->attempt - 1}, err);
    return txn_end(&txn, ok, err);
}

struct job_list {
    struct job *jobs;
    size_t count;
};

#define RUNNING \
    "SELECT id, kind, run_id, trace_id, attempts, input_id FROM job WHERE state = 'running' "

// Running jobs of an owner, or (NULL) those whose lease has run out.
static bool list_running(struct db *db, const struct str *owner, struct arena *arena,
                         struct job_list *list, struct err *err)
{
    int64_t now_ns;
    if (!db->kind->clock(db, &now_ns, err))
        return false;
    struct stmt stmt = sql_begin(
        db, owner ? RUNNING "AND owner = ?" : RUNNING "AND coalesce(lease_until_ns, 0) < ?", err);
    if (owner)
        sql_bind_text(&stmt, *owner);
    else
        sql_bind_i64(&stmt, now_ns);
    while (sql_row(&stmt)) {
        list->jobs = arena_more(arena, list->jobs, list->count, sizeof *list->jobs, err);
        if (!list->jobs) {
            stmt.failed = true;
            break;
        }
        list->jobs[list->count++] = (struct job){
            .id = sql_i64(&stmt, 0),
            .kind = jobs_kind(sql_bytes(&stmt, 1)),
            .run_id = sql_text(&stmt, 2, arena),
            .trace_id = sql_text(&stmt, 3, arena),
            .attempt = sql_i64(&stmt, 4),
            .input_id = sql_text(&stmt, 5, arena),
        };
    }
    return sql_end(&stmt);
}

#define OF_ATTEMPT   "WHERE id = ? AND state = 'running' AND attempts = ? "
#define CRASHES      "SELECT crashes FROM job " OF_ATTEMPT
#define COUNT_CRASH  "UPDATE job SET crashes = crashes + 1 " OF_ATTEMPT "RETURNING crashes"
#define COUNT_STRIKE "UPDATE job SET strikes = strikes + 1 " OF_ATTEMPT "RETURNING strikes"

// How many attempts of a job ended in this way.
static bool count_faults(struct db *db, const struct job *job, const char *text, int64_t *faults,
                         struct err *err)
{
    struct stmt stmt = sql_begin(db, text, err);
    sql_bind_i64(&stmt, job->id);
    sql_bind_i64(&stmt, job->attempt);
    *faults = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    return sql_end(&stmt);
}

static bool recover_job(struct db *db, const struct job *job, bool crashed, struct err *err)
{
    int64_t crashes;
    if (!count_faults(db, job, crashed ? COUNT_CRASH : CRASHES, &crashes, err))
        return false;
    int64_t wait_ns = crashed ? crashes * WAIT_AFTER_CRASH_NS : WAIT_AFTER_KILL_NS;
    if (crashes < STORE_MAX_FAULTS && job->attempt < STORE_MAX_ATTEMPTS)
        return requeue(db, job, (struct back){job->attempt, wait_ns, NULL}, err);
    char reason[120];
    snprintf(reason, sizeof reason,
             "the service stopped unexpectedly %lld times during this analysis, %lld of them by "
             "itself",
             (long long)job->attempt, (long long)crashes);
    return jobs_fail(db, job, reason, err);
}

static bool recover_running(struct db *db, const struct str *owner, bool crashed, size_t *count,
                            struct err *err)
{
    struct arena arena;
    struct job_list list = {0};
    arena_init(&arena, NULL);
    bool ok = list_running(db, owner, &arena, &list, err);
    for (size_t i = 0; ok && i < list.count; i++)
        ok = recover_job(db, &list.jobs[i], crashed, err);
    *count = list.count;
    arena_free(&arena);
    return ok;
}

// Traces to queue again: with a job for each of them, or only marked.
#define TRACES(condition)                                                            \
    "SELECT id, run_id, state IN ('done', 'failed') FROM trace WHERE " condition " " \
    "ORDER BY run_id, uploaded_ns, id"
#define STALE          TRACES("state = 'done' AND analysis_version < ?")
#define FAILED_OF_BLOB TRACES("sha256 = ? AND state = 'failed'")
#define ENDED_OF_RUN   TRACES("run_id = ? AND state IN ('done', 'failed')")
#define BEGUN_OF_RUN   TRACES("run_id = ? AND state <> 'queued'")

struct again {
    struct str id, run_id;
    bool has_ended; // otherwise it is being read, and goes on as running
};

static bool list_traces(struct stmt stmt, struct arena *arena, struct again **traces, size_t *count)
{
    *traces = NULL;
    *count = 0;
    while (sql_row(&stmt)) {
        *traces = arena_more(arena, *traces, *count, sizeof **traces, stmt.err);
        if (!*traces) {
            stmt.failed = true;
            break;
        }
        (*traces)[(*count)++] = (struct again){sql_text(&stmt, 0, arena), sql_text(&stmt, 1, arena),
                                               sql_i64(&stmt, 2) != 0};
    }
    return sql_end(&stmt);
}

#define MARK_QUEUED "UPDATE trace SET state = 'queued', error = NULL WHERE id = ?"

// Queues the traces of a statement again. Each run is counted once.
static bool queue_traces(struct db *db, struct stmt stmt, struct err *err)
{
    struct arena arena;
    struct again *traces;
    size_t count;
    arena_init(&arena, NULL);
    bool ok = list_traces(stmt, &arena, &traces, &count);
    for (size_t i = 0; ok && i < count; i++) {
        bool is_last = i + 1 == count || !str_equal(traces[i].run_id, traces[i + 1].run_id);
        ok = jobs_insert(db, JOB_TRACE, traces[i].id, err) &&
             (!traces[i].has_ended || sql_run_with(db, MARK_QUEUED, traces[i].id, err)) &&
             (!is_last || runs_count_traces(db, traces[i].run_id, err));
    }
    arena_free(&arena);
    return ok;
}

static bool requeue_stale(struct db *db, struct err *err)
{
    struct stmt stmt = sql_begin(db, STALE, err);
    sql_bind_i64(&stmt, ANALYSIS_VERSION);
    return queue_traces(db, stmt, err);
}

bool jobs_queue_failed_of(struct db *db, struct str sha256, struct err *err)
{
    struct stmt stmt = sql_begin(db, FAILED_OF_BLOB, err);
    sql_bind_text(&stmt, sha256);
    return queue_traces(db, stmt, err);
}

// Runs whose traces are current but whose tables are not.
static bool requeue_stale_runs(struct db *db, struct err *err)
{
    struct arena arena;
    struct str *ids;
    size_t count;
    struct stmt stmt =
        sql_begin(db,
                  "SELECT id FROM run WHERE analysis_version < ? AND NOT EXISTS "
                  "(SELECT 1 FROM trace WHERE run_id = run.id AND state IN ('queued', 'running'))",
                  err);
    sql_bind_i64(&stmt, ANALYSIS_VERSION);
    arena_init(&arena, NULL);
    bool ok = sql_end_ids(&stmt, &arena, &ids, &count);
    for (size_t i = 0; ok && i < count; i++)
        ok = jobs_insert(db, JOB_RUN, ids[i], err);
    arena_free(&arena);
    return ok;
}

bool store_recover_jobs(struct store *store, bool crashed, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    size_t count;
    struct str owner = store_owner(store);
    bool ok = recover_running(txn.db, &owner, crashed, &count, err) &&
              recover_running(txn.db, NULL, false, &count, err) && requeue_stale(txn.db, err) &&
              evidence_queue_stale(txn.db, err) && requeue_stale_runs(txn.db, err);
    return txn_end(&txn, ok, err);
}

// --- leases -------------------------------------------------------------------------------------

static bool renew(struct db *db, int64_t *job_ids, size_t count, struct str owner, struct err *err)
{
    int64_t now_ns;
    if (!db->kind->clock(db, &now_ns, err))
        return false;
    struct stmt stmt = sql_begin(db,
                                 "UPDATE job SET lease_until_ns = ? WHERE id = ? AND owner = ? "
                                 "AND state = 'running'",
                                 err);
    for (size_t i = 0; i < count; i++) {
        sql_bind_i64(&stmt, now_ns + STORE_LEASE_NS);
        sql_bind_i64(&stmt, job_ids[i]);
        sql_bind_text(&stmt, owner);
        sql_step(&stmt);
        if (!stmt.failed && db_changes(db) == 0)
            job_ids[i] = 0;
    }
    return sql_end(&stmt);
}

bool store_keep_leases(struct store *store, int64_t *job_ids, size_t count, size_t *lost,
                       struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = renew(txn.db, job_ids, count, store_owner(store), err) &&
              recover_running(txn.db, NULL, false, lost, err);
    return txn_end(&txn, ok, err);
}

// The service that has the role keeps it as long as it renews it in time.
static bool take_role(struct db *db, const char *role, struct str owner, bool *leads,
                      struct err *err)
{
    int64_t now_ns;
    if (!db->kind->clock(db, &now_ns, err))
        return false;
    struct stmt stmt = sql_begin(db,
                                 "INSERT INTO leader VALUES (?, ?, ?) ON CONFLICT (role) DO UPDATE "
                                 "SET owner = excluded.owner, until_ns = excluded.until_ns "
                                 "WHERE leader.owner = excluded.owner OR leader.until_ns < ?",
                                 err);
    sql_bind_text(&stmt, str_of(role));
    sql_bind_text(&stmt, owner);
    sql_bind_i64(&stmt, now_ns + STORE_LEASE_NS);
    sql_bind_i64(&stmt, now_ns);
    bool ok = sql_run(&stmt);
    *leads = ok && db_changes(db) == 1;
    return ok;
}

bool store_take_role(struct store *store, const char *role, bool *leads, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = take_role(txn.db, role, store_owner(store), leads, err);
    return txn_end(&txn, ok, err);
}

bool leader_keep(struct db *db, const char *role, struct str mark, char kept[STORE_ID_SIZE],
                 struct err *err)
{
    struct stmt stmt =
        sql_begin(db, "INSERT INTO leader VALUES (?, ?, ?) ON CONFLICT DO NOTHING", err);
    sql_bind_text(&stmt, str_of(role));
    sql_bind_text(&stmt, mark);
    sql_bind_i64(&stmt, INT64_MAX);
    if (!sql_run(&stmt))
        return false;
    stmt = sql_begin(db, "SELECT owner FROM leader WHERE role = ?", err);
    sql_bind_text(&stmt, str_of(role));
    struct str owner = sql_row(&stmt) ? sql_bytes(&stmt, 0) : STR("");
    snprintf(kept, STORE_ID_SIZE, "%.*s", (int)owner.len, owner.at);
    return sql_end(&stmt);
}

bool store_keep_mark(struct store *store, const char *mark, char kept[STORE_ID_SIZE],
                     struct err *err)
{
    struct txn txn;
    kept[0] = '\0';
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = leader_keep(txn.db, "place", str_of(mark), kept, err);
    return txn_end(&txn, ok, err);
}

// --- strikes ------------------------------------------------------------------------------------

static bool strike(struct db *db, const struct job *job, const struct job_strike *why, bool *again,
                   struct err *err)
{
    int64_t strikes;
    char reason[240];
    if (!count_faults(db, job, COUNT_STRIKE, &strikes, err))
        return false;
    *again = strikes < STORE_MAX_FAULTS;
    snprintf(reason, sizeof reason, "%s %s %lld time%s (%s)%s",
             job->kind == JOB_RUN      ? "joining the ranks"
             : job->kind == JOB_UNPACK ? "unpacking this archive"
                                       : "reading this file",
             why->verb, (long long)strikes, strikes == 1 ? "" : "s", why->detail,
             *again ? "" : "; it is not retried automatically");
    struct back back = {job->attempt, strikes * WAIT_AFTER_STRIKE_NS, reason};
    return *again ? requeue(db, job, back, err) : jobs_fail(db, job, reason, err);
}

bool store_strike_job(struct store *store, const struct job *job, const struct job_strike *why,
                      bool *again, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = strike(txn.db, job, why, again, err);
    return txn_end(&txn, ok, err);
}

// --- asked for ----------------------------------------------------------------------------------

#define CANCELLED "cancelled"

static bool end_open_jobs(struct db *db, struct str run_id, int64_t *count, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "UPDATE job SET state = 'failed', error = ?, finished_ns = ?, "
                                 "lease_until_ns = NULL WHERE run_id = ? "
                                 "AND state IN ('queued', 'running')",
                                 err);
    sql_bind_text(&stmt, STR(CANCELLED));
    sql_bind_i64(&stmt, clock_wall_ns());
    sql_bind_text(&stmt, run_id);
    bool ok = sql_run(&stmt);
    *count = ok ? db_changes(db) : 0;
    return ok && runs_count_jobs(db, run_id, err);
}

static bool fail_open_traces(struct db *db, struct str run_id, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "UPDATE trace SET state = 'failed', error = ? WHERE run_id = ? "
                                 "AND state IN ('queued', 'running')",
                                 err);
    sql_bind_text(&stmt, STR(CANCELLED));
    sql_bind_text(&stmt, run_id);
    return sql_run(&stmt) && runs_count_traces(db, run_id, err);
}

bool store_cancel_run(struct store *store, struct str run_id, struct err *err)
{
    struct txn txn;
    int64_t count;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = end_open_jobs(txn.db, run_id, &count, err) &&
              (count == 0 || (fail_open_traces(txn.db, run_id, err) &&
                              inputs_cancel(txn.db, run_id, STR(CANCELLED), err) &&
                              jobs_mark_run(txn.db, run_id, CANCELLED, err)));
    return txn_end(&txn, ok, err);
}

#define FORGET_ERROR "UPDATE stored_run SET error = NULL WHERE id = ?"

static bool queue_of_run(struct db *db, const char *text, struct str run_id, struct err *err)
{
    struct stmt stmt = sql_begin(db, text, err);
    sql_bind_text(&stmt, run_id);
    return queue_traces(db, stmt, err);
}

bool jobs_queue_traces(struct db *db, struct str run_id, struct err *err)
{
    return queue_of_run(db, BEGUN_OF_RUN, run_id, err);
}

bool store_reanalyze_run(struct store *store, struct str run_id, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = sql_touch_run(txn.db, run_id, err) &&
              sql_run_with(txn.db, FORGET_ERROR, run_id, err) &&
              queue_of_run(txn.db, ENDED_OF_RUN, run_id, err) &&
              inputs_queue_again(txn.db, run_id, err) && evidence_queue_run(txn.db, run_id, err);
    return txn_end(&txn, ok, err);
}
