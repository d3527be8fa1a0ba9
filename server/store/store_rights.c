// SPDX-License-Identifier: Apache-2.0
// Who may add to a run without the right to change runs.
#include "server/store/store_sql.h"

bool runs_is_locked(struct db *db, struct str id, const struct run_request *request, bool *locked,
                    struct err *err)
{
    *locked = false;
    if (!request->adds_only)
        return true;
    struct stmt stmt = sql_begin(db,
                                 "SELECT owner = '' OR owner <> ? OR finalized_ns IS NOT NULL "
                                 "OR (failed = 0 AND coalesce(received >= "
                                 "coalesce(world_size, traced_world_size), FALSE)) "
                                 "OR EXISTS (SELECT 1 FROM baseline WHERE run_id = run.id) "
                                 "FROM run WHERE id = ?",
                                 err);
    sql_bind_text(&stmt, request->owner);
    sql_bind_text(&stmt, id);
    *locked = !sql_row(&stmt) || sql_i64(&stmt, 0) != 0;
    return sql_end(&stmt);
}

bool runs_deny(struct err *err)
{
    return err_set(err, ERR_DENIED,
                   "this run was created by someone else, is complete or is a baseline: changing "
                   "it needs the scope write");
}

bool runs_said(struct db *db, struct str id, struct arena *arena, struct str *said, struct err *err)
{
    struct stmt stmt = sql_begin(
        db,
        "SELECT quote(note) || quote(world_size) || quote(step_pattern) || quote(warmup_steps) "
        "|| coalesce((SELECT group_concat(quote(\"key\") || quote(value)) FROM run_tag "
        "WHERE run_id = run.id), '') || '/' "
        "|| coalesce((SELECT group_concat(quote(\"key\") || quote(value)) FROM metadata "
        "WHERE run_id = run.id), '') FROM run WHERE id = ?",
        err);
    sql_bind_text(&stmt, id);
    *said = sql_row(&stmt) ? sql_text(&stmt, 0, arena) : STR("");
    return sql_end(&stmt);
}
