// SPDX-License-Identifier: Apache-2.0
// Files whose rows went, and whether a row names a file.
#include "server/store_sql.h"

bool store_names_blob(struct store *store, const char *sha256, bool *named, struct err *err)
{
    int64_t count;
    bool ok = store_number(store, "SELECT count(*) FROM blob WHERE sha256 = ?", str_of(sha256),
                           &count, err);
    *named = ok && count > 0;
    return ok;
}

bool store_names_trace(struct store *store, const char *trace_id, bool *named, struct err *err)
{
    int64_t count;
    bool ok = store_number(store, "SELECT count(*) FROM trace WHERE id = ?", str_of(trace_id),
                           &count, err);
    *named = ok && count > 0;
    return ok;
}

bool store_list_garbage(struct store *store, struct arena *arena, struct garbage **items,
                        size_t *count, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, TXN_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, "SELECT kind = 'blob', name FROM garbage", err);
    *items = NULL;
    *count = 0;
    while (sql_row(&stmt)) {
        *items = sql_grow(arena, *items, *count, sizeof **items, err);
        if (!*items) {
            stmt.failed = true;
            break;
        }
        (*items)[(*count)++] = (struct garbage){
            sql_i64(&stmt, 0) ? GARBAGE_BLOB : GARBAGE_TRACE_FILE, sql_text(&stmt, 1, arena)};
    }
    bool ok = sql_end(&stmt);
    return txn_end(&txn, ok, err);
}

bool store_forget_garbage(struct store *store, const struct garbage *item, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, TXN_WRITE, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, "DELETE FROM garbage WHERE kind = ? AND name = ?", err);
    sql_bind_text(&stmt, item->kind == GARBAGE_BLOB ? STR("blob") : STR("trace_file"));
    sql_bind_text(&stmt, item->name);
    bool ok = sql_run(&stmt);
    return txn_end(&txn, ok, err);
}
