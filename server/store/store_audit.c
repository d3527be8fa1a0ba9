// SPDX-License-Identifier: Apache-2.0
// Rows of the audit log.
#include "server/store/server_tables.h"
#include "server/store/store_access.h"
#include "server/store/store_sql.h"

enum { PRUNED_AT_ONCE = 2000 }; // so that other writers wait only milliseconds

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
