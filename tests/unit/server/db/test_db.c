// SPDX-License-Identifier: Apache-2.0
// What every kind of database does, tested on each.
#include "tests/unit/db_raw.h"
#include "tests/unit/each_kind.h"

#include "ingest/base/clock.h"
#include "server/db/db_notice.h"
#include "tests/unit/folder.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

struct fixture {
    const struct db_kind *kind;
    char folder[64], place[KIND_PLACE_SIZE];
    struct db *db;
    struct err err;
    unsigned troubles[2]; // by enum db_trouble
};

static void note_trouble(void *context, enum db_trouble trouble)
{
    ((struct fixture *)context)->troubles[trouble]++;
}

static struct db *open_db(struct fixture *f, enum db_access access)
{
    struct db_watch watch = {note_trouble, f};
    struct db *db = f->kind->open(f->place, access, &watch, &f->err);
    if (!db)
        fail_msg("%s", f->err.msg);
    return db;
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->kind = kind_of_test(state);
    snprintf(f->folder, sizeof f->folder, "/tmp/test_db.XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    kind_place(f->kind, f->folder, f->place);
    f->db = open_db(f, DB_WRITE);
    kind_make_last_commit(f->db);
    assert_true(
        sql_execute_all(f->db, "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); -- end", &f->err));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    db_close(f->db, true);
    folder_remove(f->folder);
    free(f);
    return 0;
}

static int64_t count_rows(struct fixture *f, struct db *db)
{
    struct stmt stmt = sql_begin(db, "SELECT count(*) FROM t", &f->err);
    int64_t count = sql_row(&stmt) ? sql_i64(&stmt, 0) : -1;
    assert_true(sql_end(&stmt));
    return count;
}

static void insert(struct fixture *f, int64_t a, struct str b)
{
    struct stmt stmt = sql_begin(f->db, "INSERT INTO t VALUES (?, ?)", &f->err);
    sql_bind_i64(&stmt, a);
    sql_bind_text(&stmt, b);
    assert_true(sql_run(&stmt));
}

static void values_come_back_as_they_went(void **state)
{
    struct fixture *f = *state;
    struct arena arena;
    arena_init(&arena, NULL);
    char gone[] = "copied";
    struct stmt stmt = sql_begin(f->db, "SELECT ?, ?, ?, ?, ?, ?", &f->err);
    sql_bind_i64(&stmt, INT64_MIN);
    sql_bind_f64(&stmt, 0.1);
    sql_bind_text_copy(&stmt, str_of(gone));
    sql_bind_bytes(&stmt, (struct str){"a\0b", 3});
    sql_bind_null(&stmt);
    sql_bind_u64(&stmt, UINT64_MAX);
    gone[0] = 'x';
    assert_true(sql_row(&stmt));
    assert_true(sql_is_i64(&stmt, 0));
    assert_true(sql_i64(&stmt, 0) == INT64_MIN);
    assert_false(sql_f64(&stmt, 1) < 0.1 || sql_f64(&stmt, 1) > 0.1);
    assert_string_equal(sql_text(&stmt, 2, &arena).at, "copied");
    assert_true(str_equal(sql_bytes(&stmt, 3), (struct str){"a\0b", 3}));
    assert_true(sql_is_null(&stmt, 4) && !sql_is_null(&stmt, 3));
    assert_int_equal(sql_i64_or(&stmt, 4, 7), 7);
    assert_true(sql_i64(&stmt, 5) == INT64_MAX);
    assert_false(sql_row(&stmt));
    assert_true(sql_end(&stmt));
    arena_free(&arena);
}

static void the_first_failure_stays(void **state)
{
    struct fixture *f = *state;
    insert(f, 1, STR("one"));
    struct stmt stmt = sql_begin(f->db, "INSERT INTO t VALUES (?, ?)", &f->err);
    sql_bind_i64(&stmt, 1);
    sql_bind_text(&stmt, STR("again"));
    sql_step(&stmt);
    assert_true(stmt.failed);
    sql_bind_i64(&stmt, 2);
    sql_step(&stmt);
    assert_false(sql_end(&stmt));
    assert_int_equal(f->err.code, ERR_CONFLICT);
    assert_int_equal(count_rows(f, f->db), 1);
    stmt = sql_begin(f->db, "SELECT nothing FROM nowhere", &f->err);
    assert_false(sql_row(&stmt));
    assert_true(stmt.failed);
    assert_false(sql_end(&stmt));
    assert_int_equal(f->troubles[DB_DISK_FULL], 0); // it is not the disk's fault
}

// A database that may not grow is like one on a full disk.
static void a_full_disk_is_reported(void **state)
{
    struct fixture *f = *state;
    if (f->kind != &db_sqlite)
        skip();
    static char text[4096];
    memset(text, 'x', sizeof text);
    assert_true(sql_execute(f->db, "PRAGMA max_page_count = 20", &f->err));
    struct stmt stmt = sql_begin(f->db, "INSERT INTO t (b) VALUES (?)", &f->err);
    for (int i = 0; i < 100 && !stmt.failed; i++) {
        sql_bind_text(&stmt, (struct str){text, sizeof text});
        sql_step(&stmt);
    }
    assert_false(sql_end(&stmt));
    assert_int_equal(f->err.code, ERR_SPACE);
    assert_int_equal(f->troubles[DB_DISK_FULL], 1);
    assert_int_equal(f->troubles[DB_FLUSH_FAILED], 0);
}

static void the_log_is_emptied_and_a_clean_end_is_known(void **state)
{
    struct fixture *f = *state;
    if (f->kind != &db_sqlite)
        skip();
    bool done;
    insert(f, 1, STR("one"));
    assert_true(f->kind->sizes(f->db).data_bytes > 0);
    assert_true(f->kind->sizes(f->db).log_bytes > 0);
    assert_true(f->kind->empty_log(f->db, &done, &f->err));
    assert_true(done);
    assert_int_equal(f->kind->sizes(f->db).log_bytes, 0);
    db_close(f->db, true);
    f->db = open_db(f, DB_WRITE);
    assert_false(f->kind->was_unclean(f->db));
    insert(f, 2, STR("two"));
    struct db *other = open_db(f, DB_READ); // the log is still there
    assert_true(f->kind->was_unclean(other));
    db_close(other, true);
}

static void changes_are_counted(void **state)
{
    struct fixture *f = *state;
    for (int64_t a = 0; a < 5; a++)
        insert(f, a, STR("x"));
    assert_true(sql_execute(f->db, "UPDATE t SET b = 'y' WHERE a >= 2", &f->err));
    assert_int_equal(db_changes(f->db), 3);
}

// --- writing transactions -----------------------------------------------------------------------

static bool begin(struct fixture *f)
{
    return f->kind->begin(f->db, DB_WRITE, &f->err);
}

static bool end(struct fixture *f, bool ok)
{
    ok = ok && f->kind->commit(f->db, &f->err);
    if (!ok)
        f->kind->rollback(f->db);
    return ok;
}

static bool insert_later(struct fixture *f, int64_t a)
{
    struct stmt stmt = sql_begin(f->db, "INSERT INTO t VALUES (?, ?)", &f->err);
    sql_bind_i64(&stmt, a);
    sql_bind_text(&stmt, STR("later"));
    return sql_run_later(&stmt);
}

static void more_may_be_answered_later_than_are_on_their_way(void **state)
{
    enum { ROWS = 500 };
    struct fixture *f = *state;
    assert_true(begin(f));
    for (int64_t a = 0; a < ROWS; a++)
        assert_true(insert_later(f, a));
    assert_int_equal(count_rows(f, f->db), ROWS);
    assert_true(end(f, insert_later(f, ROWS)));
    assert_int_equal(count_rows(f, f->db), ROWS + 1);
}

static void end_connection(struct fixture *f, int64_t pid)
{
    struct db *other = open_db(f, DB_WRITE);
    struct stmt stmt = sql_begin(
        other, "SELECT CAST(pg_terminate_backend(CAST(? AS INTEGER), 5000) AS INTEGER)", &f->err);
    sql_bind_i64(&stmt, pid);
    assert_true(sql_row(&stmt) && sql_i64(&stmt, 0) == 1);
    assert_true(sql_end(&stmt));
    db_close(other, true);
}

static void nothing_stays_if_the_connection_ends_before_the_answers(void **state)
{
    struct fixture *f = *state;
    if (f->kind != &db_postgres)
        return;
    assert_true(begin(f));
    insert(f, 1, STR("first"));
    struct stmt stmt = sql_begin(f->db, "SELECT pg_backend_pid()", &f->err);
    int64_t pid = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    assert_true(sql_end(&stmt));
    assert_true(insert_later(f, 2));
    end_connection(f, pid);
    assert_false(end(f, insert_later(f, 3)));
    assert_int_equal(f->err.code, ERR_BUSY);
    assert_int_equal(count_rows(f, f->db), 0);
    assert_true(begin(f) && insert_later(f, 1) && insert_later(f, 2));
    assert_true(end(f, true));
    assert_int_equal(count_rows(f, f->db), 2);
}

static bool select_nth(struct fixture *f, int n)
{
    char text[60];
    snprintf(text, sizeof text, "SELECT a + %d FROM t WHERE a = ?", n);
    struct stmt stmt = sql_begin(f->db, text, &f->err);
    sql_bind_i64(&stmt, 1);
    return sql_run(&stmt);
}

// As many as no connection keeps plans of, and one that comes after a failure.
static void a_failure_leaves_plans_that_can_be_replaced(void **state)
{
    enum { MANY = 200 };
    struct fixture *f = *state;
    insert(f, 1, STR("first"));
    assert_true(begin(f));
    for (int n = 0; n < MANY; n++)
        assert_true(select_nth(f, n));
    assert_false(sql_execute(f->db, "INSERT INTO t VALUES (1, 'twice')", &f->err));
    bool ok = select_nth(f, MANY);
    assert_true(ok || f->kind == &db_postgres);
    end(f, false);
    assert_true(begin(f));
    for (int n = 0; n <= MANY; n++)
        assert_true(select_nth(f, n));
    assert_true(end(f, true));
}

static bool is_locked(int folder)
{
    bool is_free = flock(folder, LOCK_EX | LOCK_NB) == 0;
    if (is_free)
        flock(folder, LOCK_UN);
    return !is_free;
}

// Of another process, such as a command beside the service.
static void a_checkpoint_waits_for_who_writes(void **state)
{
    struct fixture *f = *state;
    if (f->kind != &db_sqlite)
        skip();
    bool done = true;
    int folder = open(f->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(begin(f));
    insert(f, 1, STR("one"));
    assert_true(is_locked(folder));
    assert_true(end(f, true));
    assert_false(is_locked(folder));
    assert_true(begin(f));
    assert_true(is_locked(folder));
    assert_false(end(f, false));
    assert_int_equal(flock(folder, LOCK_EX | LOCK_NB), 0);
    assert_true(f->kind->empty_log(f->db, &done, &f->err));
    assert_false(done);
    assert_true(f->kind->sizes(f->db).log_bytes > 0);
    assert_false(begin(f)); // it has waited for a while
    assert_int_equal(f->err.code, ERR_BUSY);
    close(folder);
    assert_true(f->kind->empty_log(f->db, &done, &f->err));
    assert_true(done);
}

static void a_reader_sees_what_was_committed(void **state)
{
    struct fixture *f = *state;
    struct db *reader = open_db(f, DB_READ);
    assert_true(f->kind->begin(f->db, DB_WRITE, &f->err));
    insert(f, 1, STR("one"));
    assert_int_equal(count_rows(f, reader), 0);
    f->kind->rollback(f->db);
    assert_int_equal(count_rows(f, f->db), 0);
    assert_true(f->kind->begin(f->db, DB_WRITE, &f->err));
    insert(f, 1, STR("one"));
    assert_true(f->kind->commit(f->db, &f->err));
    assert_int_equal(count_rows(f, reader), 1);
    struct stmt stmt = sql_begin(reader, "DELETE FROM t", &f->err);
    assert_false(sql_run(&stmt)); // it only reads
    db_close(reader, true);
}

static void a_read_ends_at_its_deadline(void **state)
{
    struct fixture *f = *state;
    const char *endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                          "SELECT count(*) FROM n";
    f->kind->limit_time(f->db, clock_mono_ns() + 1000000);
    assert_true(f->kind->begin(f->db, DB_READ, &f->err));
    assert_false(sql_execute(f->db, endless, &f->err));
    assert_int_equal(f->err.code, ERR_BUSY);
    f->kind->rollback(f->db);
    assert_int_equal(count_rows(f, f->db), 0); // the next one has no limit
}

static void a_copy_is_whole_and_sound(void **state)
{
    struct fixture *f = *state;
    if (f->kind != &db_sqlite)
        skip();
    char to[128], damage[DB_DAMAGE_BYTES];
    snprintf(to, sizeof to, "%s/copy", f->folder);
    insert(f, 1, STR("one"));
    assert_true(f->kind->write_version(f->db, 12, &f->err));
    assert_true(f->kind->copy(f->db, to, &f->err));
    assert_false(f->kind->copy(f->db, to, &f->err));
    assert_int_equal(f->err.code, ERR_CONFLICT);
    struct db *copy = db_open_existing(to, &f->err);
    assert_non_null(copy);
    int64_t version = 0;
    assert_true(f->kind->read_version(copy, &version, &f->err));
    assert_int_equal(version, 12);
    assert_int_equal(count_rows(f, copy), 1);
    for (enum db_check_depth depth = DB_CHECK_QUICK; depth <= DB_CHECK_WHOLE; depth++) {
        assert_true(f->kind->check(copy, depth, NULL, damage, &f->err));
        assert_string_equal(damage, "");
    }
    db_close(copy, true);
}

static void a_missing_database_is_not_made_by_reading(void **state)
{
    struct fixture *f = *state;
    assert_null(db_open_existing("/nowhere/db", &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
    assert_null(db_open("gopher://host/db", DB_WRITE, NULL, &f->err));
    assert_int_equal(f->err.code, ERR_USAGE);
}

static void count_word(void *context)
{
    atomic_fetch_add((atomic_int *)context, 1);
}

static void wait_for_count(const atomic_int *count, int least)
{
    enum { TRIES = 600, WAIT_NS = 20000000 };
    for (int i = 0; i < TRIES && atomic_load(count) < least; i++)
        nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
    assert_int_equal(atomic_load(count), least);
}

// Each looks once it listens.
static void services_tell_each_other_and_listen_again_after_they_lost_the_database(void **state)
{
    struct fixture *f = *state;
    atomic_int counts[2] = {0, 0};
    struct db_notice *notices[2];
    for (int i = 0; i < 2; i++)
        notices[i] = db_notice_open(f->place, count_word, &counts[i], &f->err);
    if (f->kind == &db_sqlite) {
        assert_null(notices[0]);
        assert_int_equal(f->err.code, ERR_UNSUPPORTED);
        return;
    }
    wait_for_count(&counts[0], 1);
    wait_for_count(&counts[1], 1);
    db_notice_tell(notices[0]);
    wait_for_count(&counts[1], 2);
    db_notice_tell(notices[1]);
    wait_for_count(&counts[0], 2);
    assert_int_equal(counts[1], 2); // not its own word
    assert_true(sql_execute(f->db,
                            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> "
                            "pg_backend_pid() AND query LIKE '%pg_notify%'",
                            &f->err));
    wait_for_count(&counts[0], 3);
    wait_for_count(&counts[1], 3);
    db_notice_tell(notices[0]);
    wait_for_count(&counts[1], 4);
    db_notice_close(notices[0]);
    db_notice_close(notices[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_come_back_as_they_went),
        TEST(the_first_failure_stays),
        TEST(a_full_disk_is_reported),
        TEST(the_log_is_emptied_and_a_clean_end_is_known),
        TEST(changes_are_counted),
        TEST(more_may_be_answered_later_than_are_on_their_way),
        TEST(nothing_stays_if_the_connection_ends_before_the_answers),
        TEST(a_failure_leaves_plans_that_can_be_replaced),
        TEST(a_checkpoint_waits_for_who_writes),
        TEST(a_reader_sees_what_was_committed),
        TEST(a_read_ends_at_its_deadline),
        TEST(a_copy_is_whole_and_sound),
        TEST(a_missing_database_is_not_made_by_reading),
        TEST(services_tell_each_other_and_listen_again_after_they_lost_the_database),
    };
    return run_on_each_kind(tests);
}
