// SPDX-License-Identifier: Apache-2.0
// Dismissed findings.
#include "server/store/store_sql.h"

#include "analysis/report/tables.h"
#include "ingest/base/clock.h"

bool store_list_dismissals(struct store *store, struct str run_id, struct arena *arena,
                           struct dismissal **dismissals, size_t *count, struct err *err)
{
    struct txn txn;
    *dismissals = NULL;
    *count = 0;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db,
                                 "SELECT finding, reason, created_ns FROM finding_dismissal "
                                 "WHERE run_id = ? ORDER BY finding",
                                 err);
    sql_bind_text(&stmt, run_id);
    while (sql_row(&stmt)) {
        *dismissals = arena_more(arena, *dismissals, *count, sizeof **dismissals, err);
        if (!*dismissals) {
            stmt.failed = true;
            break;
        }
        (*dismissals)[(*count)++] = (struct dismissal){
            sql_text(&stmt, 0, arena), sql_text(&stmt, 1, arena), sql_i64(&stmt, 2)};
    }
    return txn_end(&txn, sql_end(&stmt), err);
}

static bool check_reason(struct str reason, struct err *err)
{
    if (text_is_blank(reason))
        return err_set(err, ERR_USAGE, "found an empty reason, expected text");
    return text_check("reason", reason, STORE_NOTE_MAX_BYTES, err);
}

static bool has_finding(const struct table *findings, struct str id)
{
    for (size_t row = 0; findings && row < findings->row_count; row++)
        if (table_is(findings, row, RUN_FINDINGS_ID, id))
            return true;
    return false;
}

static bool check_finding(struct db *db, struct str run_id, struct str finding, struct err *err)
{
    static const struct table_desc *const wanted[] = {&table_run_findings, NULL};
    struct arena arena;
    arena_init(&arena, NULL);
    struct report report = {.arena = &arena};
    bool ok = tables_load_run(db, run_id, wanted, &report, err);
    bool found = ok && has_finding(report_find(&report, table_run_findings.name), finding);
    arena_free(&arena);
    if (!ok)
        return false;
    return found || err_set(err, ERR_NOT_FOUND, "the run has no finding '%.*s'",
                            (int)(finding.len < 80 ? finding.len : 80), finding.at);
}

static bool dismiss(struct db *db, struct str run_id, struct str finding, struct str reason,
                    struct err *err)
{
    if (!check_finding(db, run_id, finding, err))
        return false;
    struct stmt stmt =
        sql_begin(db,
                  "INSERT INTO finding_dismissal VALUES (?, ?, ?, ?) "
                  "ON CONFLICT (run_id, finding) DO UPDATE SET reason = excluded.reason",
                  err);
    sql_bind_text(&stmt, run_id);
    sql_bind_text(&stmt, finding);
    sql_bind_clean(&stmt, reason);
    sql_bind_i64(&stmt, clock_wall_ns());
    return sql_run(&stmt);
}

bool store_dismiss(struct store *store, struct str run_id, struct str finding, struct str reason,
                   struct err *err)
{
    struct txn txn;
    if (!check_reason(reason, err) || !txn_begin(store, DB_WRITE, &txn, err))
        return false;
    return txn_end(&txn, dismiss(txn.db, run_id, finding, reason, err), err);
}

bool store_take_back_dismissal(struct store *store, struct str run_id, struct str finding,
                               struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    struct stmt stmt =
        sql_begin(txn.db, "DELETE FROM finding_dismissal WHERE run_id = ? AND finding = ?", err);
    sql_bind_text(&stmt, run_id);
    sql_bind_text(&stmt, finding);
    bool ok = sql_run(&stmt) && (db_changes(txn.db) == 1 ||
                                 err_set(err, ERR_NOT_FOUND, "the finding '%.*s' is not dismissed",
                                         (int)(finding.len < 80 ? finding.len : 80), finding.at));
    return txn_end(&txn, ok, err);
}
