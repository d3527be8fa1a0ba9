// SPDX-License-Identifier: Apache-2.0
// Claims: which job is next, and what its start changes. Where the database allows it, several
// services claim at once, and each passes over the jobs that others are claiming. Meanwhile only
// jobs of new traces are added to the queue, and joins, one for each run: the index that says so
// waits for a claim of it.
#include "server/store/store_sql.h"

#include "ingest/base/clock.h"

#include <stdio.h>

// A job that was running during a crash runs alone, and once it is due no other starts before it.
// No join here: whatever the number of waiting jobs and the planner's statistics, it walks the
// index job_queue and looks up each job by keys.
#define NEXT                                                                 \
    "SELECT id FROM job WHERE state = 'queued' AND due_ns >= ?1 "            \
    "AND (SELECT deleted_ns IS NULL FROM stored_run WHERE id = job.run_id) " \
    "AND coalesce((SELECT bytes FROM trace WHERE id = job.trace_id), "       \
    "(SELECT bytes FROM input WHERE id = job.input_id), 0) <= ?2 "           \
    "AND (SELECT count(*) FROM job AS other WHERE other.state = 'running' "  \
    "AND other.crashes > 0) = 0 "                                            \
    "AND (SELECT count(*) FROM job AS other WHERE other.state = 'running' "  \
    "AND other.run_id = job.run_id AND other.kind = job.kind "               \
    "AND coalesce(other.trace_id, '') = coalesce(job.trace_id, '')) = 0 "    \
    "ORDER BY due_ns, id LIMIT 1"
// Also whether its trace waits, whether it runs alone and others are running, and whether one that
// runs alone was passed over; and when it was due.
#define FOUND                                                                                 \
    "SELECT job.id, job.kind, job.run_id, job.trace_id, "                                     \
    "coalesce(trace.sha256, input.blob), coalesce(trace.bytes, input.bytes), "                \
    "attempts + 1, step_pattern, warmup_steps, job.input_id, trace.process, input.filename, " \
    "coalesce(trace.state, '') = 'queued', crashes > 0, "                                     \
    "crashes > 0 AND EXISTS (SELECT 1 FROM job AS other WHERE other.state = 'running'), "     \
    "EXISTS (SELECT 1 FROM job AS other WHERE other.state = 'queued' AND other.crashes > 0 "  \
    "AND (other.due_ns, other.id) < (job.due_ns, job.id)), due_ns "                           \
    "FROM (" NEXT "%s) AS found JOIN job ON job.id = found.id "                               \
    "JOIN stored_run ON stored_run.id = job.run_id "                                          \
    "LEFT JOIN trace ON trace.id = job.trace_id LEFT JOIN input ON input.id = job.input_id"

// Looks for jobs whose file has at most max_bytes.
struct search {
    int64_t max_bytes;
    bool trace_waits; // set: so its run's counts change by one
    int64_t due_ns;   // set: of the job
};

// Whether a job may start is certain only while nobody else claims: archives and attachments of a
// run, for example, are read one at a time.
static bool needs_turn(const struct search *search, const struct stmt *stmt, const struct job *job)
{
    bool is_one_of_run = job->kind == JOB_UNPACK || job->kind == JOB_EVIDENCE;
    bool recounts = job->kind == JOB_TRACE && !search->trace_waits;
    bool runs_alone = sql_i64(stmt, 13), has_passed = sql_i64(stmt, 15);
    return is_one_of_run || recounts || runs_alone || has_passed;
}

static void read_job(struct stmt *stmt, struct arena *arena, struct job *job)
{
    *job = (struct job){
        .id = sql_i64(stmt, 0),
        .kind = jobs_kind(sql_bytes(stmt, 1)),
        .run_id = sql_text(stmt, 2, arena),
        .trace_id = sql_text(stmt, 3, arena),
        .sha256 = sql_text(stmt, 4, arena),
        .bytes = sql_i64(stmt, 5),
        .attempt = sql_i64(stmt, 6),
        .step_pattern = sql_text(stmt, 7, arena),
        .warmup_steps = sql_i64_or(stmt, 8, -1),
        .input_id = sql_text(stmt, 9, arena),
        .process = sql_i64_or(stmt, 10, 0),
        .filename = sql_text(stmt, 11, arena),
    };
}

// Its id is 0 if none can start.
static bool look_from(struct db *db, struct search *search, int64_t due_ns, struct arena *arena,
                      struct job *job, struct err *err)
{
    char text[sizeof FOUND + 40];
    snprintf(text, sizeof text, FOUND, db->is_beside ? db->kind->claiming : "");
    struct stmt stmt = sql_begin(db, text, err);
    sql_bind_i64(&stmt, due_ns);
    sql_bind_i64(&stmt, search->max_bytes);
    bool by_turn = false;
    *job = (struct job){0};
    if (sql_row(&stmt)) {
        read_job(&stmt, arena, job);
        search->trace_waits = sql_i64(&stmt, 12);
        search->due_ns = sql_i64(&stmt, 16);
        by_turn = needs_turn(search, &stmt, job);
        if (sql_i64(&stmt, 14))
            job->id = 0;
    }
    return sql_end(&stmt) && (!by_turn || txn_has_turn(db, err));
}

// PostgreSQL goes through what others claimed until its next vacuum, tens of thousands of rows, to
// find the first that waits. So this looks from the last claim on, and from the very first again
// each second, as what another service puts before it is found that late. What this one puts there
// ends that at once (jobs_put_first). Files that arrive are due later anyway.
static bool find_next(struct db *db, struct search *search, struct arena *arena, struct job *job,
                      struct err *err)
{
    enum { FRONT_NS = 1000000000 };
    int64_t now_ns = clock_mono_ns();
    bool has_front = db->is_beside && search->max_bytes == INT64_MAX;
    if (has_front && now_ns < db->front_until_ns) {
        if (!look_from(db, search, db->front_ns, arena, job, err))
            return false;
        db->front_ns = search->due_ns;
        if (job->id)
            return true;
    }
    if (!look_from(db, search, 0, arena, job, err))
        return false;
    db->front_ns = search->due_ns;
    db->front_until_ns = has_front && job->id ? now_ns + FRONT_NS : 0;
    return true;
}

void jobs_put_first(struct db *db)
{
    db->front_until_ns = 0;
}

static bool mark_started(struct db *db, const struct search *search, const struct job *job,
                         struct err *err)
{
    if (!search->trace_waits)
        return jobs_mark(db, job, STR("running"), err);
    struct stmt stmt =
        sql_begin(db, "UPDATE trace SET state = 'running', error = NULL WHERE id = ?", err);
    sql_bind_text(&stmt, job->trace_id);
    return sql_run_later(&stmt) && runs_count_move(db, job->run_id, MOVE_STARTED, err);
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
    return sql_run_later(&stmt);
}

struct claim {
    struct search search;
    struct str owner;
    struct arena *arena;
    struct job *job; // set
};

static bool claim_next(struct db *db, void *context, struct err *err)
{
    struct claim *claim = context;
    return find_next(db, &claim->search, claim->arena, claim->job, err) &&
           (!claim->job->id || (start_job(db, claim->job, claim->owner, err) &&
                                mark_started(db, &claim->search, claim->job, err)));
}

// Idle services ask often, and must not wait for writers.
static bool none_is_queued(struct store *store)
{
    int64_t id;
    struct err ignored;
    return store_number(store,
                        "SELECT coalesce((SELECT id FROM job WHERE state = 'queued' "
                        "AND due_ns >= 0 ORDER BY due_ns, id LIMIT 1), 0)",
                        (struct str){0}, &id, &ignored) &&
           !id;
}

static bool claim(struct store *store, int64_t max_bytes, struct arena *arena, struct job *job,
                  struct err *err)
{
    struct claim claim = {{.max_bytes = max_bytes}, store_owner(store), arena, job};
    *job = (struct job){0};
    if (store_is_shared(store) && !store_found_job(store) && none_is_queued(store))
        return true;
    bool ok = txn_write(store, claim_next, &claim, err);
    store_note_found(store, ok && job->id);
    return ok;
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
