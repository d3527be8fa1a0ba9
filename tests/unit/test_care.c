// SPDX-License-Identifier: Apache-2.0
// The thread that looks after what is stored: what it does, and how often.
#include "server/care.h"
#include "server/metrics.h"
#include "tests/unit/folder.h"

#include <poll.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct fixture {
    char folder[64], path[96];
    struct care_config config;
    struct err err;
};

// The number that a statement yields, 0 without rows.
static int64_t ask(const struct fixture *f, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    int64_t value = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
    assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
    sqlite3_close(db);
    return value;
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    snprintf(f->folder, sizeof f->folder, "/tmp/test_care.XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/db", f->folder);
    assert_non_null(f->config.intake.blobs = blob_open(f->folder, &f->err));
    assert_non_null(f->config.intake.store = store_open(f->path, &f->err));
    assert_non_null(f->config.metrics = metrics_new(&f->err));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    store_close(f->config.intake.store);
    blob_close(f->config.intake.blobs);
    metrics_free(f->config.metrics);
    folder_remove(f->folder);
    free(f);
    return 0;
}

// Until a round of all duties is over: the file that the row names is looked at in it.
static void wait_for_round(const struct fixture *f, struct care *care)
{
    ask(f, "INSERT OR REPLACE INTO blob (sha256, bytes, created_ns, checked_ns) "
           "VALUES (replace(hex(zeroblob(32)), '00', 'ab'), 1, 1, 0)");
    care_wake(care);
    while (ask(f, "SELECT count(*) FROM blob WHERE checked_ns = 0"))
        poll(NULL, 0, 2);
}

static void a_damaged_database_is_not_read_again_and_again(void **state)
{
    struct fixture *f = *state;
    ask(f, "INSERT INTO run_tag VALUES ('r_gone', 'k', 'v')");
    struct care *care = care_open(&f->config, &f->err);
    assert_non_null(care);
    for (int i = 0; i < 3; i++)
        wait_for_round(f, care);
    care_close(care);
    assert_int_equal(metrics_get(f->config.metrics, METRIC_INTEGRITY_FAILURES), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_damaged_database_is_not_read_again_and_again, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
