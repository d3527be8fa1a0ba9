// SPDX-License-Identifier: Apache-2.0
// Checks a SQLite database for damage.
#include "server/db/db_sqlite.h"

#include <stdio.h>

enum { LOOK_AT_STOP_OPS = 10000, TABLE_NAME_BYTES = 128 };

struct checking {
    struct db *db;
    bool full;
    char *damage; // DB_DAMAGE_BYTES; the first damage found is kept
};

// A sound table yields "ok"; sound references yield no row.
static bool read_findings(struct stmt *stmt, const struct checking *checking, const char *prefix)
{
    while (sql_row(stmt)) {
        struct str text = sql_bytes(stmt, 0);
        if (!str_equal(text, STR("ok")) && !checking->damage[0])
            snprintf(checking->damage, DB_DAMAGE_BYTES, "%s%.*s", prefix, (int)text.len, text.at);
    }
    return sql_end(stmt);
}

static bool check_table(const struct checking *checking, struct str table, struct err *err)
{
    struct stmt stmt = sql_begin(checking->db,
                                 checking->full ? "SELECT * FROM pragma_integrity_check(?)"
                                                : "SELECT * FROM pragma_quick_check(?)",
                                 err);
    sql_bind_text(&stmt, table);
    return read_findings(&stmt, checking, "");
}

static bool check_references(const struct checking *checking, struct str table, struct err *err)
{
    struct stmt stmt =
        sql_begin(checking->db,
                  "SELECT DISTINCT \"table\" || ' names rows of ' || parent || ' that are "
                  "not there' FROM pragma_foreign_key_check(?)",
                  err);
    sql_bind_text(&stmt, table);
    return read_findings(&stmt, checking, "");
}

// The table after `name` in name order; "" at the end.
static bool next_table(struct db *db, char name[TABLE_NAME_BYTES], struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 "SELECT name FROM sqlite_schema WHERE type = 'table' AND name > ? "
                                 "ORDER BY name LIMIT 1",
                                 err);
    sql_bind_text_copy(&stmt, str_of(name));
    struct str next = sql_row(&stmt) ? sql_bytes(&stmt, 0) : STR("");
    snprintf(name, TABLE_NAME_BYTES, "%.*s", (int)next.len, next.at);
    return sql_end(&stmt);
}

// One read per table: one long read would keep the write-ahead log growing.
static bool check_tables(const struct checking *checking, struct err *err)
{
    char name[TABLE_NAME_BYTES] = "";
    while (next_table(checking->db, name, err)) {
        struct str table = str_of(name);
        if (table.len == 0)
            return true;
        if (!check_table(checking, table, err) ||
            (checking->full && !check_references(checking, table, err)))
            return false;
    }
    return false;
}

static bool check_whole(const struct checking *checking, struct err *err)
{
    struct stmt stmt = sql_begin(checking->db, "PRAGMA integrity_check", err);
    if (!read_findings(&stmt, checking, ""))
        return false;
    stmt = sql_begin(checking->db, "PRAGMA foreign_key_check", err);
    return read_findings(&stmt, checking, "references missing rows: ");
}

static int is_stopped(void *context)
{
    const atomic_bool *stop = context;
    return atomic_load(stop);
}

bool db_sqlite_check(struct db *db, enum db_check_depth depth, const atomic_bool *stop,
                     char damage[DB_DAMAGE_BYTES], struct err *err)
{
    struct checking checking = {db, depth == DB_CHECK_FULL, damage};
    sqlite3 *at = db_sqlite_of(db)->at;
    damage[0] = '\0';
    // SQLite wants a non-const pointer, but the data is only read.
    sqlite3_progress_handler(at, stop ? LOOK_AT_STOP_OPS : 0, is_stopped, (void *)(uintptr_t)stop);
    bool ok = depth == DB_CHECK_WHOLE ? check_whole(&checking, err) : check_tables(&checking, err);
    sqlite3_progress_handler(at, 0, NULL, NULL);
    return ok;
}
