// SPDX-License-Identifier: Apache-2.0
// Rows of the audit log, and usage counted against quotas.
#include "server/store/server_tables.h"
#include "server/store/store_access.h"
#include "server/store/store_sql.h"

#include "ingest/base/clock.h"

#define DAYS_KEPT 31

enum { PRUNED_AT_ONCE = 2000 }; // so that other writers wait only milliseconds

// --- audit --------------------------------------------------------------------------------------

bool store_add_audit(struct store *store, const struct audit_row *row, int64_t *id, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db,
                                 "INSERT INTO audit (at_ns, who, peer, action, object, status, "
                                 "request_id) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id",
                                 err);
    sql_bind_i64(&stmt, row->at_ns);
    sql_bind_text(&stmt, row->who);
    sql_bind_text(&stmt, row->peer);
    sql_bind_text(&stmt, row->action);
    sql_bind_text(&stmt, row->object);
    sql_bind_i64(&stmt, row->status);
    sql_bind_text(&stmt, row->request_id);
    int64_t row_id = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    sql_step(&stmt); // a row is inserted for good only once the statement has ended
    bool ok = sql_end(&stmt);
    ok = txn_end(&txn, ok, err);
    if (id)
        *id = ok ? row_id : 0;
    return ok;
}

bool store_sum_audit(struct store *store, int64_t id, uint64_t count, int64_t last_ns,
                     struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    struct stmt stmt =
        sql_begin(txn.db, "UPDATE audit SET count = ?, last_ns = ? WHERE id = ?", err);
    sql_bind_i64(&stmt, (int64_t)count);
    sql_bind_i64(&stmt, last_ns);
    sql_bind_i64(&stmt, id);
    return txn_end(&txn, sql_run(&stmt), err);
}

#define AUDIT_ROWS \
    "SELECT id, at_ns, who, peer, action, object, status, request_id, count, last_ns FROM audit "

bool store_list_audit(struct store *store, const struct audit_query *query, struct arena *arena,
                      struct table *table, struct err *err)
{
    struct txn txn;
    *table = (struct table){.desc = &table_audit};
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt =
        sql_begin(txn.db,
                  query->who.len ? AUDIT_ROWS "WHERE who = ? AND id < ? ORDER BY id DESC LIMIT ?"
                                 : AUDIT_ROWS "WHERE id < ? ORDER BY id DESC LIMIT ?",
                  err);
    if (query->who.len)
        sql_bind_text(&stmt, query->who);
    sql_bind_i64(&stmt, query->before);
    sql_bind_i64(&stmt, query->limit);
    return txn_end(&txn, sql_end_table(&stmt, arena, table), err);
}

bool store_prune_audit(struct store *store, int64_t before_ns, uint64_t *pruned, struct err *err)
{
    struct txn txn;
    *pruned = 0;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db,
                                 "DELETE FROM audit WHERE id IN (SELECT id FROM audit "
                                 "WHERE at_ns < ? LIMIT ?)",
                                 err);
    sql_bind_i64(&stmt, before_ns);
    sql_bind_i64(&stmt, PRUNED_AT_ONCE);
    bool ok = sql_run(&stmt);
    *pruned = ok ? (uint64_t)db_changes(txn.db) : 0;
    return txn_end(&txn, ok, err);
}

// --- quotas -------------------------------------------------------------------------------------

bool store_quota_use(struct store *store, struct str who, int64_t day, struct quota_use *use,
                     struct err *err)
{
    struct txn txn;
    *use = (struct quota_use){0};
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt =
        sql_begin(txn.db,
                  "SELECT (SELECT bytes FROM quota_day WHERE who = ?1 AND day = ?2), "
                  "(SELECT sum(bytes + made) FROM trace_owner WHERE who = ?1), "
                  "(SELECT sum(flushed) FROM resumable WHERE owner = ?1 AND upload_id IS NULL "
                  "AND refused IS NULL), "
                  "(SELECT sum(made) FROM stored_run WHERE owner = ?1), "
                  "(SELECT sum(bytes) FROM input WHERE owner = ?1 AND blob IS NOT NULL)",
                  err);
    sql_bind_text(&stmt, who);
    sql_bind_i64(&stmt, day);
    if (sql_row(&stmt))
        *use = (struct quota_use){sql_i64_or(&stmt, 0, 0),
                                  sql_i64_or(&stmt, 1, 0) + sql_i64_or(&stmt, 2, 0) +
                                      sql_i64_or(&stmt, 3, 0) + sql_i64_or(&stmt, 4, 0)};
    return txn_end(&txn, sql_end(&stmt), err);
}

static bool forget_days(struct db *db, struct str who, int64_t day, struct err *err)
{
    struct stmt stmt = sql_begin(db, "DELETE FROM quota_day WHERE who = ? AND day < ?", err);
    sql_bind_text(&stmt, who);
    sql_bind_i64(&stmt, day - DAYS_KEPT);
    return sql_run_later(&stmt);
}

static bool charge(struct db *db, struct str who, int64_t day, uint64_t bytes, struct err *err)
{
    struct stmt stmt =
        sql_begin(db,
                  "INSERT INTO quota_day (who, day, bytes) VALUES (?, ?, ?) "
                  "ON CONFLICT (who, day) DO UPDATE SET bytes = quota_day.bytes + excluded.bytes",
                  err);
    sql_bind_text(&stmt, who);
    sql_bind_i64(&stmt, day);
    sql_bind_u64(&stmt, bytes);
    return sql_run_later(&stmt) && forget_days(db, who, day, err);
}

int64_t store_today(void)
{
    return clock_wall_ns() / 1000000000 / 86400;
}

bool uploads_charge(struct db *db, struct str who, uint64_t bytes, struct err *err)
{
    return who.len == 0 || bytes == 0 || charge(db, who, store_today(), bytes, err);
}

bool store_quota_charge(struct store *store, struct str who, int64_t day, uint64_t bytes,
                        struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    return txn_end(&txn, charge(txn.db, who, day, bytes, err), err);
}

bool uploads_own(struct db *db, struct str who, struct str upload_id, struct err *err)
{
    if (who.len == 0)
        return true;
    struct stmt stmt = sql_begin(db,
                                 "INSERT INTO trace_owner (trace_id, who, bytes) "
                                 "SELECT trace.id, ?, blob.bytes FROM upload_trace "
                                 "JOIN trace ON trace.id = upload_trace.trace_id "
                                 "JOIN blob ON blob.sha256 = trace.sha256 "
                                 "WHERE upload_id = ? AND existing = 0 ON CONFLICT DO NOTHING",
                                 err);
    sql_bind_text(&stmt, who);
    sql_bind_text(&stmt, upload_id);
    return sql_run_later(&stmt);
}
