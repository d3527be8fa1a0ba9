// SPDX-License-Identifier: Apache-2.0
#include "server/db/db_sqlite_kept.h"

#include "ingest/base/hash.h"
#include "server/db/db.h"

#include <stddef.h>
#include <string.h>

static uint64_t hash_of(const char *text)
{
    return hash_bytes(text, strlen(text));
}

sqlite3_stmt *db_sqlite_kept_take(struct db_sqlite_kept *kept, const char *text)
{
    uint64_t hash = hash_of(text);
    for (unsigned i = 0; i < DB_SQLITE_KEPT; i++) {
        sqlite3_stmt *stmt = kept->slots[i].at;
        if (!stmt || kept->slots[i].hash != hash || strcmp(sqlite3_sql(stmt), text) != 0)
            continue;
        kept->slots[i].at = NULL; // a second use at the same time compiles another one
        return stmt;
    }
    return NULL;
}

static unsigned slot_to_fill(const struct db_sqlite_kept *kept)
{
    unsigned oldest = 0;
    for (unsigned i = 0; i < DB_SQLITE_KEPT; i++) {
        if (!kept->slots[i].at)
            return i;
        if (kept->slots[i].used < kept->slots[oldest].used)
            oldest = i;
    }
    return oldest;
}

bool db_sqlite_kept_put(struct db_sqlite_kept *kept, sqlite3_stmt *stmt)
{
    const char *text = sqlite3_sql(stmt);
    if (!sql_may_be_kept(text) || sqlite3_clear_bindings(stmt) != SQLITE_OK)
        return false;
    unsigned i = slot_to_fill(kept);
    sqlite3_finalize(kept->slots[i].at);
    kept->slots[i].at = stmt;
    kept->slots[i].hash = hash_of(text);
    kept->slots[i].used = ++kept->uses;
    return true;
}

void db_sqlite_kept_free(struct db_sqlite_kept *kept)
{
    for (unsigned i = 0; i < DB_SQLITE_KEPT; i++)
        sqlite3_finalize(kept->slots[i].at);
    *kept = (struct db_sqlite_kept){0};
}
