// SPDX-License-Identifier: Apache-2.0
// Runs tests on every kind of database. A kind is a line in db.c, and a place for its tests here.
#ifndef TESTS_UNIT_EACH_KIND_H
#define TESTS_UNIT_EACH_KIND_H

#include "server/db/db.h"
#include "server/store/schema_data.h"
#include "tests/unit/postgres_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

enum { KIND_PLACE_SIZE = 128 };

// The server that all tests of a process share, each with its own schema.
static struct postgres_server kind_server;

// A server that was just started does not answer yet.
static inline struct db *kind_connect(const char *place)
{
    enum { TRIES = 300, WAIT_NS = 50000000 };
    struct err err = {0};
    struct db *db = NULL;
    for (int i = 0; i < TRIES && !db; i++) {
        db = db_open(place, DB_WRITE, NULL, &err);
        if (!db)
            nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
    }
    if (!db)
        fail_msg("%s", err.msg);
    return db;
}

static inline void kind_run(const char *place, const char *text)
{
    struct err err = {0};
    struct db *db = kind_connect(place);
    if (!sql_execute(db, text, &err))
        fail_msg("%s: %s", text, err.msg);
    db_close(db, true);
}

// Where a test's new database will be. folder: the test's.
static inline void kind_place(const struct db_kind *kind, const char *folder,
                              char place[KIND_PLACE_SIZE])
{
    char schema[24], text[60];
    if (kind == &db_sqlite) {
        snprintf(place, KIND_PLACE_SIZE, "%s/db", folder);
        return;
    }
    snprintf(schema, sizeof schema, "test%d", kind_server.databases++);
    snprintf(text, sizeof text, "CREATE SCHEMA %s", schema);
    postgres_place(&kind_server, schema, place, KIND_PLACE_SIZE);
    kind_run(place, text);
}

// What commits need in a database without the store's tables.
static inline void kind_make_last_commit(struct db *db)
{
    enum { NUMBER = 49 };
    struct err err = {0};
    const char *text = schema_postgres.files[NUMBER - schema_postgres.first].sql;
    if (db->kind == &db_postgres && !sql_execute_all(db, text, &err))
        fail_msg("%s", err.msg);
}

// The state of a test before its set-up is the kind, as run_on_each_kind leaves it.
static inline const struct db_kind *kind_of_test(void *const *state)
{
    return *state ? *state : &db_sqlite;
}

// Whether its tests can run here. settings: of a server.
static inline bool kind_start_with(const struct db_kind *kind, const char *settings)
{
    if (kind == &db_sqlite || postgres_start_with(&kind_server, settings))
        return true;
    if (kind_server.programs[0]) {
        print_error("%s is installed, but its server cannot be made\n", kind->name);
        exit(1);
    }
    print_message("SKIPPED on %s: install postgresql\n", kind->name);
    return false;
}

static inline bool kind_start(const struct db_kind *kind)
{
    return kind_start_with(kind, "");
}

static inline int run_on_kinds(const char *group, const struct CMUnitTest *tests, size_t count)
{
    int failed = 0;
    struct CMUnitTest *own = calloc(count, sizeof *own);
    assert_non_null(own);
    for (size_t i = 0; db_kinds[i]; i++) {
        if (!kind_start(db_kinds[i]))
            continue;
        print_message("on %s:\n", db_kinds[i]->name);
        for (size_t j = 0; j < count; j++) {
            own[j] = tests[j];
            own[j].initial_state = (void *)(uintptr_t)db_kinds[i];
        }
        failed += _cmocka_run_group_tests(group, own, count, NULL, NULL);
    }
    postgres_stop(&kind_server);
    free(own);
    return failed;
}

#define run_on_each_kind(tests) run_on_kinds(#tests, tests, sizeof(tests) / sizeof(tests)[0])

#endif
