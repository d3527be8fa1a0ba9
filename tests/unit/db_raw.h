// SPDX-License-Identifier: Apache-2.0
// Statements on a test's database, bypassing the store. For tests that look behind it or damage
// what it wrote.
#ifndef TESTS_DB_RAW_H
#define TESTS_DB_RAW_H

#include "server/db/db.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static inline struct db *db_raw_open(const char *place)
{
    struct err err = {.pos = ERR_NO_POS};
    struct db *db = db_open(place, DB_WRITE, NULL, &err);
    if (!db)
        fail_msg("%s", err.msg);
    return db;
}

// Runs all statements in a text.
static inline void db_raw_run(const char *place, const char *sql)
{
    struct err err = {.pos = ERR_NO_POS};
    struct db *db = db_raw_open(place);
    if (!sql_execute_all(db, sql, &err))
        fail_msg("%s: %s", sql, err.msg);
    db_close(db, true);
}

// The number a statement returns; 0 without rows.
static inline int64_t db_raw_number(const char *place, const char *sql)
{
    struct err err = {.pos = ERR_NO_POS};
    struct db *db = db_raw_open(place);
    struct stmt stmt = sql_begin(db, sql, &err);
    int64_t number = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    if (!sql_end(&stmt))
        fail_msg("%s: %s", sql, err.msg);
    db_close(db, true);
    return number;
}

#endif
