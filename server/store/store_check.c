// SPDX-License-Identifier: Apache-2.0
// Checks the service's database, or a whole file, for damage, and reads which files a database
// names.
#include "server/store/store_sql.h"

#include "ingest/base/clock.h"

#include <assert.h>
#include <stdio.h>

static_assert(STORE_DAMAGE_SIZE == DB_DAMAGE_BYTES, "what a check finds fits");

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

bool store_check_database(struct store *store, bool full, const atomic_bool *stop,
                          struct store_check *found, struct err *err)
{
    *found = (struct store_check){.checked_ns = clock_wall_ns()};
    struct db *db = db_open(store_path(store), DB_READ, NULL, err);
    bool ok =
        db && db->kind->check(db, full ? DB_CHECK_FULL : DB_CHECK_QUICK, stop, found->damage, err);
    db_close(db, true);
    if (db && !ok && atomic_load(stop))
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
    if (!txn_begin(store, DB_WRITE, &txn, err))
        return false;
    struct stmt stmt =
        sql_begin(txn.db,
                  "INSERT INTO database_check VALUES (?, ?, ?) ON CONFLICT (kind) DO UPDATE SET "
                  "checked_ns = excluded.checked_ns, damage = excluded.damage",
                  err);
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
    if (!txn_begin(store, DB_READ, &txn, err))
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

// An empty file, or another program's, can be a sound database.
static bool check_ours(struct db *db, struct err *err)
{
    int64_t version = 0;
    struct err missing;
    if (!db->kind->read_version(db, &version, err))
        return false;
    return (version > 0 && sql_execute(db, "SELECT 1 FROM blob WHERE sha256 = ''", &missing) &&
            sql_execute(db, "SELECT 1 FROM trace WHERE id = ''", &missing)) ||
           err_set(err, ERR_IO,
                   "it has none of our tables: it was emptied, or is another database");
}

static struct db *open_file(const char *path, struct err *err)
{
    struct db *db = db_open_existing(path, err);
    if (!db || check_ours(db, err))
        return db;
    db_close(db, true);
    return NULL;
}

bool store_check_file(const char *path, struct store_check *found, struct err *err)
{
    *found = (struct store_check){.checked_ns = clock_wall_ns()};
    struct db *db = open_file(path, err);
    bool ok = db && migrate_check(db, err) &&
              db->kind->check(db, DB_CHECK_WHOLE, NULL, found->damage, err);
    db_close(db, true);
    return judge(ok, found, err);
}

bool store_each_blob(const char *path,
                     bool (*visit)(void *context, const struct store_blob *blob, struct err *err),
                     void *context, struct err *err)
{
    struct db *db = open_file(path, err);
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
    db_close(db, true);
    return ok;
}

bool store_each_trace(const char *path,
                      bool (*visit)(void *context, const char *trace_id, struct err *err),
                      void *context, struct err *err)
{
    struct db *db = open_file(path, err);
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
    db_close(db, true);
    return ok;
}
