// SPDX-License-Identifier: Apache-2.0
// Resumable uploads, and keys of uploads, in the store.
#include "server/store/store_resumable.h"

#include "ingest/base/clock.h"
#include "server/store/store_sql.h"

#define COLUMNS                                                                                \
    "SELECT id, owner, metadata, bytes, flushed, created_ns, expires_ns, upload_id, refused, " \
    "request FROM resumable "

// --- reading ------------------------------------------------------------------------------------

static bool read_one(struct stmt *stmt, struct arena *arena, struct resumable *found)
{
    bool is_there = sql_row(stmt);
    *found = (struct resumable){0};
    if (is_there)
        *found = (struct resumable){
            .id = sql_text(stmt, 0, arena),
            .owner = sql_text(stmt, 1, arena),
            .metadata = sql_text(stmt, 2, arena),
            .bytes = (uint64_t)sql_i64(stmt, 3),
            .flushed = (uint64_t)sql_i64(stmt, 4),
            .created_ns = sql_i64(stmt, 5),
            .expires_ns = sql_i64(stmt, 6),
            .upload_id = sql_text(stmt, 7, arena),
            .refused = sql_text(stmt, 8, arena),
            .request = sql_i64_or(stmt, 9, -1),
        };
    return sql_end(stmt);
}

static bool load(struct db *db, struct str id, struct arena *arena, struct resumable *found,
                 struct err *err)
{
    struct stmt stmt = sql_begin(db, COLUMNS "WHERE id = ?", err);
    sql_bind_text(&stmt, id);
    return read_one(&stmt, arena, found) &&
           (found->id.len || err_set(err, ERR_NOT_FOUND, "no resumable upload %.*s",
                                     (int)(id.len < 40 ? id.len : 40), id.at));
}

bool store_find_resumable(struct store *store, struct str id, struct arena *arena,
                          struct resumable *found, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    return txn_end(&txn, load(txn.db, id, arena, found, err), err);
}

bool store_find_resumable_of_key(struct store *store, struct str owner, struct str key,
                                 struct arena *arena, struct resumable *found, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, COLUMNS "WHERE owner = ? AND \"key\" = ?", err);
    sql_bind_text(&stmt, owner);
    sql_bind_text(&stmt, key);
    bool ok = read_one(&stmt, arena, found) &&
              (found->id.len || err_set(err, ERR_NOT_FOUND, "no upload was started with this key"));
    return txn_end(&txn, ok, err);
}

bool store_names_resumable(struct store *store, struct str id, bool *named, struct err *err)
{
    int64_t count = 0;
    bool ok = store_number(store,
                           "SELECT count(*) FROM resumable WHERE id = ? AND upload_id IS NULL "
                           "AND refused IS NULL",
                           id, &count, err);
    *named = count > 0;
    return ok;
}

bool store_find_upload_of_key(struct store *store, struct str owner, struct str key,
                              struct arena *arena, struct keyed_upload *found, struct err *err)
{
    struct txn txn;
    *found = (struct keyed_upload){0};
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(
        txn.db, "SELECT upload_id, request FROM upload_key WHERE owner = ? AND \"key\" = ?", err);
    sql_bind_text(&stmt, owner);
    sql_bind_text(&stmt, key);
    struct str id = STR("");
    if (sql_row(&stmt)) {
        id = sql_text(&stmt, 0, arena);
        found->has_hash = !sql_is_null(&stmt, 1);
        found->request = sql_i64_or(&stmt, 1, 0);
    }
    bool ok = sql_end(&stmt) &&
              (id.len || err_set(err, ERR_NOT_FOUND, "no upload was sent with this key"));
    return txn_end(&txn, ok, err) && store_find_upload(store, id, arena, &found->upload, err);
}

// --- changing -----------------------------------------------------------------------------------

static bool check_room(struct db *db, struct str owner, int64_t now_ns, struct err *err)
{
    struct stmt stmt = sql_begin(
        db,
        "SELECT count(*), count(*) FILTER (WHERE owner = ?1 AND owner <> '') FROM resumable "
        "WHERE upload_id IS NULL AND refused IS NULL AND expires_ns > ?2",
        err);
    sql_bind_text(&stmt, owner);
    sql_bind_i64(&stmt, now_ns);
    bool is_there = sql_row(&stmt);
    int64_t count = is_there ? sql_i64(&stmt, 0) : 0, own = is_there ? sql_i64_or(&stmt, 1, 0) : 0;
    return sql_end(&stmt) && ((count < STORE_MAX_RESUMABLES && own < STORE_OWN_RESUMABLES) ||
                              err_set(err, ERR_BUSY,
                                      "%lld resumable uploads are open, %lld of them from this "
                                      "sender; finish some, or try again later",
                                      (long long)count, (long long)own));
}

static bool insert(struct db *db, const struct resumable_request *request, const char *id,
                   struct err *err)
{
    struct stmt stmt =
        sql_begin(db,
                  "INSERT INTO resumable (id, owner, \"key\", bytes, metadata, "
                  "created_ns, expires_ns, request) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
                  "ON CONFLICT (owner, \"key\") WHERE \"key\" IS NOT NULL DO NOTHING",
                  err);
    sql_bind_text(&stmt, str_of(id));
    sql_bind_text(&stmt, request->owner);
    sql_bind_text_if(&stmt, request->key.len, request->key);
    sql_bind_u64(&stmt, request->bytes);
    sql_bind_text(&stmt, request->metadata);
    sql_bind_i64(&stmt, clock_wall_ns());
    sql_bind_i64(&stmt, request->expires_ns);
    sql_bind_i64(&stmt, request->request);
    return sql_run(&stmt) &&
           (db_changes(db) == 1 ||
            err_set(err, ERR_CONFLICT, "an upload with this Idempotency-Key was already started"));
}

bool store_add_resumable(struct store *store, const struct resumable_request *request,
                         struct arena *arena, struct resumable *added, struct err *err)
{
    struct txn txn;
    char id[STORE_ID_SIZE];
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = check_room(txn.db, request->owner, clock_wall_ns(), err) &&
              sql_new_id('p', id, err) && insert(txn.db, request, id, err) &&
              load(txn.db, str_of(id), arena, added, err);
    return txn_end(&txn, ok, err);
}

static bool check_changed(struct db *db, struct err *err)
{
    return db_changes(db) > 0 ||
           err_set(err, ERR_NOT_FOUND, "the resumable upload was ended meanwhile");
}

static bool extend(struct db *db, struct str id, uint64_t flushed, int64_t expires_ns,
                   struct err *err)
{
    struct stmt stmt =
        sql_begin(db, "UPDATE resumable SET flushed = ?, expires_ns = ? WHERE id = ?", err);
    sql_bind_u64(&stmt, flushed);
    sql_bind_i64(&stmt, expires_ns);
    sql_bind_text(&stmt, id);
    return sql_run(&stmt) && check_changed(db, err);
}

bool store_extend_resumable(struct store *store, const struct resumable *before, uint64_t flushed,
                            int64_t expires_ns, struct err *err)
{
    struct txn txn;
    struct arena arena;
    struct resumable now;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    arena_init(&arena, NULL);
    bool ok =
        load(txn.db, before->id, &arena, &now, err) &&
        (now.flushed == before->flushed ||
         err_set(err, ERR_BUSY, "another service received bytes of this upload; ask again")) &&
        extend(txn.db, now.id, flushed, expires_ns, err) &&
        uploads_charge(txn.db, now.owner, flushed > now.flushed ? flushed - now.flushed : 0, err);
    arena_free(&arena);
    return txn_end(&txn, ok, err);
}

bool store_drop_resumable(struct store *store, struct str id, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, "DELETE FROM resumable WHERE id = ?", err);
    sql_bind_text(&stmt, id);
    return txn_end(&txn, sql_run(&stmt) && check_changed(txn.db, err), err);
}

bool store_refuse_resumable(struct store *store, struct str id, const char *reason, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    struct stmt stmt =
        sql_begin(txn.db, "UPDATE resumable SET refused = ?, metadata = '' WHERE id = ?", err);
    sql_bind_text(&stmt, str_of(reason));
    sql_bind_text(&stmt, id);
    return txn_end(&txn, sql_run(&stmt), err);
}

// Checks without taking the write transaction.
static bool has_expired(struct store *store, int64_t now_ns, int64_t keys_before_ns, bool *found,
                        struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db,
                                 "SELECT EXISTS (SELECT 1 FROM resumable WHERE expires_ns < ?) "
                                 "OR EXISTS (SELECT 1 FROM upload_key WHERE created_ns < ?)",
                                 err);
    sql_bind_i64(&stmt, now_ns);
    sql_bind_i64(&stmt, keys_before_ns);
    *found = sql_row(&stmt) && sql_i64(&stmt, 0) != 0;
    return txn_end(&txn, sql_end(&stmt), err);
}

static bool drop_before(struct db *db, const char *sql, int64_t before_ns, struct err *err)
{
    struct stmt stmt = sql_begin(db, sql, err);
    sql_bind_i64(&stmt, before_ns);
    return sql_run(&stmt);
}

bool store_drop_expired(struct store *store, int64_t now_ns, bool *dropped, struct err *err)
{
    struct txn txn;
    int64_t keys_before_ns = now_ns - (int64_t)STORE_KEY_LASTS_HOURS * 3600 * 1000000000;
    if (!has_expired(store, now_ns, keys_before_ns, dropped, err))
        return false;
    if (!*dropped)
        return true;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok =
        drop_before(txn.db, "DELETE FROM resumable WHERE expires_ns < ?", now_ns, err) &&
        drop_before(txn.db, "DELETE FROM upload_key WHERE created_ns < ?", keys_before_ns, err);
    return txn_end(&txn, ok, err);
}

// --- pieces of transactions ---------------------------------------------------------------------

bool resumable_accept(struct db *db, struct str id, struct str upload_id, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "UPDATE resumable SET upload_id = ?, metadata = '' WHERE id = ? "
                                 "AND upload_id IS NULL AND refused IS NULL",
                                 err);
    sql_bind_text(&stmt, upload_id);
    sql_bind_text(&stmt, id);
    return sql_run(&stmt) &&
           (db_changes(db) == 1 ||
            err_set(err, ERR_NOT_FOUND, "the resumable upload was ended meanwhile"));
}

bool upload_key_insert(struct db *db, const struct upload_request *request, struct str upload_id,
                       struct err *err)
{
    struct stmt stmt =
        sql_begin(db, "INSERT INTO upload_key VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", err);
    sql_bind_text(&stmt, request->owner);
    sql_bind_text(&stmt, request->key.text);
    sql_bind_text(&stmt, upload_id);
    sql_bind_i64(&stmt, clock_wall_ns());
    sql_bind_i64(&stmt, request->key.request);
    return sql_run(&stmt) &&
           (db_changes(db) == 1 ||
            err_set(err, ERR_CONFLICT, "an upload with this Idempotency-Key already exists"));
}
