// SPDX-License-Identifier: Apache-2.0
// Stores of tests: the schema's files, one after the other, take longer than most tests, so a
// process goes through them once and copies the result.
#ifndef TESTS_UNIT_READY_STORE_H
#define TESTS_UNIT_READY_STORE_H

#include "server/store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

// The bytes of an empty database of this version; they live as long as the process.
static inline struct str ready_database(void)
{
    static char bytes[1 << 20];
    static struct str database;
    char folder[] = "/tmp/ready_store.XXXXXX", path[sizeof folder + 4];
    struct err err = {0};
    if (database.len)
        return database;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/db", folder);
    struct store *store = store_open(path, &err);
    if (!store)
        fail_msg("%s", err.msg);
    store_close(store);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    database = (struct str){bytes, fread(bytes, 1, sizeof bytes, file)};
    assert_true(database.len > 0 && database.len < sizeof bytes);
    fclose(file);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    return database;
}

// Opens a store as store_open does; a file that does not exist yet starts as such a copy.
static inline struct store *ready_store_open(const char *path, struct err *err)
{
    if (!strstr(path, "://") && access(path, F_OK) != 0) {
        struct str database = ready_database();
        FILE *file = fopen(path, "wx");
        assert_non_null(file);
        assert_int_equal(fwrite(database.at, 1, database.len, file), database.len);
        assert_int_equal(fclose(file), 0);
    }
    return store_open(path, err);
}

#endif
