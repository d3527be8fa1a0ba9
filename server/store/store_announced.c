// SPDX-License-Identifier: Apache-2.0
// An event is a row in the table of roles: the service that announced it holds that role for two
// days.
#include "server/store/store_announced.h"

#include "server/store/store_sql.h"

#define KEPT_NS ((int64_t)2 * 86400 * 1000000000)

static bool forget_old(struct db *db, int64_t now_ns, struct err *err)
{
    struct stmt stmt = sql_begin(
        db, "DELETE FROM leader WHERE role > 'hook ' AND role < 'hook!' AND until_ns < ?", err);
    sql_bind_i64(&stmt, now_ns);
    return sql_run(&stmt);
}

static bool note(struct db *db, const char *key, struct str owner, struct err *err)
{
    int64_t now_ns;
    if (!db->kind->clock(db, &now_ns, err) || !forget_old(db, now_ns, err))
        return false;
    struct stmt stmt =
        sql_begin(db, "INSERT INTO leader VALUES ('hook ' || ?, ?, ?) ON CONFLICT DO NOTHING", err);
    sql_bind_text(&stmt, str_of(key));
    sql_bind_text(&stmt, owner);
    sql_bind_i64(&stmt, now_ns + KEPT_NS);
    return sql_run(&stmt);
}

bool store_note_announced(struct store *store, const char *key, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    return txn_end(&txn, note(txn.db, key, store_owner(store), err), err);
}

bool store_was_announced(struct store *store, const char *key, bool *was, struct err *err)
{
    int64_t count = 0;
    bool ok = store_number(store, "SELECT count(*) FROM leader WHERE role = 'hook ' || ?",
                           str_of(key), &count, err);
    *was = count > 0;
    return ok;
}
