// SPDX-License-Identifier: Apache-2.0
// The order in which waiting files are taken: small ones soon, runs in turn, none starves.
#include "ingest/base/clock.h"
#include "tests/unit/store_fixture.h"

#define MB INT64_C(1000000)

// Adds a file of this size to a run; its content is identified by a letter.
static struct str add_sized(struct fixture *f, const char *run, char content, int64_t bytes)
{
    char sha256[STORE_SHA256_SIZE];
    struct trace_part part = part_of(sha256, content, content - 'a', "x.json");
    part.bytes = bytes;
    struct upload_request request = {
        .run = {.name = str_of(run), .world_size = STORE_ANY}, .parts = &part, .count = 1};
    struct upload upload;
    assert_ok(f, store_add_upload(f->store, &request, &f->arena, &upload, &f->err));
    return upload.traces[0].id;
}

static void expect_next(struct fixture *f, struct str trace_id)
{
    assert_text(claim(f).trace_id, trace_id.at);
}

static void pass_second(struct fixture *f)
{
    db_raw_run(f->path, "UPDATE job SET due_ns = due_ns - 1000000000 WHERE kind = 'trace'");
}

static void a_small_file_passes_a_huge_one_that_came_before(void **state)
{
    struct fixture *f = *state;
    struct str huge = add_sized(f, "r", 'a', 10000 * MB);
    struct str small = add_sized(f, "s", 'b', 1 * MB);
    expect_next(f, small);
    expect_next(f, huge);
}

static void files_of_one_size_are_taken_as_they_came(void **state)
{
    struct fixture *f = *state;
    struct str ids[6];
    for (int i = 0; i < 6; i++)
        ids[i] = add_sized(f, "r", (char)('f' - i), 50 * MB);
    for (int i = 0; i < 6; i++)
        expect_next(f, ids[i]);
}

static void runs_take_turns(void **state)
{
    struct fixture *f = *state;
    struct str ids[2][4];
    for (int run = 0; run < 2; run++)
        for (int i = 0; i < 4; i++)
            ids[run][i] = add_sized(f, run ? "second" : "first", (char)('a' + i), 50 * MB);
    for (int i = 0; i < 4; i++)
        for (int run = 0; run < 2; run++)
            expect_next(f, ids[run][i]);
}

static void a_huge_file_is_taken_however_many_small_ones_keep_coming(void **state)
{
    struct fixture *f = *state;
    if (!is_on_sqlite(f))
        skip(); // the time that a server takes counts, too
    struct str huge = add_sized(f, "r", 'a', 100 * MB);
    int seconds = 0;
    int64_t begin_ns = clock_wall_ns();
    for (bool taken = false; !taken; seconds++) {
        char run[16];
        snprintf(run, sizeof run, "s%d", seconds);
        add_sized(f, run, 'b', 1 * MB);
        struct job job = claim(f);
        taken = str_equal(job.trace_id, huge);
        pass_second(f);
    }
    seconds += (int)((clock_wall_ns() - begin_ns) / 1000000000); // what this took counts, too
    assert_in_range(seconds, 90, 110);
}

static void a_worker_for_small_files_is_given_no_other(void **state)
{
    struct fixture *f = *state;
    struct job job;
    bool found;
    struct str huge = add_sized(f, "r", 'a', STORE_SMALL_BYTES + 1);
    assert_ok(f, store_claim_small_job(f->store, &f->arena, &job, &found, &f->err));
    assert_false(found);
    struct str small = add_sized(f, "r", 'b', STORE_SMALL_BYTES);
    assert_ok(f, store_claim_small_job(f->store, &f->arena, &job, &found, &f->err));
    assert_true(found);
    assert_text(job.trace_id, small.at);
    assert_ok(f, store_fail_job(f->store, &job, "why not", &f->err));
    expect_next(f, huge);
}

static void joining_a_run_is_small_and_comes_first(void **state)
{
    struct fixture *f = *state;
    struct job job;
    bool found;
    add_sized(f, "r", 'a', 1 * MB);
    finish_next(f, -1);
    add_sized(f, "s", 'b', 1 * MB);
    assert_ok(f, store_claim_small_job(f->store, &f->arena, &job, &found, &f->err));
    assert_true(found);
    assert_int_equal(job.kind, JOB_RUN);
}

static void what_is_put_back_keeps_its_turn(void **state)
{
    struct fixture *f = *state;
    struct str first = add_sized(f, "r", 'a', 50 * MB);
    struct job job = claim(f);
    struct str second = add_sized(f, "r", 'b', 50 * MB);
    assert_ok(f, store_requeue_job(f->store, &job, &f->err));
    expect_next(f, first);
    expect_next(f, second);
}

static void what_was_at_work_in_a_crash_lets_others_pass(void **state)
{
    struct fixture *f = *state;
    struct str suspect = add_sized(f, "r", 'a', 1 * MB);
    expect_next(f, suspect);
    struct str huge = add_sized(f, "s", 'b', 500 * MB);
    reopen(f);
    assert_ok(f, store_recover_jobs(f->store, true, &f->err));
    struct job job = claim(f);
    assert_text(job.trace_id, huge.at);
    assert_ok(f, store_fail_job(f->store, &job, "why not", &f->err));
    assert_int_equal(claim(f).kind, JOB_RUN);
}

static void reading_a_run_again_lets_new_files_through(void **state)
{
    struct fixture *f = *state;
    struct str ids[3];
    for (int i = 0; i < 3; i++) {
        ids[i] = add_sized(f, "r", (char)('a' + i), 50 * MB);
        finish_next(f, -1);
        struct job join = claim(f);
        finish_run(f, &join);
    }
    struct run run;
    assert_ok(f, store_find_run(f->store, STR("r"), &f->arena, &run, &f->err));
    assert_ok(f, store_reanalyze_run(f->store, run.id, &f->err));
    struct str other = add_sized(f, "s", 'z', 50 * MB);
    struct job first = claim(f);
    assert_true(str_equal(first.trace_id, ids[0]) || str_equal(first.trace_id, ids[1]) ||
                str_equal(first.trace_id, ids[2]));
    expect_next(f, other);
}

static void a_rank_that_comes_later_is_read_and_joined_and_no_other(void **state)
{
    struct fixture *f = *state;
    add_sized(f, "r", 'a', 1 * MB);
    add_sized(f, "r", 'b', 1 * MB);
    finish_next(f, -1);
    finish_next(f, -1);
    struct job job = claim(f);
    assert_int_equal(job.kind, JOB_RUN);
    finish_run(f, &job);
    struct str late = add_sized(f, "r", 'c', 1 * MB);
    job = claim(f);
    assert_text(job.trace_id, late.at);
    struct report report = {.arena = &f->arena};
    struct trace_result result = {.rank = -1, .world_size = -1};
    assert_ok(f, end_trace(f, &job, &report, result));
    job = claim(f);
    assert_int_equal(job.kind, JOB_RUN);
    finish_run(f, &job);
    uint64_t open;
    assert_ok(f, store_count_jobs(f->store, &open, &f->err));
    assert_int_equal(open, 0);
}

static void an_order_of_thousands_is_kept_by_an_index(void **state)
{
    struct fixture *f = *state;
    if (!is_on_sqlite(f))
        skip();
    struct db *db = db_raw_open(f->path);
    struct stmt stmt = sql_begin(db,
                                 "EXPLAIN QUERY PLAN SELECT id FROM job WHERE state = 'queued' "
                                 "ORDER BY due_ns, id LIMIT 1",
                                 &f->err);
    assert_true(sql_row(&stmt));
    assert_non_null(strstr(sql_text(&stmt, 3, &f->arena).at, "job_queue"));
    assert_false(sql_row(&stmt)); // and nothing is sorted
    assert_ok(f, sql_end(&stmt));
    db_close(db, true);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_small_file_passes_a_huge_one_that_came_before),
        TEST(files_of_one_size_are_taken_as_they_came),
        TEST(runs_take_turns),
        TEST(a_huge_file_is_taken_however_many_small_ones_keep_coming),
        TEST(a_worker_for_small_files_is_given_no_other),
        TEST(joining_a_run_is_small_and_comes_first),
        TEST(what_is_put_back_keeps_its_turn),
        TEST(what_was_at_work_in_a_crash_lets_others_pass),
        TEST(reading_a_run_again_lets_new_files_through),
        TEST(a_rank_that_comes_later_is_read_and_joined_and_no_other),
        TEST(an_order_of_thousands_is_kept_by_an_index),
    };
    return run_on_each_kind(tests);
}
