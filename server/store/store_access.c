// SPDX-License-Identifier: Apache-2.0
// Rows of tokens and sessions.
#include "server/base/token.h"
#include "server/store/server_tables.h"
#include "server/store/store_access.h"
#include "server/store/store_sql.h"

#include "ingest/base/clock.h"

#define USE_NOTED_NS ((int64_t)60 * 1000000000)
#define PREFIX_CHARS 8

static struct str prefix_of(const char *hash)
{
    return (struct str){hash, PREFIX_CHARS};
}

// --- tokens -------------------------------------------------------------------------------------

static int64_t count_good(struct db *db, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "SELECT count(*) FROM token WHERE revoked_ns IS NULL "
                                 "AND (expires_ns IS NULL OR expires_ns > ?)",
                                 err);
    sql_bind_i64(&stmt, clock_wall_ns());
    int64_t count = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    return sql_end(&stmt) ? count : -1;
}

bool store_count_tokens(struct store *store, int64_t *count, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    *count = count_good(txn.db, err);
    return txn_end(&txn, *count >= 0, err);
}

static bool insert_token(struct db *db, const struct token_request *request, const char *hash,
                         struct str id, struct err *err)
{
    int64_t count = count_good(db, err);
    if (count < 0)
        return false;
    if (count >= STORE_MAX_TOKENS)
        return err_set(err, ERR_CONFLICT, "there are already %lld tokens, the limit",
                       (long long)count);
    struct stmt stmt = sql_begin(db,
                                 "INSERT INTO token (id, name, prefix, hash, scopes, created_ns, "
                                 "expires_ns, day_bytes, stored_bytes, in_flight) "
                                 "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                                 err);
    sql_bind_text(&stmt, id);
    sql_bind_text(&stmt, request->name);
    sql_bind_text(&stmt, prefix_of(hash));
    sql_bind_text(&stmt, str_of(hash));
    sql_bind_i64(&stmt, request->scopes);
    sql_bind_i64(&stmt, clock_wall_ns());
    sql_bind_i64_if(&stmt, request->expires_ns, request->expires_ns);
    sql_bind_i64_if(&stmt, request->limits.day_bytes >= 0, request->limits.day_bytes);
    sql_bind_i64_if(&stmt, request->limits.stored_bytes >= 0, request->limits.stored_bytes);
    sql_bind_i64_if(&stmt, request->limits.in_flight >= 0, request->limits.in_flight);
    return sql_run(&stmt);
}

bool store_add_token(struct store *store, const struct token_request *request, const char *hash,
                     struct arena *arena, struct str *id, struct err *err)
{
    struct txn txn;
    char text[STORE_ID_SIZE];
    if (!text_check_word("token name", request->name, err) || !sql_new_id('k', text, err))
        return false;
    *id = str_of(text);
    id->at = arena_strdup(arena, *id, err);
    if (!id->at || !txn_begin(store, DB_WRITE, &txn, err))
        return false;
    return txn_end(&txn, insert_token(txn.db, request, hash, *id, err), err);
}

// Columns of a token row, from the first one on.
#define TOKEN_COLUMNS                                                                        \
    "token.hash, token.id, name, scopes, expires_ns, revoked_ns, token.used_ns, day_bytes, " \
    "stored_bytes, in_flight"

static struct token read_token(struct stmt *stmt, struct arena *arena)
{
    return (struct token){.id = sql_text(stmt, 1, arena),
                          .name = sql_text(stmt, 2, arena),
                          .scopes = (unsigned)sql_i64(stmt, 3),
                          .expires_ns = sql_i64_or(stmt, 4, 0),
                          .revoked_ns = sql_i64_or(stmt, 5, 0),
                          .used_ns = sql_i64_or(stmt, 6, 0),
                          .limits = {.day_bytes = sql_i64_or(stmt, 7, -1),
                                     .stored_bytes = sql_i64_or(stmt, 8, -1),
                                     .in_flight = sql_i64_or(stmt, 9, -1)}};
}

bool store_find_token(struct store *store, const char *hash, struct arena *arena,
                      struct token *token, bool *found, struct err *err)
{
    struct txn txn;
    *found = false;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt =
        sql_begin(txn.db, "SELECT " TOKEN_COLUMNS " FROM token WHERE prefix = ?", err);
    sql_bind_text(&stmt, prefix_of(hash));
    while (!*found && sql_row(&stmt))
        if (token_same_hash(sql_bytes(&stmt, 0), str_of(hash))) {
            *token = read_token(&stmt, arena);
            *found = true;
        }
    return txn_end(&txn, sql_end(&stmt), err);
}

bool store_touch_token(struct store *store, const struct token *token, struct err *err)
{
    struct txn txn;
    int64_t now = clock_wall_ns();
    if (now - token->used_ns < USE_NOTED_NS)
        return true;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, "UPDATE token SET used_ns = ? WHERE id = ?", err);
    sql_bind_i64(&stmt, now);
    sql_bind_text(&stmt, token->id);
    return txn_end(&txn, sql_run(&stmt), err);
}

#define TOKEN_ROWS                                                                         \
    "SELECT id, name, substr("                                                             \
    "CASE WHEN (scopes & 1) <> 0 THEN ',read' ELSE '' END || "                             \
    "CASE WHEN (scopes & 2) <> 0 THEN ',upload' ELSE '' END || "                           \
    "CASE WHEN (scopes & 4) <> 0 THEN ',write' ELSE '' END || "                            \
    "CASE WHEN (scopes & 8) <> 0 THEN ',admin' ELSE '' END, 2), "                          \
    "CASE WHEN revoked_ns IS NOT NULL THEN 'revoked' WHEN expires_ns <= ? THEN 'expired' " \
    "ELSE 'active' END, "                                                                  \
    "created_ns, expires_ns, used_ns, revoked_ns, day_bytes, stored_bytes, in_flight FROM token"

bool store_list_tokens(struct store *store, struct str id, struct arena *arena, struct table *table,
                       struct err *err)
{
    struct txn txn;
    *table = (struct table){.desc = &table_tokens};
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(
        txn.db, id.len ? TOKEN_ROWS " WHERE id = ?" : TOKEN_ROWS " ORDER BY created_ns DESC, id",
        err);
    sql_bind_i64(&stmt, clock_wall_ns());
    if (id.len)
        sql_bind_text(&stmt, id);
    return txn_end(&txn, sql_end_table(&stmt, arena, table), err);
}

static bool find_good(struct db *db, struct str key, struct arena *arena, struct str *id,
                      struct err *err)
{
    int count = 0;
    struct stmt stmt = sql_begin(db,
                                 "SELECT id FROM token WHERE revoked_ns IS NULL AND (id = ?1 OR "
                                 "(name = ?1 AND NOT EXISTS (SELECT 1 FROM token WHERE id = ?1) "
                                 "AND (expires_ns IS NULL OR expires_ns > ?2)))",
                                 err);
    sql_bind_text(&stmt, key);
    sql_bind_i64(&stmt, clock_wall_ns());
    while (sql_row(&stmt)) {
        *id = sql_text(&stmt, 0, arena);
        count++;
    }
    if (!sql_end(&stmt))
        return false;
    if (count > 1)
        return err_set(err, ERR_CONFLICT, "found %d tokens called '%.*s', expected the id of one",
                       count, (int)key.len, key.at);
    return count == 1 || err_set(err, ERR_NOT_FOUND, "found no token '%.*s' to revoke",
                                 (int)(key.len < 80 ? key.len : 80), key.at);
}

static bool revoke(struct db *db, struct str id, struct err *err)
{
    struct stmt stmt = sql_begin(db, "UPDATE token SET revoked_ns = ? WHERE id = ?", err);
    sql_bind_i64(&stmt, clock_wall_ns());
    sql_bind_text(&stmt, id);
    if (!sql_run(&stmt))
        return false;
    struct stmt sessions = sql_begin(db, "DELETE FROM session WHERE token_id = ?", err);
    sql_bind_text(&sessions, id);
    return sql_run(&sessions);
}

bool store_revoke_token(struct store *store, struct str key, struct arena *arena, struct str *id,
                        struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = find_good(txn.db, key, arena, id, err) && revoke(txn.db, *id, err);
    return txn_end(&txn, ok, err);
}

// --- wrong credentials --------------------------------------------------------------------------

bool store_login_wait(struct store *store, int64_t address, const struct store_login_limit *limit,
                      int64_t *wait_ns, struct err *err)
{
    struct txn txn;
    int64_t now_ns = 0;
    *wait_ns = 0;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db,
                                 "SELECT failed_ns FROM login_failure WHERE address = ? "
                                 "ORDER BY failed_ns DESC LIMIT 1 OFFSET ?",
                                 err);
    sql_bind_i64(&stmt, address);
    sql_bind_i64(&stmt, limit->failures - 1);
    int64_t free_ns = sql_row(&stmt) ? sql_i64(&stmt, 0) + limit->window_ns : 0;
    bool ok = sql_end(&stmt) && (free_ns == 0 || txn.db->kind->clock(txn.db, &now_ns, err));
    *wait_ns = ok && free_ns > now_ns ? free_ns - now_ns : 0;
    return txn_end(&txn, ok, err);
}

struct login_failure {
    int64_t address;
    const struct store_login_limit *limit;
};

static bool note_failure(struct db *db, void *context, struct err *err)
{
    const struct login_failure *failure = context;
    int64_t now_ns;
    if (!db->kind->clock(db, &now_ns, err))
        return false;
    struct stmt stmt = sql_begin(db, "DELETE FROM login_failure WHERE failed_ns < ?", err);
    sql_bind_i64(&stmt, now_ns - failure->limit->window_ns);
    if (!sql_run(&stmt))
        return false;
    stmt = sql_begin(db, "INSERT INTO login_failure (address, failed_ns) VALUES (?, ?)", err);
    sql_bind_i64(&stmt, failure->address);
    sql_bind_i64(&stmt, now_ns);
    return sql_run(&stmt);
}

bool store_note_login_failure(struct store *store, int64_t address,
                              const struct store_login_limit *limit, struct err *err)
{
    return txn_write(store, note_failure, &(struct login_failure){address, limit}, err);
}

// --- sessions -----------------------------------------------------------------------------------

static bool drop_old_sessions(struct db *db, struct str token_id, int64_t now, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "DELETE FROM session WHERE token_id = ?1 AND hash NOT IN "
                                 "(SELECT hash FROM session WHERE token_id = ?1 "
                                 "ORDER BY used_ns DESC LIMIT ?2)",
                                 err);
    sql_bind_text(&stmt, token_id);
    sql_bind_i64(&stmt, STORE_SESSIONS_PER_TOKEN - 1);
    if (!sql_run(&stmt))
        return false;
    struct stmt idle = sql_begin(db, "DELETE FROM session WHERE token_id = ? AND used_ns < ?", err);
    sql_bind_text(&idle, token_id);
    sql_bind_i64(&idle, now - STORE_SESSION_IDLE_NS);
    return sql_run(&idle);
}

static bool insert_session(struct db *db, const char *hash, struct str token_id, struct err *err)
{
    int64_t now = clock_wall_ns();
    if (!drop_old_sessions(db, token_id, now, err))
        return false;
    struct stmt stmt = sql_begin(db,
                                 "INSERT INTO session (hash, prefix, token_id, created_ns, used_ns)"
                                 " VALUES (?, ?, ?, ?, ?)",
                                 err);
    sql_bind_text(&stmt, str_of(hash));
    sql_bind_text(&stmt, prefix_of(hash));
    sql_bind_text(&stmt, token_id);
    sql_bind_i64(&stmt, now);
    sql_bind_i64(&stmt, now);
    return sql_run(&stmt);
}

bool store_add_session(struct store *store, const char *hash, struct str token_id, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    return txn_end(&txn, insert_session(txn.db, hash, token_id, err), err);
}

static bool touch_session(struct store *store, const char *hash, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, "UPDATE session SET used_ns = ? WHERE hash = ?", err);
    sql_bind_i64(&stmt, clock_wall_ns());
    sql_bind_text(&stmt, str_of(hash));
    return txn_end(&txn, sql_run(&stmt), err);
}

bool store_find_session(struct store *store, const char *hash, struct arena *arena,
                        struct token *token, bool *found, struct err *err)
{
    struct txn txn;
    int64_t now = clock_wall_ns(), used_ns = 0;
    *found = false;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db,
                                 "SELECT session.hash, token.id, name, scopes, expires_ns, "
                                 "revoked_ns, token.used_ns, day_bytes, stored_bytes, in_flight, "
                                 "session.used_ns FROM session JOIN token ON token.id = token_id "
                                 "WHERE session.prefix = ?",
                                 err);
    sql_bind_text(&stmt, prefix_of(hash));
    while (!*found && sql_row(&stmt))
        if (token_same_hash(sql_bytes(&stmt, 0), str_of(hash))) {
            *token = read_token(&stmt, arena);
            used_ns = sql_i64(&stmt, 10);
            *found = true;
        }
    if (!txn_end(&txn, sql_end(&stmt), err))
        return false;
    *found = *found && now - used_ns < STORE_SESSION_IDLE_NS;
    return !*found || now - used_ns < USE_NOTED_NS || touch_session(store, hash, err);
}

static bool delete_session(struct db *db, const char *sql, const char *hash, struct err *err)
{
    struct stmt stmt = sql_begin(db, sql, err);
    sql_bind_text(&stmt, str_of(hash));
    return sql_run(&stmt);
}

bool store_end_session(struct store *store, const char *hash, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    bool ok = delete_session(txn.db, "DELETE FROM session WHERE hash = ?", hash, err) &&
              delete_session(txn.db, "DELETE FROM user_session WHERE hash = ?", hash, err);
    return txn_end(&txn, ok, err);
}

// --- sessions of users --------------------------------------------------------------------------

static bool drop_user_sessions(struct db *db, struct str user, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "DELETE FROM user_session WHERE expires_ns < ?1 OR "
                                 "(user_name = ?2 AND hash NOT IN (SELECT hash FROM user_session "
                                 "WHERE user_name = ?2 ORDER BY expires_ns DESC LIMIT ?3))",
                                 err);
    sql_bind_i64(&stmt, clock_wall_ns());
    sql_bind_text(&stmt, user);
    sql_bind_i64(&stmt, STORE_SESSIONS_PER_USER - 1);
    return sql_run(&stmt);
}

bool store_add_user_session(struct store *store, const char *hash, struct str user,
                            int64_t expires_ns, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    if (!drop_user_sessions(txn.db, user, err))
        return txn_end(&txn, false, err);
    struct stmt stmt = sql_begin(txn.db,
                                 "INSERT INTO user_session (hash, prefix, user_name, expires_ns) "
                                 "VALUES (?, ?, ?, ?)",
                                 err);
    sql_bind_text(&stmt, str_of(hash));
    sql_bind_text(&stmt, prefix_of(hash));
    sql_bind_text(&stmt, user);
    sql_bind_i64(&stmt, expires_ns);
    return txn_end(&txn, sql_run(&stmt), err);
}

bool store_find_user_session(struct store *store, const char *hash, struct arena *arena,
                             struct str *user, int64_t *expires_ns, struct err *err)
{
    struct txn txn;
    *user = STR("");
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db,
                                 "SELECT hash, user_name, expires_ns FROM user_session "
                                 "WHERE prefix = ? AND expires_ns > ?",
                                 err);
    sql_bind_text(&stmt, prefix_of(hash));
    sql_bind_i64(&stmt, clock_wall_ns());
    while (!user->len && sql_row(&stmt))
        if (token_same_hash(sql_bytes(&stmt, 0), str_of(hash))) {
            *user = sql_text(&stmt, 1, arena);
            *expires_ns = sql_i64(&stmt, 2);
        }
    return txn_end(&txn, sql_end(&stmt), err);
}
