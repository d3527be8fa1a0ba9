// SPDX-License-Identifier: Apache-2.0
// Who may add to which run, how many empty runs there may be, and what a run may be called.
#include "server/store/store_bin.h"
#include "tests/unit/store_fixture.h"

// Whether someone who may only add to runs may upload that.
static bool may_add(struct fixture *f, const char *who, struct run_request run, char content,
                    int64_t rank)
{
    char sha256[STORE_SHA256_SIZE];
    struct trace_part part = part_of(sha256, content, rank, "x.json");
    struct upload_request request = {.run = run, .parts = &part, .count = 1};
    struct upload upload;
    request.run.owner = str_of(who);
    request.run.adds_only = true;
    bool ok = store_add_upload(f->store, &request, &f->arena, &upload, &f->err);
    assert_true(ok || f->err.code == ERR_DENIED);
    return ok;
}

static void without_the_right_to_change_runs_one_adds_to_ones_own_alone(void **state)
{
    struct fixture *f = *state;
    struct run_request noted = named("r");
    struct run run;
    noted.note = STR("a note");
    assert_true(may_add(f, "a", named("r"), 'a', 0));
    assert_true(may_add(f, "a", noted, 'b', 1));
    assert_true(may_add(f, "b", named("r"), 'b', 1)); // already there
    assert_true(may_add(f, "b", noted, 'a', 0));
    assert_false(may_add(f, "b", named("r"), 'c', 2));
    assert_false(may_add(f, "", named("r"), 'c', 2));
    noted.note = STR("another");
    assert_false(may_add(f, "b", noted, 'a', 0));
    assert_ok(f, store_find_run(f->store, STR("r"), &f->arena, &run, &f->err));
    assert_text(run.note, "a note");
    assert_int_equal(run.received, 2);
    assert_ok(f, store_finalize_run(f->store, run.id, &f->err));
    assert_false(may_add(f, "a", named("r"), 'c', 2));
    assert_false(may_add(f, "a", noted, 'a', 0));
    assert_true(may_add(f, "a", named("r"), 'a', 0));
    struct run_request pair = named("pair"); // complete with the second of its two ranks
    pair.world_size = 2;
    assert_true(may_add(f, "a", pair, 'a', 0));
    assert_true(may_add(f, "a", pair, 'b', 1));
    assert_false(may_add(f, "a", pair, 'c', 2));
}

static void no_name_begins_or_ends_with_what_cannot_be_seen(void **state)
{
    static const char *const refused[] = {" a",
                                          "a ",
                                          "\342\200\256txt.a",
                                          "a\xe2\x80\xac",
                                          "\342\201\246a",
                                          "\302\240a",
                                          "a\xe2\x80\x8b",
                                          "\330\234a",
                                          "\357\273\277a"};
    static const char *const taken[] = {"a\342\200\256b", "\xd7\xa9", "\xf0\x9f\x9a\x80",
                                        "a\xe2\x9d\xa4\xef\xb8\x8f"};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct run_request request = named(refused[i]);
        assert_false(store_check_run(&request, &f->err));
        assert_int_equal(f->err.code, ERR_USAGE);
    }
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        struct run_request request = named(taken[i]);
        assert_ok(f, store_check_run(&request, &f->err));
    }
}

static void so_many_empty_runs_and_no_more(void **state)
{
    struct fixture *f = *state;
    struct run_request request = named("");
    struct run run;
    request.owner = STR("a");
    for (int i = 0; i < STORE_MAX_EMPTY_RUNS; i++)
        assert_ok(f, store_create_run(f->store, &request, &f->arena, &run, &f->err));
    struct str last = run.id;
    assert_false(store_create_run(f->store, &request, &f->arena, &run, &f->err));
    assert_int_equal(f->err.code, ERR_BUSY);
    request.owner = STR("b");
    assert_ok(f, store_create_run(f->store, &request, &f->arena, &run, &f->err));
    assert_ok(f, store_bin_run(f->store, last, STORE_ANY, STR(""), &f->err));
    request.owner = STR("a"); // deleting one makes room
    assert_ok(f, store_create_run(f->store, &request, &f->arena, &run, &f->err));
}

static void names_that_are_made_up_are_as_unique_as_ids(void **state)
{
    struct fixture *f = *state;
    struct run_request request = named("");
    struct run run;
    assert_ok(f, store_create_run(f->store, &request, &f->arena, &run, &f->err));
    struct str tail = {run.id.at + strlen("r_"), run.id.len - strlen("r_")};
    assert_true(run.name.len > tail.len);
    assert_true(str_equal((struct str){run.name.at + run.name.len - tail.len, tail.len}, tail));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_the_right_to_change_runs_one_adds_to_ones_own_alone),
        TEST(so_many_empty_runs_and_no_more),
        TEST(names_that_are_made_up_are_as_unique_as_ids),
        TEST(no_name_begins_or_ends_with_what_cannot_be_seen),
    };
    return run_on_each_kind(tests);
}
