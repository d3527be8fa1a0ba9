// SPDX-License-Identifier: Apache-2.0
// Files whose rows were deleted, and whether a row names a file.
#include "server/store/store_sql.h"

bool store_names_blob(struct store *store, const char *sha256, bool *named, struct err *err)
{
    int64_t count;
    bool ok = store_number(store, "SELECT count(*) FROM blob WHERE sha256 = ?", str_of(sha256),
                           &count, err);
    *named = ok && count > 0;
    return ok;
}

// --- removals -----------------------------------------------------------------------------------

bool blobs_may_come(struct db *db, const char *sha256, struct err *err)
{
    int64_t now_ns;
    if (!db->kind->clock(db, &now_ns, err))
        return false;
    struct stmt stmt =
        sql_begin(db, "SELECT 1 FROM removal WHERE sha256 = ? AND until_ns > ?", err);
    sql_bind_text(&stmt, str_of(sha256));
    sql_bind_i64(&stmt, now_ns);
    bool is_leaving = sql_row(&stmt);
    return sql_end(&stmt) && (!is_leaving || blobs_refuse(err));
}

bool blobs_refuse(struct err *err)
{
    return err_set(err, ERR_BUSY,
                   "these bytes are being removed from S3 right now: send them again later");
}

static bool look_at(struct db *db, struct store_removal *removal, int64_t now_ns, struct err *err)
{
    struct stmt stmt =
        sql_begin(db,
                  "SELECT EXISTS (SELECT 1 FROM blob WHERE sha256 = ?1), "
                  "EXISTS (SELECT 1 FROM removal WHERE sha256 = ?1 AND until_ns > ?2)",
                  err);
    sql_bind_text(&stmt, str_of(removal->sha256));
    sql_bind_i64(&stmt, now_ns);
    removal->begun = sql_row(&stmt) && sql_i64(&stmt, 0) == 0;
    removal->alone = removal->begun && sql_i64(&stmt, 1) == 0;
    return sql_end(&stmt);
}

static bool begin_removal(struct db *db, struct store_removal *removal, struct err *err)
{
    int64_t now_ns;
    if (!db->kind->clock(db, &now_ns, err) || !look_at(db, removal, now_ns, err))
        return false;
    if (!removal->begun)
        return true;
    struct stmt stmt = sql_begin(db,
                                 "INSERT INTO removal VALUES (?, ?) ON CONFLICT (sha256) "
                                 "DO UPDATE SET until_ns = excluded.until_ns",
                                 err);
    sql_bind_text(&stmt, str_of(removal->sha256));
    sql_bind_i64(&stmt, now_ns + STORE_REMOVAL_NS);
    return sql_run(&stmt);
}

// Alone: whoever would name the bytes has done so, or sees the row.
bool store_begin_removal(struct store *store, struct store_removal *removal, struct err *err)
{
    struct txn txn;
    return txn_begin(store, DB_WRITE, &txn, err) &&
           txn_end(&txn, begin_removal(txn.db, removal, err), err);
}

bool store_end_removal(struct store *store, const struct store_removal *removal, struct err *err)
{
    struct txn txn;
    if (!removal->alone)
        return true;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, "DELETE FROM removal WHERE sha256 = ?", err);
    sql_bind_text(&stmt, str_of(removal->sha256));
    return txn_end(&txn, sql_run(&stmt), err);
}

// --- names --------------------------------------------------------------------------------------

bool store_names_trace(struct store *store, const char *trace_id, bool *named, struct err *err)
{
    int64_t count;
    bool ok = store_number(store,
                           "SELECT (SELECT count(*) FROM trace WHERE id = ?1) "
                           "+ (SELECT count(*) FROM stored_run WHERE id = ?1)",
                           str_of(trace_id), &count, err);
    *named = ok && count > 0;
    return ok;
}

static bool list_names(struct store *store, const char *text, struct str prefix,
                       struct arena *arena, struct store_names *names, struct err *err)
{
    struct txn txn;
    *names = (struct store_names){0};
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, text, err);
    sql_bind_text(&stmt, prefix);
    while (sql_row(&stmt)) {
        names->at = arena_more(arena, names->at, names->count, sizeof *names->at, err);
        if (!names->at) {
            stmt.failed = true;
            break;
        }
        names->at[names->count++] = sql_text(&stmt, 0, arena);
    }
    bool ok = sql_end(&stmt);
    return txn_end(&txn, ok, err);
}

bool store_blobs_from(struct store *store, struct str prefix, struct arena *arena,
                      struct store_names *names, struct err *err)
{
    return list_names(store,
                      "SELECT sha256 FROM blob WHERE sha256 >= ?1 AND sha256 < ?1 || '~' "
                      "ORDER BY sha256",
                      prefix, arena, names, err);
}

bool store_traces_from(struct store *store, struct str prefix, struct arena *arena,
                       struct store_names *names, struct err *err)
{
    return list_names(store,
                      "SELECT id FROM trace WHERE id >= ?1 AND id < ?1 || '~' UNION ALL "
                      "SELECT id FROM stored_run WHERE id >= ?1 AND id < ?1 || '~' ORDER BY 1",
                      prefix, arena, names, err);
}

bool store_list_garbage(struct store *store, struct arena *arena, struct garbage **items,
                        size_t *count, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, "SELECT kind = 'blob', name FROM garbage", err);
    *items = NULL;
    *count = 0;
    while (sql_row(&stmt)) {
        *items = arena_more(arena, *items, *count, sizeof **items, err);
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

static bool change_garbage(struct store *store, const char *text, const struct garbage *item,
                           struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, text, err);
    sql_bind_text(&stmt, item->kind == GARBAGE_BLOB ? STR("blob") : STR("trace_file"));
    sql_bind_text(&stmt, item->name);
    bool ok = sql_run(&stmt);
    return txn_end(&txn, ok, err);
}

bool store_note_garbage(struct store *store, const struct garbage *item, struct err *err)
{
    return change_garbage(store, "INSERT INTO garbage VALUES (?, ?) ON CONFLICT DO NOTHING", item,
                          err);
}

bool store_forget_garbage(struct store *store, const struct garbage *item, struct err *err)
{
    return change_garbage(store, "DELETE FROM garbage WHERE kind = ? AND name = ?", item, err);
}
