// SPDX-License-Identifier: Apache-2.0
// Brings a database's schema to the newest version: numbered files, each once, all in one
// transaction, never backwards.
#include "server/store/schema_data.h"
#include "server/store/store_sql.h"

#include "ingest/base/log.h"

#include <stdio.h>

static bool read_version(sqlite3 *db, int64_t *version, struct err *err)
{
    struct stmt stmt = sql_begin(db, "PRAGMA user_version", err);
    *version = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    return sql_end(&stmt);
}

// Runs all statements of a migration's text.
static bool apply(sqlite3 *db, const struct migration *migration, struct err *err)
{
    const char *text = migration->sql;
    while (*text) {
        struct stmt stmt = {.db = db, .err = err};
        int rc = sqlite3_prepare_v2(db, text, -1, &stmt.at, &text);
        if (rc == SQLITE_OK && !stmt.at)
            break; // only space and comments are left
        if (rc != SQLITE_OK)
            return err_set(err, ERR_INTERNAL, "%s: %s", migration->name, sqlite3_errmsg(db));
        if (!sql_run(&stmt))
            return err_wrap(err, "%s", migration->name);
    }
    return true;
}

static bool apply_from(sqlite3 *db, int version, struct err *err)
{
    for (int i = version; i < schema_count; i++)
        if (!apply(db, &schema_migrations[i], err))
            return false;
    char pragma[40]; // a pragma takes no parameters
    snprintf(pragma, sizeof pragma, "PRAGMA user_version = %d", schema_count);
    struct stmt stmt = sql_begin(db, pragma, err);
    return sql_run(&stmt);
}

static bool migrate(sqlite3 *db, int64_t version, struct err *err)
{
    bool ok = apply_from(db, (int)version, err);
    if (ok && version)
        log_info("database schema upgraded from %lld to %d", (long long)version, schema_count);
    return ok;
}

// In one transaction; version is what stands there now.
static bool migrate_in_one(sqlite3 *db, struct err *err)
{
    struct stmt begin = sql_begin(db, "BEGIN IMMEDIATE", err);
    int64_t version;
    if (!sql_run(&begin))
        return false;
    bool ok =
        read_version(db, &version, err) && (version >= schema_count || migrate(db, version, err));
    struct stmt end = sql_begin(db, ok ? "COMMIT" : "ROLLBACK", ok ? err : NULL);
    return sql_run(&end) && ok;
}

static bool check_version(int64_t version, struct err *err)
{
    return version <= schema_count ||
           err_set(err, ERR_UNSUPPORTED,
                   "the database has schema %lld, this program supports up to %d: run a newer one",
                   (long long)version, schema_count);
}

bool migrate_check(sqlite3 *db, struct err *err)
{
    int64_t version;
    return read_version(db, &version, err) && check_version(version, err);
}

bool migrate_schema(sqlite3 *db, const char *path, struct err *err)
{
    int64_t version;
    if (!read_version(db, &version, err) || !check_version(version, err))
        return false;
    if (version == schema_count)
        return true;
    return (version == 0 || copy_before_schema(db, path, version, err)) && migrate_in_one(db, err);
}
