// SPDX-License-Identifier: Apache-2.0
// Opens a connection to the database with the settings that all connections have.
#include "server/store/store_sql.h"

#include <stdio.h>

// What no statement of ours comes near.
static void limit(sqlite3 *db)
{
    static const struct {
        int id, most;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, 512 << 20},   {SQLITE_LIMIT_SQL_LENGTH, 256 << 10},
        {SQLITE_LIMIT_COLUMN, 256},         {SQLITE_LIMIT_EXPR_DEPTH, 200},
        {SQLITE_LIMIT_COMPOUND_SELECT, 10}, {SQLITE_LIMIT_FUNCTION_ARG, 32},
        {SQLITE_LIMIT_ATTACHED, 1},         {SQLITE_LIMIT_VARIABLE_NUMBER, 1000},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 20},   {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(db, limits[i].id, limits[i].most);
}

static bool set(sqlite3 *db, const char *pragma, struct err *err)
{
    struct stmt stmt = sql_begin(db, pragma, err);
    return sql_run(&stmt);
}

// What a hostile database file or a slip of ours could do is off.
static bool configure(sqlite3 *db, struct err *err)
{
    sqlite3_busy_timeout(db, STORE_BUSY_MS);
    sqlite3_extended_result_codes(db, 1);
    limit(db);
    if (sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) ||
        sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL) ||
        sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL) ||
        sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL) ||
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL))
        return err_set(err, ERR_INTERNAL, "database: cannot set its safe modes");
    return set(db, "PRAGMA cell_size_check = ON", err) && set(db, "PRAGMA mmap_size = 0", err) &&
           set(db, "PRAGMA cache_size = -16384", err); // KiB: the tables of a few runs
}

// A name that begins as a URI does could ask for a database elsewhere, or in memory alone.
static int open_plain(const char *path, int flags, sqlite3 **db)
{
    char plain[4096];
    int len = snprintf(plain, sizeof plain, "%s%s", path[0] == '/' ? "" : "./", path);
    if (len < 0 || (size_t)len >= sizeof plain)
        return SQLITE_CANTOPEN;
    return sqlite3_open_v2(plain, db, flags | SQLITE_OPEN_NOMUTEX, NULL);
}

sqlite3 *store_connect(const char *path, int flags, struct err *err)
{
    sqlite3 *db = NULL;
    int rc = open_plain(path, flags, &db);
    if (rc == SQLITE_CANTOPEN && !db) {
        err_set(err, ERR_USAGE, "the path %.100s... is too long", path);
        return NULL;
    }
    if (rc != SQLITE_OK) {
        err_set(err, db ? sql_code(db, rc) : ERR_MEMORY, "database %s: %s", path,
                db ? sqlite3_errmsg(db) : "out of memory");
        sqlite3_close(db);
        return NULL;
    }
    if (configure(db, err))
        return db;
    err_wrap(err, "database %s", path);
    sqlite3_close(db);
    return NULL;
}
