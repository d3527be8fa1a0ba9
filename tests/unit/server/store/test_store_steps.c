// SPDX-License-Identifier: Apache-2.0
// How steps are found is a setting of the run: kept, passed to its jobs, and changed by reading its
// traces again.
#include "tests/unit/store_fixture.h"

static struct run run_of(struct fixture *f, const char *name)
{
    struct run run;
    assert_ok(f, store_find_run(f->store, str_of(name), &f->arena, &run, &f->err));
    return run;
}

static void choose(struct fixture *f, const char *name, const char *pattern, int64_t warmup)
{
    struct run run = run_of(f, name);
    struct str text = str_of(pattern);
    struct run_patch patch = {.step_pattern = &text, .warmup_steps = &warmup};
    assert_ok(f, store_patch_run(f->store, run.id, &patch, STORE_ANY, &f->err));
}

static void finish(struct fixture *f, const struct job *job)
{
    struct report report = {.arena = &f->arena};
    struct trace_result result = {.rank = -1, .world_size = -1};
    if (job->kind == JOB_RUN)
        assert_ok(f, end_run(f, job, &report));
    else
        assert_ok(f, end_trace(f, job, &report, result));
}

// Takes and ends jobs until none is left.
static void settle(struct fixture *f)
{
    while (open_jobs(f)) {
        struct job job = claim(f);
        finish(f, &job);
    }
}

static void a_run_without_a_choice_finds_steps_by_itself(void **state)
{
    struct fixture *f = *state;
    add(f, "r", 'a', 0, "x");
    struct job job = claim(f);
    assert_text(job.step_pattern, "");
    assert_int_equal(job.warmup_steps, -1);
    struct run run = run_of(f, "r");
    assert_text(run.step_pattern, "");
    assert_int_equal(run.warmup_steps, -1);
}

static void what_an_upload_chooses_goes_to_its_job(void **state)
{
    struct fixture *f = *state;
    char sha256[STORE_SHA256_SIZE];
    struct trace_part part = part_of(sha256, 'a', 0, "x");
    int64_t warmup = 2;
    struct upload_request request = {.run = {.name = STR("r"),
                                             .world_size = STORE_ANY,
                                             .step_pattern = STR("train*"),
                                             .warmup_steps = &warmup},
                                     .parts = &part,
                                     .count = 1};
    struct upload upload;
    assert_ok(f, store_add_upload(f->store, &request, &f->arena, &upload, &f->err));
    struct job job = claim(f);
    assert_text(job.step_pattern, "train*");
    assert_int_equal(job.warmup_steps, 2);
    add(f, "r", 'b', 1, "y"); // does not mention steps: the setting stays
    reopen(f);
    assert_text(run_of(f, "r").step_pattern, "train*");
    assert_int_equal(run_of(f, "r").warmup_steps, 2);
}

static void a_change_reads_the_traces_again(void **state)
{
    struct fixture *f = *state;
    add(f, "r", 'a', 0, "x");
    add(f, "r", 'b', 1, "y");
    add(f, "other", 'c', 0, "z");
    settle(f);
    choose(f, "r", "iteration*", 0);
    assert_int_equal(open_jobs(f), 2);
    assert_int_equal(run_of(f, "r").active, 2);
    assert_int_equal(run_of(f, "other").active, 0);
    struct job job = claim(f);
    assert_text(job.step_pattern, "iteration*");
    assert_int_equal(job.warmup_steps, 0);
}

static void either_choice_alone_is_a_change(void **state)
{
    struct fixture *f = *state;
    add(f, "r", 'a', 0, "x");
    settle(f);
    choose(f, "r", "s", -1);
    assert_int_equal(open_jobs(f), 1);
    settle(f);
    choose(f, "r", "s", 0);
    assert_int_equal(open_jobs(f), 1);
    settle(f);
    choose(f, "r", "", 0);
    assert_int_equal(open_jobs(f), 1);
}

static void the_same_choice_again_changes_nothing(void **state)
{
    struct fixture *f = *state;
    add(f, "r", 'a', 0, "x");
    choose(f, "r", "s", 1);
    settle(f);
    choose(f, "r", "s", 1);
    assert_int_equal(open_jobs(f), 0);
    choose(f, "r", "", -1); // forgets it
    assert_int_equal(open_jobs(f), 1);
    assert_text(run_of(f, "r").step_pattern, "");
    assert_int_equal(run_of(f, "r").warmup_steps, -1);
}

static void other_changes_leave_the_choice_and_the_traces_alone(void **state)
{
    struct fixture *f = *state;
    add(f, "r", 'a', 0, "x");
    choose(f, "r", "s", 1);
    settle(f);
    struct str note = STR("n");
    struct run_patch patch = {.note = &note};
    assert_ok(f, store_patch_run(f->store, run_of(f, "r").id, &patch, STORE_ANY, &f->err));
    assert_int_equal(open_jobs(f), 0);
    assert_text(run_of(f, "r").step_pattern, "s");
    assert_int_equal(run_of(f, "r").warmup_steps, 1);
}

// The running job started with the old setting: its trace is done only after another one.
static void a_change_while_a_trace_is_read_reads_it_once_more(void **state)
{
    struct fixture *f = *state;
    add(f, "r", 'a', 0, "x");
    struct job old = claim(f);
    choose(f, "r", "s", 3);
    assert_int_equal(open_jobs(f), 2);
    finish(f, &old);
    assert_int_equal(run_of(f, "r").done, 0);
    assert_int_equal(run_of(f, "r").active, 1);
    struct job new = claim(f);
    assert_int_equal(new.kind, JOB_TRACE);
    assert_text(new.step_pattern, "s");
    assert_int_equal(new.warmup_steps, 3);
    finish(f, &new);
    assert_int_equal(run_of(f, "r").done, 1);
}

static void a_change_while_a_trace_fails_reads_it_once_more(void **state)
{
    struct fixture *f = *state;
    add(f, "r", 'a', 0, "x");
    struct job old = claim(f);
    choose(f, "r", "s", 3);
    assert_ok(f, store_fail_job(f->store, &old, "out of memory", &f->err));
    assert_int_equal(run_of(f, "r").failed, 0);
    assert_int_equal(run_of(f, "r").active, 1);
    assert_int_equal(open_jobs(f), 1); // the ranks are not joined yet
    settle(f);
    assert_int_equal(run_of(f, "r").done, 1);
}

static void choices_that_cannot_be_are_refused(void **state)
{
    struct fixture *f = *state;
    add(f, "r", 'a', 0, "x");
    struct run run = run_of(f, "r");
    int64_t few = -2, many = (int64_t)INT32_MAX + 1;
    struct str control = STR("a\nb");
    char longest[STORE_NAME_MAX_BYTES + 1];
    memset(longest, 'x', sizeof longest);
    struct str too_long = {longest, sizeof longest};
    struct run_patch bad[] = {{.warmup_steps = &few},
                              {.warmup_steps = &many},
                              {.step_pattern = &control},
                              {.step_pattern = &too_long}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(store_patch_run(f->store, run.id, &bad[i], STORE_ANY, &f->err));
        assert_int_equal(f->err.code, ERR_USAGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_run_without_a_choice_finds_steps_by_itself, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_an_upload_chooses_goes_to_its_job, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_change_reads_the_traces_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(either_choice_alone_is_a_change, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_same_choice_again_changes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_changes_leave_the_choice_and_the_traces_alone, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_change_while_a_trace_is_read_reads_it_once_more, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_change_while_a_trace_fails_reads_it_once_more, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(choices_that_cannot_be_are_refused, set_up, tear_down),
    };
    return run_on_each_kind(tests);
}
