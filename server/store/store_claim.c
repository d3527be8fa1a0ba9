// SPDX-License-Identifier: Apache-2.0
// Claims of several services at once, where the database allows it: each passes over the jobs that
// others are claiming.
#include "server/store/store_sql.h"

// A job that has to run alone may have been passed over because another service is claiming it.
#define PASSED                                                                   \
    "SELECT 1 FROM job JOIN job AS other ON other.state = 'queued' "             \
    "AND other.crashes > 0 AND (other.due_ns, other.id) < (job.due_ns, job.id) " \
    "WHERE job.id = ? LIMIT 1"
#define EXCLUDED                                                      \
    "SELECT 1 FROM job JOIN job AS other ON other.state = 'running' " \
    "AND (other.crashes > 0 OR (other.run_id = job.run_id "           \
    "AND other.kind = job.kind "                                      \
    "AND other.trace_id IS NOT DISTINCT FROM job.trace_id)) WHERE job.id = ? LIMIT 1"

static bool ask(struct db *db, const char *text, int64_t job_id, bool *holds, struct err *err)
{
    struct stmt stmt = sql_begin(db, text, err);
    sql_bind_i64(&stmt, job_id);
    *holds = sql_row(&stmt);
    return sql_end(&stmt);
}

bool jobs_take_turn(struct db *db, struct job *job, struct err *err)
{
    struct stmt stmt = sql_begin(db, "SELECT 1 FROM stored_run WHERE id = ? FOR UPDATE", err);
    sql_bind_text(&stmt, job->run_id);
    bool may_start = sql_row(&stmt);
    bool is_excluded = false, has_passed = false;
    if (!sql_end(&stmt) || !ask(db, EXCLUDED, job->id, &is_excluded, err) ||
        !ask(db, PASSED, job->id, &has_passed, err))
        return false;
    if (!may_start || is_excluded || has_passed)
        job->id = 0;
    return true;
}

bool jobs_none_queued(struct store *store)
{
    int64_t id;
    struct err ignored;
    return store_number(store,
                        "SELECT coalesce((SELECT id FROM job WHERE state = 'queued' "
                        "ORDER BY due_ns, id LIMIT 1), 0)",
                        (struct str){0}, &id, &ignored) &&
           !id;
}
