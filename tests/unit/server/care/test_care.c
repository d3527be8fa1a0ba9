// SPDX-License-Identifier: Apache-2.0
// The thread that looks after stored data: what it does, and how often.
#include "server/base/metrics.h"
#include "server/care/care.h"
#include "tests/unit/db_raw.h"
#include "tests/unit/folder.h"
#include "tests/unit/ready_store.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

// labels: threads

struct fixture {
    char folder[64], path[96];
    struct care_config config;
    struct err err;
};

// The number a statement returns, 0 without rows.
static int64_t ask(const struct fixture *f, const char *sql)
{
    return db_raw_number(f->path, sql);
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    snprintf(f->folder, sizeof f->folder, "/tmp/test_care.XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/db", f->folder);
    assert_non_null(f->config.intake.blobs = blob_open(f->folder, &f->err));
    assert_non_null(f->config.intake.store = ready_store_open(f->path, &f->err));
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

// Waits until a round of all duties is over, in which the row's file is checked.
static void wait_for_round(const struct fixture *f, struct care *care)
{
    ask(f, "INSERT OR REPLACE INTO blob (sha256, bytes, created_ns, checked_ns) "
           "VALUES (replace(hex(zeroblob(32)), '00', 'ab'), 1, 1, 0)");
    care_wake(care);
    while (ask(f, "SELECT count(*) FROM blob WHERE checked_ns = 0"))
        poll(NULL, 0, 2);
}

// The first round, which removes what an earlier process left; nothing wakes the thread for
// another.
static struct care *open_and_wait(const struct fixture *f, struct err *err)
{
    ask(f, "INSERT INTO blob (sha256, bytes, created_ns, checked_ns) "
           "VALUES (replace(hex(zeroblob(32)), '00', 'ab'), 1, 1, 0)");
    struct care *care = care_open(&f->config, err);
    while (care && metrics_get(f->config.metrics, METRIC_SCRUB_BLOBS) == 0)
        poll(NULL, 0, 2); // without querying the database, which would keep its log alive
    return care;
}

static void a_damaged_database_is_not_read_again_and_again(void **state)
{
    struct fixture *f = *state;
    db_raw_run(f->path,
               "PRAGMA foreign_keys = OFF; INSERT INTO run_tag VALUES ('r_gone', 'k', 'v')");
    struct care *care = care_open(&f->config, &f->err);
    assert_non_null(care);
    for (int i = 0; i < 3; i++)
        wait_for_round(f, care);
    care_close(care);
    assert_int_equal(metrics_get(f->config.metrics, METRIC_INTEGRITY_FAILURES), 1);
}

static bool tells(const struct fixture *f, const char *line)
{
    struct buf text = {0};
    metrics_write(f->config.metrics, &text);
    bool found = buf_ok(&text, NULL) && strstr(text.at, line);
    buf_free(&text);
    return found;
}

static void the_first_round_tells_how_much_is_stored(void **state)
{
    struct fixture *f = *state;
    char folder[80], name[80];
    snprintf(folder, sizeof folder, "%s/blobs/ab", f->folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    size_t len = (size_t)snprintf(name, sizeof name, "blobs/ab/");
    for (size_t i = 0; i < 64; i++)
        name[len + i] = "ab"[i % 2];
    name[len + 64] = '\0';
    folder_write(f->folder, name, "12345");
    assert_false(tells(f, "stepscope_blob_files"));
    struct care *care = open_and_wait(f, &f->err);
    assert_non_null(care);
    care_close(care);
    assert_true(tells(f, "\nstepscope_blob_files 1\n"));
    assert_true(tells(f, "\nstepscope_blob_bytes 5\n"));
    assert_true(tells(f, "\nstepscope_trace_files 0\n"));
}

static void what_a_job_replaced_goes_without_anybody_telling(void **state)
{
    struct fixture *f = *state;
    struct care *care = open_and_wait(f, &f->err);
    assert_non_null(care);
    ask(f, "INSERT INTO garbage VALUES ('trace_file', 't_abcdefghjkmn')");
    while (ask(f, "SELECT count(*) FROM garbage"))
        poll(NULL, 0, 2);
    care_close(care);
}

// What is left of an update: the way back to the program before it.
static void a_copy_of_an_older_schema_goes_with_the_next_deleted_run_and_not_before(void **state)
{
    struct fixture *f = *state;
    char copy[128];
    snprintf(copy, sizeof copy, "%s.schema-0001", f->path);
    folder_write(f->folder, "db.schema-0001", "old");
    what_a_job_replaced_goes_without_anybody_telling(state);
    assert_int_equal(access(copy, F_OK), 0);
    ask(f, "DELETE FROM blob");
    struct care *care = open_and_wait(f, &f->err);
    assert_non_null(care);
    care_wake(care);
    while (access(copy, F_OK) == 0)
        poll(NULL, 0, 2);
    care_close(care);
    folder_write(f->folder, "db.schema-0001", "old");
    f->config.crashed = true;
    assert_non_null(care = care_open(&f->config, &f->err));
    while (access(copy, F_OK) == 0)
        poll(NULL, 0, 2);
    care_close(care);
}

// An old run, an expired resumable upload, and a database that last trusted the clock that long
// ago.
static void add_what_is_old(const struct fixture *f, const char *believed_ns)
{
    char sql[160];
    ask(f, "INSERT INTO stored_run (id, project, name, series, note, created_ns) "
           "VALUES ('r_old', 'p', 'old', 'old', '', 1)");
    ask(f, "INSERT INTO resumable (id, owner, bytes, metadata, created_ns, expires_ns) "
           "VALUES ('p_old', '', 1, '', 1, 2)");
    snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO believed_clock VALUES (1, %s)", believed_ns);
    ask(f, sql);
}

static void what_is_old_goes_while_the_clock_goes_as_time_does(void **state)
{
    struct fixture *f = *state;
    add_what_is_old(f, "unixepoch() * 1000000000");
    f->config.retention.days = 1;
    struct care *care = care_open(&f->config, &f->err);
    assert_non_null(care);
    for (int i = 0; i < 2; i++)
        wait_for_round(f, care);
    care_close(care);
    assert_int_equal(ask(f, "SELECT count(*) FROM stored_run"), 0);
    assert_int_equal(ask(f, "SELECT count(*) FROM resumable"), 0);
}

static void a_clock_that_leapt_deletes_nothing_and_stays_unbelieved(void **state)
{
    struct fixture *f = *state;
    add_what_is_old(f, "(unixepoch() - 90 * 86400) * 1000000000");
    f->config.retention.days = 1;
    for (int start = 0; start < 2; start++) {
        struct care *care = care_open(&f->config, &f->err);
        assert_non_null(care);
        for (int i = 0; i < 2; i++)
            wait_for_round(f, care);
        care_close(care);
        assert_int_equal(ask(f, "SELECT count(*) FROM stored_run"), 1);
        assert_int_equal(ask(f, "SELECT count(*) FROM resumable"), 1);
    }
}

static void old_entries_of_the_audit_log_go(void **state)
{
    struct fixture *f = *state;
    add_what_is_old(f, "unixepoch() * 1000000000");
    ask(f, "INSERT INTO audit (id, at_ns, who, peer, action, object, status, request_id) "
           "VALUES (1, (unixepoch() - 10 * 86400) * 1000000000, 'a', '', '', '', "
           "204, ''), (2, (unixepoch() - 410 * 86400) * 1000000000, 'a', '', '', '', 204, '')");
    f->config.audit_days = 400;
    struct care *care = care_open(&f->config, &f->err);
    assert_non_null(care);
    for (int i = 0; i < 2; i++)
        wait_for_round(f, care);
    care_close(care);
    assert_int_equal(ask(f, "SELECT count(*) FROM audit"), 1);
    assert_int_equal(ask(f, "SELECT id FROM audit"), 1);
}

// The database counts whole seconds and refuses an entire deletion for one entry that is too young.
static void entries_go_in_the_second_in_which_they_become_old_enough(void **state)
{
    struct fixture *f = *state;
    add_what_is_old(f, "unixepoch() * 1000000000");
    ask(f, "WITH RECURSIVE later (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM later LIMIT 3000) "
           "INSERT INTO audit (id, at_ns, who, peer, action, object, status, request_id) "
           "SELECT n + 2, (unixepoch() - 30 * 86400) * 1000000000 + n * 1000000, "
           "'a', '', '', '', 204, '' FROM later");
    ask(f, "INSERT INTO audit (id, at_ns, who, peer, action, object, status, request_id) "
           "VALUES (1, 1, 'a', '', '', '', 204, '')");
    f->config.audit_days = 30;
    struct care *care = care_open(&f->config, &f->err);
    assert_non_null(care);
    for (int i = 0; i < 2; i++)
        wait_for_round(f, care);
    care_close(care);
    assert_int_equal(ask(f, "SELECT count(*) FROM audit WHERE id = 1"), 0);
}

static void the_worst_that_is_known_of_the_storage_has_a_word(void **state)
{
    struct fixture *f = *state;
    assert_string_equal(care_storage_word(NULL), "sound");
    struct care *care = care_open(&f->config, &f->err);
    assert_non_null(care);
    assert_string_equal(care_storage_word(care), "sound");
    wait_for_round(f, care);                              // finds that its file is missing
    while (strcmp(care_storage_word(care), "files") != 0) // which is counted a moment later
        poll(NULL, 0, 2);
    care_close(care);
    db_raw_run(f->path,
               "PRAGMA foreign_keys = OFF; INSERT INTO run_tag VALUES ('r_gone', 'k', 'v')");
    ask(f, "DELETE FROM database_check");
    assert_non_null(care = care_open(&f->config, &f->err));
    assert_string_not_equal(care_storage_word(care), "sound"); // found before, known at once
    wait_for_round(f, care);
    assert_string_equal(care_storage_word(care), "database");
    disk_fault_set(blob_fault(f->config.intake.blobs), "a test");
    assert_string_equal(care_storage_word(care), "disk");
    care_close(care);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_damaged_database_is_not_read_again_and_again, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_first_round_tells_how_much_is_stored, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_a_job_replaced_goes_without_anybody_telling, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            a_copy_of_an_older_schema_goes_with_the_next_deleted_run_and_not_before, set_up,
            tear_down),
        cmocka_unit_test_setup_teardown(what_is_old_goes_while_the_clock_goes_as_time_does, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_clock_that_leapt_deletes_nothing_and_stays_unbelieved,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(old_entries_of_the_audit_log_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(entries_go_in_the_second_in_which_they_become_old_enough,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_worst_that_is_known_of_the_storage_has_a_word, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
