// SPDX-License-Identifier: Apache-2.0
// What is said of a transaction whose connection was lost while it was committed: that it is
// stored if, and only if, it is.
#include "tests/unit/db_raw.h"
#include "tests/unit/each_kind.h"
#include "tests/unit/folder.h"
#include "tests/unit/postgres_relay.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

struct fixture {
    const struct db_kind *kind;
    char folder[64], place[KIND_PLACE_SIZE];
    struct postgres_relay relay;
    struct db *db; // by the relay
    struct err err;
    bool is_said_stored;
    struct err said;
};

static void open_by_relay(struct fixture *f)
{
    char place[2 * KIND_PLACE_SIZE];
    const char *host = strstr(f->place, kind_server.folder);
    const char *rest = host + strlen(kind_server.folder);
    assert_true(relay_start(&f->relay, kind_server.folder, f->folder));
    snprintf(place, sizeof place, "%.*s%s%s", (int)(host - f->place), f->place, f->folder, rest);
    f->db = f->kind->open(place, DB_WRITE, NULL, &f->err);
    if (!f->db)
        fail_msg("%s", f->err.msg);
}

// Its number.
static int64_t begin_with_row(struct fixture *f, struct db *db)
{
    assert_true(f->kind->begin(db, DB_WRITE, &f->err));
    assert_true(sql_execute(db, "INSERT INTO t VALUES (1)", &f->err));
    struct stmt stmt =
        sql_begin(db, "SELECT CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT)", &f->err);
    int64_t number = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    assert_true(sql_end(&stmt));
    return number;
}

// After the first commit of a connection all goes in one message.
static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->kind = kind_of_test(state);
    *state = f;
    snprintf(f->folder, sizeof f->folder, "/tmp/test_lost.XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    if (f->kind != &db_postgres)
        return 0;
    kind_place(f->kind, f->folder, f->place);
    open_by_relay(f);
    kind_make_last_commit(f->db);
    assert_true(sql_execute(f->db, "CREATE TABLE t (a BIGINT)", &f->err));
    begin_with_row(f, f->db);
    assert_true(f->kind->commit(f->db, &f->err));
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    db_close(f->db, true);
    if (f->db)
        relay_stop(&f->relay);
    folder_remove(f->folder);
    free(f);
    return 0;
}

static void assert_rows(const struct fixture *f, int64_t expected)
{
    assert_int_equal(db_raw_number(f->place, "SELECT count(*) FROM t"), expected);
}

static void *commit(void *context)
{
    struct fixture *f = context;
    f->is_said_stored = f->kind->commit(f->db, &f->said);
    return NULL;
}

static pthread_t begin_to_commit(struct fixture *f)
{
    pthread_t thread;
    relay_lose(&f->relay, RELAY_LOSES_MESSAGE);
    assert_int_equal(pthread_create(&thread, NULL, commit, f), 0);
    assert_true(relay_await_loss(&f->relay));
    return thread;
}

static void assert_nothing_is_said_to_be_stored(struct fixture *f, pthread_t thread)
{
    relay_cut(&f->relay);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_false(f->is_said_stored);
    assert_int_equal(f->said.code, ERR_BUSY);
    assert_non_null(strstr(f->said.msg, "nothing was changed"));
}

static void what_was_committed_is_stored_although_the_answer_is_lost(void **state)
{
    struct fixture *f = *state;
    if (f->kind != &db_postgres)
        return; // no answer can be lost
    begin_with_row(f, f->db);
    relay_lose(&f->relay, RELAY_LOSES_ANSWER);
    assert_true(f->kind->commit(f->db, &f->err));
    assert_rows(f, 2);
}

static void what_does_not_arrive_changes_nothing(void **state)
{
    struct fixture *f = *state;
    if (f->kind != &db_postgres)
        return;
    begin_with_row(f, f->db);
    assert_nothing_is_said_to_be_stored(f, begin_to_commit(f));
    assert_rows(f, 1);
    begin_with_row(f, f->db); // it goes on
    assert_true(f->kind->commit(f->db, &f->err));
    assert_rows(f, 2);
}

// Of the transaction nothing was on the disk: after the crash PostgreSQL gives its number to the
// next one, which is committed.
static void a_number_that_was_given_again_proves_nothing(void **state)
{
    struct fixture *f = *state;
    if (f->kind != &db_postgres)
        return;
    kind_run(f->place, "CHECKPOINT");
    int64_t number = begin_with_row(f, f->db);
    pthread_t thread = begin_to_commit(f);
    postgres_crash(&kind_server);
    struct db *other = kind_connect(f->place);
    assert_int_equal(begin_with_row(f, other), number);
    assert_true(f->kind->commit(other, &f->err));
    assert_nothing_is_said_to_be_stored(f, thread);
    assert_rows(f, 2);
    db_close(other, true);
}

// As above, before anyone else writes.
static void a_number_that_was_not_given_again_is_nobodys(void **state)
{
    struct fixture *f = *state;
    if (f->kind != &db_postgres)
        return;
    kind_run(f->place, "CHECKPOINT");
    begin_with_row(f, f->db);
    pthread_t thread = begin_to_commit(f);
    postgres_crash(&kind_server);
    db_close(kind_connect(f->place), true);
    assert_nothing_is_said_to_be_stored(f, thread);
    assert_rows(f, 1);
}

static void marks_of_connections_that_ended_are_forgotten(void **state)
{
    struct fixture *f = *state;
    if (f->kind != &db_postgres)
        return;
    db_raw_run(f->place, "INSERT INTO last_commit VALUES (1, 1, 1)");
    struct db *other = kind_connect(f->place);
    begin_with_row(f, other);
    assert_true(f->kind->commit(other, &f->err));
    begin_with_row(f, other);
    assert_true(f->kind->commit(other, &f->err));
    db_close(other, true);
    assert_int_equal(db_raw_number(f->place, "SELECT count(*) FROM last_commit"), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_committed_is_stored_although_the_answer_is_lost),
        TEST(what_does_not_arrive_changes_nothing),
        TEST(a_number_that_was_given_again_proves_nothing),
        TEST(a_number_that_was_not_given_again_is_nobodys),
        TEST(marks_of_connections_that_ended_are_forgotten),
    };
    return run_on_each_kind(tests);
}
