// SPDX-License-Identifier: Apache-2.0
// The bytes of a small export of Nsight Systems.
#ifndef TESTS_UNIT_NSYS_BYTES_H
#define TESTS_UNIT_NSYS_BYTES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ingest/base/buf.h"

#include <sqlite3.h>

// The process of an export that is number `index` on its node: its globalPid.
#define NSYS_PROCESS(index) ((INT64_C(1000) + (index)) << 24)

// An export of some processes, each with a kernel of 5 us on a device of its own.
static inline void put_nsys(struct buf *out, int processes)
{
    sqlite3 *db;
    sqlite3_int64 size = 0;
    struct buf sql = {0};
    buf_puts(&sql, "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
                   "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
                   "INSERT INTO StringIds VALUES (1, 'gemm');"
                   "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, "
                   "streamId INT, correlationId INT, globalPid INT, demangledName INT);");
    for (int i = 0; i < processes; i++)
        buf_printf(&sql,
                   "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 6000, %d, 7, 1, %lld, 1);",
                   processes - 1 - i, (long long)NSYS_PROCESS(processes - 1 - i));
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql.at, NULL, NULL, NULL), SQLITE_OK);
    unsigned char *bytes = sqlite3_serialize(db, "main", &size, 0);
    assert_non_null(bytes);
    buf_add(out, bytes, (size_t)size);
    sqlite3_free(bytes);
    sqlite3_close(db);
    buf_free(&sql);
}

#endif
