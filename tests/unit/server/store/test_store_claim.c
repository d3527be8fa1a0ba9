// SPDX-License-Identifier: Apache-2.0
// Services that claim at the same time from one database, and versions that tell its states apart.
#include "tests/unit/store_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

enum { SERVICES = 3, JOBS = 120 };

static void fill(struct fixture *f)
{
    char hash[65], text[1600];
    memset(hash, '0', 64);
    hash[64] = '\0';
    snprintf(
        text, sizeof text,
        "INSERT INTO stored_run (id, project, name, series, created_ns, received) VALUES "
        "('r_0', 'p', 'a', 'a', 1, 60), ('r_1', 'p', 'b', 'b', 2, 60);"
        "INSERT INTO run_text (run_id, text) "
        "VALUES ('r_0', 'a\np\n\n\n\n\n'), ('r_1', 'b\np\n\n\n\n\n');"
        "INSERT INTO series (project, series, runs, first_ns, last_ns, changed, judged) "
        "VALUES ('p', 'a', 1, 1, 1, 0, 0), ('p', 'b', 1, 2, 2, 0, 0);"
        "INSERT INTO blob (sha256, bytes, created_ns) VALUES ('%s', 1, 1);"
        "INSERT INTO trace (id, run_id, rank, rank_from, sha256, filename, bytes, uploaded_ns, "
        "state) WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 119) "
        "SELECT 't_' || i, 'r_' || (i %% 2), i / 2, 'field', '%s', 'x', 1, i, 'queued' FROM n;"
        "INSERT INTO job (kind, run_id, trace_id, created_ns, due_ns) "
        "SELECT 'trace', run_id, id, 1, uploaded_ns FROM trace;",
        hash, hash);
    db_raw_run(f->path, text);
}

// Exits with the number of claimed jobs.
static _Noreturn void claim_some(const struct fixture *f, int service, int most)
{
    char owner[16];
    struct err err;
    struct arena arena;
    struct job job;
    bool found = true;
    int count = 0;
    snprintf(owner, sizeof owner, "n_%d", service);
    arena_init(&arena, NULL);
    struct store *store = store_open_as(f->path, owner, &err);
    while (store && found && count < most) {
        if (!store_claim_job(store, &arena, &job, &found, &err))
            _exit(255);
        count += found;
    }
    _exit(store ? count : 255);
}

static int claimed_by_all(const struct fixture *f, int most)
{
    int sum = 0, status;
    pid_t services[SERVICES];
    fflush(NULL);
    for (int i = 0; i < SERVICES; i++) {
        services[i] = fork();
        if (services[i] == 0)
            claim_some(f, i, most);
    }
    for (int i = 0; i < SERVICES; i++) {
        assert_int_equal(waitpid(services[i], &status, 0), services[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 255);
        sum += WEXITSTATUS(status);
    }
    return sum;
}

static void each_job_is_claimed_once_and_counted(void **state)
{
    struct fixture *f = *state;
    fill(f);
    assert_int_equal(claimed_by_all(f, JOBS), JOBS);
    assert_int_equal(db_raw_number(f->path, "SELECT count(*) FROM job WHERE state = 'running' AND "
                                            "attempts = 1"),
                     JOBS);
    assert_int_equal(db_raw_number(f->path, "SELECT CAST(sum(running) AS BIGINT) FROM stored_run"),
                     JOBS);
    assert_nothing_drifted(f->path);
}

static void a_job_that_was_running_in_a_crash_runs_alone(void **state)
{
    struct fixture *f = *state;
    fill(f);
    db_raw_run(f->path, "UPDATE job SET crashes = 1 WHERE trace_id = 't_0'");
    assert_int_equal(claimed_by_all(f, JOBS), 1);
    assert_int_equal(
        db_raw_number(f->path, "SELECT count(*) FROM job WHERE state = 'running' AND crashes = 1"),
        1);
}

// Until a service waits for another one's lock.
static void await_waiting_service(struct fixture *f)
{
    enum { TRIES = 500, WAIT_US = 20000 };
    for (int i = 0; i < TRIES; i++) {
        if (db_raw_number(f->path, "SELECT count(*) FROM pg_locks WHERE NOT granted"))
            return;
        usleep(WAIT_US);
    }
    fail_msg("no service waits");
}

// Another service looks at it at this moment, which keeps its row.
static void a_job_that_runs_alone_is_not_passed_over(void **state)
{
    struct fixture *f = *state;
    int status;
    if (is_on_sqlite(f))
        return; // one service at a time
    fill(f);
    db_raw_run(f->path, "UPDATE job SET crashes = 1 WHERE trace_id = 't_0'");
    struct db *other = db_raw_open(f->path);
    assert_true(other->kind->begin(other, DB_BESIDE, &f->err));
    assert_true(
        sql_execute(other, "UPDATE job SET attempts = attempts WHERE trace_id = 't_0'", &f->err));
    fflush(NULL);
    pid_t service = fork();
    if (service == 0)
        claim_some(f, 0, 1);
    await_waiting_service(f);
    other->kind->rollback(other);
    assert_int_equal(waitpid(service, &status, 0), service);
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_int_equal(
        db_raw_number(f->path, "SELECT count(*) FROM job WHERE state = 'running' AND crashes = 1"),
        1);
    db_close(other, true);
}

// --- services that do everything at once --------------------------------------------------------

enum { OWN_RANKS = 40, SAME_RANK = 999 };

static bool store_rank(struct store *store, const char *run, int rank)
{
    char sha256[STORE_SHA256_SIZE];
    struct arena arena;
    struct upload upload;
    struct err err;
    fill_sha256(sha256, '0');
    snprintf(sha256 + 40, sizeof sha256 - 40, "%024d", rank);
    struct trace_part part = {.sha256 = sha256, .bytes = 9, .filename = STR("x"), .rank = rank};
    struct run_tag tag = {STR("job"), STR("nightly")};
    struct upload_request request = {
        .run = {.name = str_of(run), .world_size = 100, .tags = &tag, .tag_count = 1},
        .parts = &part,
        .count = 1};
    arena_init(&arena, NULL);
    bool ok = store_add_upload(store, &request, &arena, &upload, &err);
    arena_free(&arena);
    return ok;
}

// The two runs are visited in another order by each other service.
static bool store_ranks(struct store *store, int service)
{
    bool ok = true;
    for (int i = 0; i < 2 * OWN_RANKS && ok; i++)
        ok = store_rank(store, (i + service) % 2 ? "a" : "b", service * OWN_RANKS + i / 2);
    return ok && store_rank(store, "a", SAME_RANK);
}

static bool end_job(struct store *store, const struct job *job, int none)
{
    struct err err;
    struct trace_result result = {.tables = none, .rank = -1, .world_size = 100, .events = 1};
    return job->kind == JOB_RUN ? store_finish_run(store, job, none, &err)
                                : store_finish_trace(store, job, &result, &err);
}

// Until none is left, also none of others.
static bool work_off(struct store *store, int none)
{
    enum { WAIT_US = 2000 };
    uint64_t open = 1;
    bool ok = true, found;
    struct err err;
    while (ok && open) {
        struct arena arena;
        struct job job;
        arena_init(&arena, NULL);
        ok = store_claim_job(store, &arena, &job, &found, &err) &&
             (!found || end_job(store, &job, none)) && store_count_jobs(store, &open, &err);
        arena_free(&arena);
        if (!found)
            usleep(WAIT_US);
    }
    return ok;
}

static _Noreturn void serve(const struct fixture *f, int service, int none)
{
    char owner[16];
    struct err err;
    snprintf(owner, sizeof owner, "n_%d", service);
    struct store *store = store_open_as(f->path, owner, &err);
    _exit(!(store && store_ranks(store, service) && work_off(store, none)));
}

static void ranks_are_stored_and_ended_once_by_services_at_the_same_time(void **state)
{
    struct fixture *f = *state;
    int status, services = is_on_sqlite(f) ? 1 : SERVICES;
    pid_t children[SERVICES];
    int none = parts_of(f, &(struct report){.arena = &f->arena}, trace_tables);
    fflush(NULL);
    for (int i = 0; i < services; i++) {
        children[i] = fork();
        if (children[i] == 0)
            serve(f, i, none);
    }
    for (int i = 0; i < services; i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    close(none);
    assert_int_equal(db_raw_number(f->path, "SELECT CAST(sum(done) AS BIGINT) FROM stored_run "
                                            "WHERE received = done AND joined = done"),
                     services * 2 * OWN_RANKS + 1);
    assert_int_equal(
        db_raw_number(f->path, "SELECT count(*) FROM job WHERE kind = 'trace' AND state = 'done' "
                               "AND attempts = 1"),
        services * 2 * OWN_RANKS + 1);
    assert_nothing_drifted(f->path);
}

enum { KEYS = 60 };

// Each service stores it in another run.
static bool store_keyed(struct store *store, int service, int number, int *stored)
{
    char sha256[STORE_SHA256_SIZE], key[16];
    struct arena arena;
    struct upload upload;
    struct err err;
    fill_sha256(sha256, '0');
    snprintf(sha256 + 40, sizeof sha256 - 40, "%024d", number);
    snprintf(key, sizeof key, "k%d", number);
    struct trace_part part = {.sha256 = sha256, .bytes = 9, .filename = STR("x"), .rank = number};
    struct upload_request request = {
        .run = {.name = (service + number) % 2 ? STR("a") : STR("b"), .world_size = KEYS + number},
        .parts = &part,
        .count = 1,
        .owner = STR("o"),
        .sent_bytes = 9,
        .key = {str_of(key), 1}};
    arena_init(&arena, NULL);
    bool ok = store_add_upload(store, &request, &arena, &upload, &err);
    *stored += ok;
    arena_free(&arena);
    return ok || err.code == ERR_CONFLICT;
}

// Exits with the number of uploads that it stored.
static _Noreturn void store_all_keyed(const struct fixture *f, int service)
{
    char owner[16];
    struct err err;
    int stored = 0;
    snprintf(owner, sizeof owner, "n_%d", service);
    struct store *store = store_open_as(f->path, owner, &err);
    bool ok = store != NULL;
    for (int i = 0; i < KEYS && ok; i++)
        ok = store_keyed(store, service, i, &stored);
    _exit(ok ? stored : 255);
}

static void an_upload_that_services_get_at_the_same_time_is_stored_once(void **state)
{
    struct fixture *f = *state;
    int status, sum = 0, services = is_on_sqlite(f) ? 1 : SERVICES;
    pid_t children[SERVICES];
    fflush(NULL);
    for (int i = 0; i < services; i++) {
        children[i] = fork();
        if (children[i] == 0)
            store_all_keyed(f, i);
    }
    for (int i = 0; i < services; i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 255);
        sum += WEXITSTATUS(status);
    }
    assert_int_equal(sum, KEYS);
    assert_int_equal(db_raw_number(f->path, "SELECT count(*) FROM upload"), KEYS);
    assert_int_equal(db_raw_number(f->path, "SELECT CAST(sum(received) AS BIGINT) FROM stored_run"),
                     KEYS);
    assert_int_equal(db_raw_number(f->path, "SELECT CAST(sum(bytes) AS BIGINT) FROM quota_day"),
                     KEYS * 9);
    assert_nothing_drifted(f->path);
}

// Another service has stored the same rank, and not committed yet.
static void an_upload_waits_for_the_one_before_it_in_its_run(void **state)
{
    struct fixture *f = *state;
    char text[600];
    int status;
    if (is_on_sqlite(f))
        return; // one service at a time
    assert_true(store_rank(f->store, "a", 1));
    struct db *other = db_raw_open(f->path);
    assert_true(other->kind->begin(other, DB_BESIDE, &f->err));
    snprintf(text, sizeof text,
             "INSERT INTO blob (sha256, bytes, created_ns) VALUES ('%064d', 9, 1);"
             "INSERT INTO trace (id, run_id, rank, rank_from, sha256, filename, bytes, "
             "uploaded_ns, state) SELECT 't_other', run_id, 2, 'field', '%064d', 'x', 9, 1, "
             "'done' FROM trace;"
             "UPDATE stored_run SET received = received + 1, done = done + 1;",
             2, 2);
    assert_ok(f, sql_execute_all(other, text, &f->err));
    fflush(NULL);
    pid_t service = fork();
    if (service == 0) {
        struct store *store = store_open_as(f->path, "n_2", &f->err);
        _exit(!(store && store_rank(store, "a", 2)));
    }
    await_waiting_service(f);
    assert_true(other->kind->commit(other, &f->err));
    assert_int_equal(waitpid(service, &status, 0), service);
    assert_int_equal(status, 0);
    db_close(other, true);
}

// --- order --------------------------------------------------------------------------------------

static int64_t claim_one(struct fixture *f, struct job *job)
{
    bool found;
    assert_ok(f, store_claim_job(f->store, &f->arena, job, &found, &f->err));
    assert_true(found);
    return job->id;
}

static void a_job_that_is_put_back_is_claimed_before_later_ones(void **state)
{
    struct fixture *f = *state;
    struct job first, second, again;
    fill(f);
    claim_one(f, &first);
    claim_one(f, &second);
    assert_ok(f, store_requeue_job(f->store, &first, &f->err));
    assert_int_equal(claim_one(f, &again), first.id);
}

// Of the first run, whose rank comes first; those of the second wait.
static struct job claim_only_rank(struct fixture *f)
{
    add(f, "one", 'a', 0, "x.json");
    add(f, "many", 'b', 0, "x.json");
    add(f, "many", 'c', 1, "x.json");
    return claim(f);
}

static void a_join_that_a_failure_makes_due_is_claimed_next(void **state)
{
    struct fixture *f = *state;
    struct job rank = claim_only_rank(f);
    assert_ok(f, store_fail_job(f->store, &rank, "no", &f->err));
    assert_int_equal(claim(f).kind, JOB_RUN);
}

static void a_join_that_the_first_end_makes_due_is_claimed_next(void **state)
{
    struct fixture *f = *state;
    struct job rank = claim_only_rank(f);
    struct report report = {.arena = &f->arena};
    assert_ok(f, end_trace(f, &rank, &report, (struct trace_result){.rank = -1, .world_size = 1}));
    assert_int_equal(claim(f).kind, JOB_RUN);
}

// This service does not know of it at once, and goes on from its last claim for a second. At this
// pace the jobs that came before would last for three.
static void what_another_service_puts_first_is_claimed_soon(void **state)
{
    enum { TRIES = JOBS - 1, WAIT_US = 25000 };
    struct fixture *f = *state;
    struct job job = {0};
    fill(f);
    claim_one(f, &job);
    db_raw_run(f->path, "INSERT INTO job (kind, run_id, created_ns) VALUES ('run', 'r_0', 1);"
                        "UPDATE stored_run SET joining = 1 WHERE id = 'r_0';");
    for (int i = 0; i < TRIES && job.kind != JOB_RUN; i++) {
        usleep(WAIT_US);
        claim_one(f, &job);
    }
    assert_int_equal(job.kind, JOB_RUN);
}

// --- statements whose answers come later --------------------------------------------------------

static bool put_leader_later(struct db *db, struct str role, struct err *err)
{
    struct stmt stmt = sql_begin(db, "INSERT INTO leader VALUES (?, 'n', 1)", err);
    sql_bind_text(&stmt, role);
    return sql_run_later(&stmt);
}

static void a_statement_that_fails_later_ends_its_transaction(void **state)
{
    struct fixture *f = *state;
    struct db *db = db_raw_open(f->path);
    assert_true(db->kind->begin(db, DB_WRITE, &f->err));
    assert_ok(f, put_leader_later(db, STR("a"), &f->err)); // from now on it is planned
    bool ok = put_leader_later(db, STR("b"), &f->err) && put_leader_later(db, STR("b"), &f->err) &&
              put_leader_later(db, STR("c"), &f->err) && db->kind->commit(db, &f->err);
    assert_false(ok);
    assert_int_equal(f->err.code, ERR_CONFLICT);
    db->kind->rollback(db);
    assert_ok(f, db->kind->begin(db, DB_WRITE, &f->err)); // the connection goes on
    assert_ok(f,
              put_leader_later(db, STR("d"), &f->err) && put_leader_later(db, STR("e"), &f->err));
    assert_ok(f, db->kind->commit(db, &f->err));
    assert_int_equal(db_raw_number(f->path, "SELECT count(*) FROM leader WHERE owner = 'n'"), 2);
    db_close(db, true);
}

// --- versions -----------------------------------------------------------------------------------

enum { WRITES = 60, MOST_SEEN = 3000 };

static void create_run(struct store *store, int number)
{
    char name[20];
    struct err err;
    struct arena arena;
    struct run run;
    arena_init(&arena, NULL);
    snprintf(name, sizeof name, "run%d", number);
    struct run_request request = {.name = str_of(name), .world_size = STORE_ANY};
    assert_true(store_create_run(store, &request, &arena, &run, &err));
    arena_free(&arena);
}

static uint64_t count_runs(struct store *store)
{
    struct err err;
    struct arena arena;
    struct run_list list;
    arena_init(&arena, NULL);
    assert_true(store_list_runs(store, &(struct run_query){.limit = 1}, &arena, &list, &err));
    arena_free(&arena);
    return list.total;
}

// The store of another service where there may be one, else the same.
static struct store *other_service(struct fixture *f)
{
    struct store *other = is_on_sqlite(f) ? f->store : store_open_as(f->path, "n_2", &f->err);
    assert_non_null(other);
    return other;
}

static void close_other(struct fixture *f, struct store *other)
{
    if (other != f->store)
        store_close(other);
}

static void a_version_changes_with_every_write_of_any_service(void **state)
{
    struct fixture *f = *state;
    struct store *other = other_service(f);
    for (int i = 0; i < 5; i++) {
        uint64_t before = store_version(f->store);
        assert_true(before != 0);
        create_run(other, i);
        uint64_t after = store_version(f->store);
        assert_true(after != 0 && after != before);
    }
    uint64_t quiet = store_version(f->store), again = quiet;
    for (int i = 0; i < 3 && again == quiet; i++)
        again = store_version(f->store);
    // The server's own work, such as a vacuum, may count as a change.
    assert_true(again == quiet || !is_on_sqlite(f));
    close_other(f, other);
}

// What a reader found between two equal versions.
struct reading {
    struct store *store;
    atomic_bool *done;
    size_t count;
    struct {
        uint64_t version, runs;
    } seen[MOST_SEEN];
};

static void *read_on(void *context)
{
    struct reading *reading = context;
    while (!atomic_load(reading->done) && reading->count < MOST_SEEN) {
        uint64_t version = store_version(reading->store);
        uint64_t runs = count_runs(reading->store);
        if (!version || store_version(reading->store) != version)
            continue;
        reading->seen[reading->count].version = version;
        reading->seen[reading->count++].runs = runs;
    }
    return NULL;
}

static void assert_they_agree(const struct reading *a, const struct reading *b)
{
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < b->count; k++)
            if (a->seen[i].version == b->seen[k].version)
                assert_int_equal(a->seen[i].runs, b->seen[k].runs);
}

static void readers_of_one_version_see_the_same_runs(void **state)
{
    enum { READERS = 2 };
    struct fixture *f = *state;
    struct store *other = other_service(f);
    atomic_bool done = false;
    pthread_t threads[READERS];
    struct reading *readings = calloc(READERS, sizeof *readings);
    for (size_t i = 0; i < READERS; i++) {
        readings[i].store = f->store;
        readings[i].done = &done;
        assert_int_equal(pthread_create(&threads[i], NULL, read_on, &readings[i]), 0);
    }
    for (int i = 0; i < WRITES; i++)
        create_run(other, i);
    atomic_store(&done, true);
    for (size_t i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < READERS; i++)
        assert_they_agree(&readings[i], &readings[READERS - 1 - i]);
    assert_they_agree(&readings[0], &readings[0]);
    free(readings);
    close_other(f, other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_job_is_claimed_once_and_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_job_that_was_running_in_a_crash_runs_alone, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_job_that_runs_alone_is_not_passed_over, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            ranks_are_stored_and_ended_once_by_services_at_the_same_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_upload_that_services_get_at_the_same_time_is_stored_once,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_upload_waits_for_the_one_before_it_in_its_run, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_job_that_is_put_back_is_claimed_before_later_ones, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_join_that_a_failure_makes_due_is_claimed_next, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_join_that_the_first_end_makes_due_is_claimed_next, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_another_service_puts_first_is_claimed_soon, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_statement_that_fails_later_ends_its_transaction, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_version_changes_with_every_write_of_any_service, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(readers_of_one_version_see_the_same_runs, set_up,
                                        tear_down),
    };
    return run_on_each_kind(tests);
}
