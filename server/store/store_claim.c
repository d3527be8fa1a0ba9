// SPDX-License-Identifier: Apache-2.0
// Claims of several services at once, where the database can have that: each passes over the jobs
// that others are claiming.
#include "server/store/store_sql.h"

bool jobs_take_turn(struct db *db, struct job *job, struct err *err)
{
    struct stmt stmt = sql_begin(db, "SELECT 1 FROM stored_run WHERE id = ? FOR UPDATE", err);
    sql_bind_text(&stmt, job->run_id);
    bool may_start = sql_row(&stmt);
    if (!sql_end(&stmt))
        return false;
    stmt = sql_begin(db,
                     "SELECT 1 FROM job JOIN job AS other ON other.state = 'running' "
                     "AND (other.crashes > 0 OR (other.run_id = job.run_id "
                     "AND other.kind = job.kind "
                     "AND other.trace_id IS NOT DISTINCT FROM job.trace_id)) "
                     "WHERE job.id = ? LIMIT 1",
                     err);
    sql_bind_i64(&stmt, job->id);
    if (sql_row(&stmt) || !may_start)
        job->id = 0;
    return sql_end(&stmt);
}
