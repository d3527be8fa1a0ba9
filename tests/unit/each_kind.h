// SPDX-License-Identifier: Apache-2.0
// Runs tests on every kind of database. A kind is a line in db.c, and a place for its tests here.
#ifndef TESTS_UNIT_EACH_KIND_H
#define TESTS_UNIT_EACH_KIND_H

#include "server/db/db.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { KIND_PLACE_SIZE = 96 };

// Where a test's new database will be. folder: the test's own.
static inline void kind_place(const struct db_kind *kind, const char *folder,
                              char place[KIND_PLACE_SIZE])
{
    if (kind != &db_sqlite)
        fail_msg("no place for tests of %s", kind->name);
    snprintf(place, KIND_PLACE_SIZE, "%s/db", folder);
}

// The state of a test before its set-up is the kind, as run_on_each_kind leaves it.
static inline const struct db_kind *kind_of_test(void *const *state)
{
    return *state ? *state : &db_sqlite;
}

static inline int run_on_kinds(const char *group, const struct CMUnitTest *tests, size_t count)
{
    int failed = 0;
    struct CMUnitTest *own = calloc(count, sizeof *own);
    assert_non_null(own);
    for (size_t i = 0; db_kinds[i]; i++) {
        print_message("on %s:\n", db_kinds[i]->name);
        for (size_t j = 0; j < count; j++) {
            own[j] = tests[j];
            own[j].initial_state = (void *)(uintptr_t)db_kinds[i];
        }
        failed += _cmocka_run_group_tests(group, own, count, NULL, NULL);
    }
    free(own);
    return failed;
}

#define run_on_each_kind(tests) run_on_kinds(#tests, tests, sizeof(tests) / sizeof(tests)[0])

#endif
