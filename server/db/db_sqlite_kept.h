// SPDX-License-Identifier: Apache-2.0
// Statements a connection keeps after use, so that the same text is not parsed again: parsing takes
// longer than most of what the service asks.
#ifndef SERVER_DB_SQLITE_KEPT_H
#define SERVER_DB_SQLITE_KEPT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

enum { DB_SQLITE_KEPT = 64 };

struct db_sqlite_kept {
    struct {
        sqlite3_stmt *at; // NULL: free
        uint64_t hash;    // of its text
        uint64_t used;    // the higher, the later
    } slots[DB_SQLITE_KEPT];
    uint64_t uses;
};

// The statement of exactly this text, without values; it is the caller's until it is put back. NULL
// if there is none.
sqlite3_stmt *db_sqlite_kept_take(struct db_sqlite_kept *kept, const char *text);

// Keeps a statement that was reset, replacing the least recently used. False, and the statement
// remains the caller's, if merely compiling it may have an effect.
bool db_sqlite_kept_put(struct db_sqlite_kept *kept, sqlite3_stmt *stmt);

// Finalizes all kept statements.
void db_sqlite_kept_free(struct db_sqlite_kept *kept);

#endif
