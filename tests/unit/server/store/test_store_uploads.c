// SPDX-License-Identifier: Apache-2.0
// The store: what an upload adds to a run, and which rank a trace gets.
#include "tests/unit/store_fixture.h"

// --- uploads ------------------------------------------------------------------------------------

static void the_same_bytes_again_are_the_existing_trace(void **state)
{
    struct fixture *f = *state;
    struct upload first = add(f, "r", 'a', 0, "x.json"), again = add(f, "r", 'a', 0, "y.json");
    assert_false(first.all_existing);
    assert_true(again.all_existing);
    assert_text(again.traces[0].id, first.traces[0].id.at);
    assert_text(add(f, "r", 'a', STORE_NO_RANK, "z.json").traces[0].id, first.traces[0].id.at);
    assert_false(add(f, "r", 'a', 1, "x.json").all_existing); // the same bytes for another rank
    assert_int_equal(open_jobs(f), 2);
}

static void other_bytes_for_a_rank_conflict_unless_they_replace(void **state)
{
    struct fixture *f = *state;
    struct upload first = add(f, "r", 'a', 3, "x.json");
    char sha256[STORE_SHA256_SIZE];
    struct trace_part part = part_of(sha256, 'b', 3, "y.json");
    struct upload_request request = {.run = named("r"), .parts = &part, .count = 1};
    struct upload upload;
    assert_false(store_add_upload(f->store, &request, &f->arena, &upload, &f->err));
    assert_int_equal(f->err.code, ERR_CONFLICT);
    request.replace = true;
    assert_ok(f, store_add_upload(f->store, &request, &f->arena, &upload, &f->err));
    struct trace_row row;
    assert_ok(f, store_find_rank(f->store, upload.run_id, 3, &f->arena, &row, &f->err));
    assert_text(row.id, upload.traces[0].id.at);
    assert_string_not_equal(row.id.at, first.traces[0].id.at);
    assert_int_equal(garbage_count(f), 2); // the old blob and the old trace's file
}

static bool try_to_add(struct fixture *f, char byte, int64_t rank, struct str archive)
{
    char sha256[STORE_SHA256_SIZE];
    struct trace_part part = part_of(sha256, byte, rank, "x.json");
    part.archive = archive;
    struct upload_request request = {.run = named("r"), .parts = &part, .count = 1};
    struct upload upload;
    return store_add_upload(f->store, &request, &f->arena, &upload, &f->err);
}

static void assert_refused(struct fixture *f)
{
    static const struct {
        int64_t rank;
        struct str archive;
    } ways[] = {{0, {0}}, {STORE_NO_RANK, {0}}, {STORE_NO_RANK, {"tar", 3}}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        assert_false(try_to_add(f, 'a', ways[i].rank, ways[i].archive));
        assert_int_equal(f->err.code, ERR_BUSY);
    }
}

static void bytes_that_are_being_removed_are_refused_until_that_is_done(void **state)
{
    struct fixture *f = *state;
    char sha256[STORE_SHA256_SIZE];
    part_of(sha256, 'a', 0, "x.json");
    struct store_removal removal = {.sha256 = sha256}, second = removal;
    assert_ok(f, store_begin_removal(f->store, &removal, &f->err));
    assert_true(removal.begun && removal.alone);
    assert_refused(f);
    assert_true(try_to_add(f, 'b', 1, (struct str){0}));
    assert_ok(f, store_end_removal(f->store, &removal, &f->err));
    assert_true(try_to_add(f, 'a', 0, (struct str){0}));
    assert_ok(f, store_begin_removal(f->store, &second, &f->err));
    assert_false(second.begun); // a row names it
}

// Its answer may be lost: the end of a later one says nothing about it.
static void of_two_removals_the_first_may_still_be_on_its_way(void **state)
{
    struct fixture *f = *state;
    char sha256[STORE_SHA256_SIZE];
    part_of(sha256, 'a', 0, "x.json");
    struct store_removal first = {.sha256 = sha256}, second = first;
    assert_ok(f, store_begin_removal(f->store, &first, &f->err));
    assert_ok(f, store_begin_removal(f->store, &second, &f->err));
    assert_true(second.begun && !second.alone);
    assert_ok(f, store_end_removal(f->store, &second, &f->err));
    assert_refused(f);
    db_raw_run(f->path, "UPDATE removal SET until_ns = 1"); // time passes
    assert_true(try_to_add(f, 'a', 0, (struct str){0}));
}

static void one_bad_part_leaves_nothing_of_an_upload(void **state)
{
    struct fixture *f = *state;
    char one[STORE_SHA256_SIZE], two[STORE_SHA256_SIZE];
    struct trace_part parts[] = {part_of(one, 'a', 0, "x.json"), part_of(two, 'b', 0, "y.json")};
    struct upload_request request = {.run = named("r"), .parts = parts, .count = 2};
    struct upload upload;
    struct run run;
    assert_false(store_add_upload(f->store, &request, &f->arena, &upload, &f->err));
    assert_int_equal(f->err.code, ERR_CONFLICT);
    assert_false(store_find_run(f->store, STR("r"), &f->arena, &run, &f->err));
    assert_int_equal(open_jobs(f), 0);
}

static void an_upload_without_a_run_makes_one(void **state)
{
    struct fixture *f = *state;
    struct upload upload = add(f, "", 'a', STORE_NO_RANK, "x.json");
    struct run run;
    assert_ok(f, store_find_run(f->store, upload.run_id, &f->arena, &run, &f->err));
    assert_true(str_starts_with(run.name, STR("upload-")));
    assert_int_equal(run.status, RUN_PENDING);
    assert_text(upload.traces[0].rank_from, "pending");
    struct upload found;
    assert_ok(f, store_find_upload(f->store, upload.id, &f->arena, &found, &f->err));
    assert_int_equal(found.count, 1);
}

// --- ranks --------------------------------------------------------------------------------------

static void a_rank_comes_from_the_best_that_speaks_for_it(void **state)
{
    struct fixture *f = *state;
    struct upload uploads[] = {
        add(f, "r", 'a', 7, "rank1.json"),
        add(f, "r", 'b', STORE_NO_RANK, "rank1.json"),
        add(f, "r", 'c', STORE_NO_RANK, "rank2.json"),
        add(f, "r", 'd', STORE_NO_RANK, "noname.json"),
    };
    finish_next(f, -1);
    finish_next(f, 5);
    finish_next(f, -1);
    finish_next(f, -1);
    const int64_t ranks[] = {7, 5, 2, 0};
    const char *from[] = {"field", "metadata", "filename", "next"};
    for (int i = 0; i < 4; i++) {
        struct trace_row row = trace_of(f, &uploads[i]);
        assert_int_equal(row.rank, ranks[i]);
        assert_text(row.rank_from, from[i]);
        assert_int_equal(row.state, TRACE_DONE);
    }
}

static void add_process(struct fixture *f, char bytes, const char *filename, int64_t process)
{
    char sha256[STORE_SHA256_SIZE];
    struct trace_part part = part_of(sha256, bytes, STORE_NO_RANK, filename);
    struct upload_request request = {.run = named("r"), .parts = &part, .count = 1};
    struct upload upload;
    part.process = process;
    assert_ok(f, store_add_upload(f->store, &request, &f->arena, &upload, &f->err));
}

// Whatever the order in which they are read, and however their files are called.
static void processes_of_several_files_have_ranks_by_files_and_devices(void **state)
{
    struct fixture *f = *state;
    static const struct {
        char file;
        const char *name;
        int64_t process;
    } read[] = {{'c', "node10.sqlite/process0", 70},     {'b', "node2_rank7.sqlite/process1", 5},
                {'c', "node10.sqlite/process1", 60},     {'a', "node01.sqlite/process1", 8},
                {'b', "node2_rank7.sqlite/process0", 9}, {'a', "node01.sqlite/process0", 9}};
    static const char *const wanted[] = {
        "node01.sqlite/process0",      "x.json",
        "node01.sqlite/process1",      "node2_rank7.sqlite/process0",
        "node2_rank7.sqlite/process1", "node10.sqlite/process0",
        "node10.sqlite/process1"};
    enum { PROCESSES = sizeof read / sizeof *read };
    for (size_t i = 0; i < PROCESSES; i++)
        add_process(f, read[i].file, read[i].name, read[i].process);
    struct upload one = add(f, "r", 'x', STORE_NO_RANK, "x.json");
    for (size_t i = 0; i < PROCESSES; i++)
        finish_next(f, -1);
    finish_next(f, 1); // what says its rank keeps it
    struct rank_trace *ranks;
    size_t count;
    for (int again = 0; again < 2; again++) {
        assert_ok(f, store_done_ranks(f->store, one.run_id, &f->arena, &ranks, &count, &f->err));
        assert_true(store_processes_are_ordered(ranks, count) == again);
        assert_ok(f, store_order_processes(f->store, one.run_id, &f->arena, &f->err));
    }
    for (size_t i = 0; i < count; i++) {
        struct trace_row row;
        assert_ok(f, store_find_rank(f->store, one.run_id, (int64_t)i, &f->arena, &row, &f->err));
        assert_text(row.filename, wanted[i]);
        assert_text(row.rank_from, i == 1 ? "metadata" : "next");
    }
}

static void a_rank_that_was_merely_free_gives_way(void **state)
{
    struct fixture *f = *state;
    struct upload anonymous = add(f, "r", 'a', STORE_NO_RANK, "x.json");
    struct upload zero = add(f, "r", 'b', STORE_NO_RANK, "y.json");
    finish_next(f, -1);
    assert_int_equal(trace_of(f, &anonymous).rank, 0);
    finish_next(f, 0);
    assert_int_equal(trace_of(f, &zero).rank, 0);
    assert_int_equal(trace_of(f, &anonymous).rank, 1);
}

static void a_second_claim_to_a_rank_is_kept_with_a_warning(void **state)
{
    struct fixture *f = *state;
    add(f, "r", 'a', STORE_NO_RANK, "x.json");
    struct upload second = add(f, "r", 'b', STORE_NO_RANK, "y.json");
    finish_next(f, 0);
    finish_next(f, 0);
    struct trace_row row = trace_of(f, &second);
    assert_int_equal(row.rank, 1);
    assert_text(row.rank_from, "next");
    assert_non_null(strstr(row.warning.at, "rank 0"));
    assert_non_null(strstr(row.warning.at, "x.json"));
}

// Which of the two is read first must not decide which stays.
static void a_trace_that_was_replaced_before_it_was_read_is_dropped(void **state)
{
    struct fixture *f = *state;
    struct upload first = add(f, "r", 'a', STORE_NO_RANK, "x.json");
    struct job late = claim(f);
    char sha256[STORE_SHA256_SIZE];
    struct trace_part part = part_of(sha256, 'b', STORE_NO_RANK, "y.json");
    struct upload_request request = {
        .run = named("r"), .parts = &part, .count = 1, .replace = true};
    struct upload second;
    assert_ok(f, store_add_upload(f->store, &request, &f->arena, &second, &f->err));
    finish_next(f, 0);
    struct trace_result result = {.rank = 0, .tables = -1};
    assert_ok(f, store_finish_trace(f->store, &late, &result, &f->err));
    struct trace_row row;
    assert_ok(f, store_find_rank(f->store, first.run_id, 0, &f->arena, &row, &f->err));
    assert_text(row.id, second.traces[0].id.at);
    struct run run;
    assert_ok(f, store_find_run(f->store, first.run_id, &f->arena, &run, &f->err));
    assert_int_equal(run.received, 1);
    assert_int_equal(garbage_count(f), 2); // the first file and what was made of it
    assert_int_equal(claim(f).kind, JOB_RUN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_same_bytes_again_are_the_existing_trace),
        TEST(other_bytes_for_a_rank_conflict_unless_they_replace),
        TEST(bytes_that_are_being_removed_are_refused_until_that_is_done),
        TEST(of_two_removals_the_first_may_still_be_on_its_way),
        TEST(one_bad_part_leaves_nothing_of_an_upload),
        TEST(an_upload_without_a_run_makes_one),
        TEST(a_rank_comes_from_the_best_that_speaks_for_it),
        TEST(processes_of_several_files_have_ranks_by_files_and_devices),
        TEST(a_rank_that_was_merely_free_gives_way),
        TEST(a_second_claim_to_a_rank_is_kept_with_a_warning),
        TEST(a_trace_that_was_replaced_before_it_was_read_is_dropped),
    };
    return run_on_each_kind(tests);
}
