// SPDX-License-Identifier: Apache-2.0
// Looks through the database for damage: beside the service table by table, so that no long read
// keeps the log of writes growing; and a whole file at once.
#include "server/store/store_sql.h"

#include "ingest/base/clock.h"

#include <stdio.h>
#include <unistd.h>

enum { LOOK_AT_STOP_OPS = 10000 };

static int is_stopped(void *context)
{
    const atomic_bool *stop = context;
    return atomic_load(stop);
}

// Keeps the first thing that a check's rows tell; a sound table tells "ok", sound references none.
static bool read_findings(struct stmt *stmt, const char *prefix, struct store_check *found)
{
    while (sql_row(stmt)) {
        struct str text = sql_bytes(stmt, 0);
        if (!str_equal(text, STR("ok")) && !found->damage[0])
            snprintf(found->damage, sizeof found->damage, "%s%.*s", prefix, (int)text.len, text.at);
    }
    return sql_end(stmt);
}

// A database that cannot even be read is damaged, too.
static bool judge(bool ok, struct store_check *found, const struct err *err)
{
    if (ok || err->code != ERR_IO)
        return ok;
    if (!found->damage[0])
        snprintf(found->damage, sizeof found->damage, "%.190s", err->msg);
    return true;
}

// --- beside the service -------------------------------------------------------------------------

struct looking {
    sqlite3 *db;
    bool full;
    struct store_check *found;
};

static bool check_table(const struct looking *looking, struct str table, struct err *err)
{
    struct stmt stmt = sql_begin(looking->db,
                                 looking->full ? "SELECT * FROM pragma_integrity_check(?)"
                                               : "SELECT * FROM pragma_quick_check(?)",
                                 err);
    sql_bind_text(&stmt, table);
    return read_findings(&stmt, "", looking->found);
}

static bool check_references(const struct looking *looking, struct str table, struct err *err)
{
    struct stmt stmt =
        sql_begin(looking->db,
                  "SELECT DISTINCT \"table\" || ' names rows of ' || parent || ' that are "
                  "not there' FROM pragma_foreign_key_check(?)",
                  err);
    sql_bind_text(&stmt, table);
    return read_findings(&stmt, "", looking->found);
}

static bool list_tables(sqlite3 *db, struct arena *arena, struct str **names, size_t *count,
                        struct err *err)
{
    struct stmt stmt =
        sql_begin(db, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", err);
    *names = NULL;
    *count = 0;
    while (sql_row(&stmt)) {
        *names = sql_grow(arena, *names, *count, sizeof **names, err);
        if (!*names) {
            stmt.failed = true;
            break;
        }
        (*names)[(*count)++] = sql_text(&stmt, 0, arena);
    }
    return sql_end(&stmt);
}

static bool check_tables(const struct looking *looking, struct arena *arena, struct err *err)
{
    struct str *names;
    size_t count;
    if (!list_tables(looking->db, arena, &names, &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!check_table(looking, names[i], err) ||
            (looking->full && !check_references(looking, names[i], err)))
            return false;
    return true;
}

bool store_check_database(struct store *store, bool full, const atomic_bool *stop,
                          struct store_check *found, struct err *err)
{
    struct arena arena;
    *found = (struct store_check){.checked_ns = clock_wall_ns()};
    sqlite3 *db = store_connect(store_path(store), SQLITE_OPEN_READONLY, err);
    if (!db)
        return judge(false, found, err);
    // SQLite asks with a pointer of its own type; what it points to is only read.
    sqlite3_progress_handler(db, LOOK_AT_STOP_OPS, is_stopped, (void *)(uintptr_t)stop);
    arena_init(&arena, NULL);
    struct looking looking = {db, full, found};
    bool ok = check_tables(&looking, &arena, err);
    arena_free(&arena);
    sqlite3_close(db);
    if (!ok && atomic_load(stop))
        return err_set(err, ERR_CANCELLED, "stopped while the database was checked");
    return judge(ok, found, err);
}

static struct str word_of(bool full)
{
    return full ? STR("full") : STR("quick");
}

bool store_note_check(struct store *store, bool full, const struct store_check *found,
                      struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, TXN_WRITE, &txn, err))
        return false;
    struct stmt stmt =
        sql_begin(txn.db, "INSERT OR REPLACE INTO database_check VALUES (?, ?, ?)", err);
    sql_bind_text(&stmt, word_of(full));
    sql_bind_i64(&stmt, found->checked_ns);
    sql_bind_text(&stmt, str_of(found->damage));
    bool ok = sql_run(&stmt);
    return txn_end(&txn, ok, err);
}

bool store_last_check(struct store *store, bool full, struct store_check *found, struct err *err)
{
    struct txn txn;
    *found = (struct store_check){0};
    if (!txn_begin(store, TXN_READ, &txn, err))
        return false;
    struct stmt stmt =
        sql_begin(txn.db, "SELECT checked_ns, damage FROM database_check WHERE kind = ?", err);
    sql_bind_text(&stmt, word_of(full));
    if (sql_row(&stmt)) {
        struct str damage = sql_bytes(&stmt, 1);
        found->checked_ns = sql_i64(&stmt, 0);
        snprintf(found->damage, sizeof found->damage, "%.*s", (int)damage.len, damage.at);
    }
    bool ok = sql_end(&stmt);
    return txn_end(&txn, ok, err);
}

// --- a whole file -------------------------------------------------------------------------------

// SQLite takes a file of no bytes for a sound database.
static bool check_filled(sqlite3 *db, struct err *err)
{
    struct stmt stmt =
        sql_begin(db, "SELECT count(*) FROM sqlite_schema WHERE name IN ('blob', 'trace')", err);
    bool is_filled = sql_row(&stmt) && sql_i64(&stmt, 0) == 2;
    return sql_end(&stmt) &&
           (is_filled ||
            err_set(err, ERR_IO,
                    "it has none of our tables: it was emptied, or is another database"));
}

static sqlite3 *open_file(const char *path, struct err *err)
{
    if (access(path, F_OK) != 0) {
        err_set(err, ERR_NOT_FOUND, "found no database %s", path);
        return NULL;
    }
    sqlite3 *db = store_connect(path, SQLITE_OPEN_READONLY, err);
    if (!db || check_filled(db, err))
        return db;
    sqlite3_close(db);
    return NULL;
}

static bool check_whole(sqlite3 *db, struct store_check *found, struct err *err)
{
    struct stmt stmt = sql_begin(db, "PRAGMA integrity_check", err);
    if (!read_findings(&stmt, "", found))
        return false;
    stmt = sql_begin(db, "PRAGMA foreign_key_check", err);
    return read_findings(&stmt, "references missing rows: ", found);
}

bool store_check_file(const char *path, struct store_check *found, struct err *err)
{
    *found = (struct store_check){.checked_ns = clock_wall_ns()};
    sqlite3 *db = open_file(path, err);
    bool ok = db && migrate_check(db, err) && check_whole(db, found, err);
    sqlite3_close(db);
    return judge(ok, found, err);
}

bool store_each_blob(const char *path,
                     bool (*visit)(void *context, const struct store_blob *blob, struct err *err),
                     void *context, struct err *err)
{
    sqlite3 *db = open_file(path, err);
    if (!db)
        return false;
    struct stmt stmt = sql_begin(db, "SELECT sha256, bytes FROM blob ORDER BY sha256", err);
    while (sql_row(&stmt)) {
        struct store_blob blob = {.bytes = sql_i64(&stmt, 1)};
        struct str sha256 = sql_bytes(&stmt, 0);
        snprintf(blob.sha256, sizeof blob.sha256, "%.*s", (int)sha256.len, sha256.at);
        if (!visit(context, &blob, err)) {
            stmt.failed = true;
            break;
        }
    }
    bool ok = sql_end(&stmt);
    sqlite3_close(db);
    return ok;
}

bool store_each_trace(const char *path,
                      bool (*visit)(void *context, const char *trace_id, struct err *err),
                      void *context, struct err *err)
{
    sqlite3 *db = open_file(path, err);
    if (!db)
        return false;
    struct stmt stmt = sql_begin(db, "SELECT id FROM trace ORDER BY id", err);
    while (sql_row(&stmt)) {
        char id[STORE_ID_SIZE];
        struct str text = sql_bytes(&stmt, 0);
        snprintf(id, sizeof id, "%.*s", (int)text.len, text.at);
        if (!visit(context, id, err)) {
            stmt.failed = true;
            break;
        }
    }
    bool ok = sql_end(&stmt);
    sqlite3_close(db);
    return ok;
}
