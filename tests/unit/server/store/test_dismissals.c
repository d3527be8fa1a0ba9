// SPDX-License-Identifier: Apache-2.0
// What people say about a run: which findings are dismissed, and that no more ranks will come.
#include "tests/unit/store_fixture.h"

// A run with one trace whose one finding is "slow_link:3".
static struct str run_with_finding(struct fixture *f)
{
    struct upload upload = add(f, "r", 'a', 0, "x.json");
    finish_next(f, -1);
    struct job job = claim(f);
    const struct table_desc *desc = run_table("findings");
    struct report report = {.arena = &f->arena};
    struct cell row[TABLE_MAX_COLUMNS];
    for (unsigned i = 0; i < desc->column_count; i++)
        row[i] = cell_null();
    row[table_column(desc, STR("id"))] = cell_text(STR("slow_link:3"));
    assert_ok(f, report_add(&report, desc, row, &f->err));
    assert_ok(f, end_run(f, &job, &report));
    return upload.run_id;
}

static struct dismissal *dismissals_of(struct fixture *f, struct str run_id, size_t *count)
{
    struct dismissal *dismissals;
    assert_ok(f, store_list_dismissals(f->store, run_id, &f->arena, &dismissals, count, &f->err));
    return dismissals;
}

static void a_finding_is_put_aside_and_taken_back(void **state)
{
    struct fixture *f = *state;
    struct str run_id = run_with_finding(f), finding = STR("slow_link:3");
    size_t count;
    assert_ok(f, store_dismiss(f->store, run_id, finding, STR("known"), &f->err));
    assert_ok(f, store_dismiss(f->store, run_id, finding, STR("cable ordered"), &f->err));
    struct dismissal *dismissals = dismissals_of(f, run_id, &count);
    assert_int_equal(count, 1);
    assert_text(dismissals[0].finding, "slow_link:3");
    assert_text(dismissals[0].reason, "cable ordered");
    assert_ok(f, store_take_back_dismissal(f->store, run_id, finding, &f->err));
    dismissals_of(f, run_id, &count);
    assert_int_equal(count, 0);
    assert_false(store_take_back_dismissal(f->store, run_id, finding, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
}

static void only_findings_of_the_run_are_put_aside_and_not_without_reason(void **state)
{
    struct fixture *f = *state;
    struct str run_id = run_with_finding(f);
    assert_false(store_dismiss(f->store, run_id, STR("other"), STR("why"), &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
    assert_false(store_dismiss(f->store, run_id, STR("slow_link:3"), STR(""), &f->err));
    assert_int_equal(f->err.code, ERR_USAGE);
    assert_false(store_dismiss(f->store, run_id, STR("slow_link:3"), STR("\xff"), &f->err));
    assert_int_equal(f->err.code, ERR_USAGE);
    assert_false(store_dismiss(f->store, run_id, STR("slow_link:3"), STR(" \t\n "), &f->err));
    assert_int_equal(f->err.code, ERR_USAGE);
    size_t count;
    dismissals_of(f, run_id, &count);
    assert_int_equal(count, 0);
}

static void dismissals_outlive_another_analysis_and_go_with_their_run(void **state)
{
    struct fixture *f = *state;
    struct str run_id = run_with_finding(f);
    assert_ok(f, store_dismiss(f->store, run_id, STR("slow_link:3"), STR("known"), &f->err));
    assert_ok(f, store_reanalyze_run(f->store, run_id, &f->err));
    finish_next(f, -1);
    struct job job = claim(f);
    finish_run(f, &job);
    size_t count;
    dismissals_of(f, run_id, &count);
    assert_int_equal(count, 1);
    assert_ok(f, store_delete_run(f->store, run_id, STORE_ANY, &f->err));
    dismissals_of(f, run_id, &count);
    assert_int_equal(count, 0);
}

static void a_finalized_run_stays_so_and_takes_more_ranks(void **state)
{
    struct fixture *f = *state;
    struct str run_id = run_with_finding(f);
    struct run run;
    assert_ok(f, store_find_run(f->store, run_id, &f->arena, &run, &f->err));
    assert_false(run.finalized);
    assert_ok(f, store_finalize_run(f->store, run_id, &f->err));
    add(f, "r", 'b', 1, "y.json");
    assert_ok(f, store_find_run(f->store, run_id, &f->arena, &run, &f->err));
    assert_true(run.finalized);
    assert_int_equal(run.received, 2);
    assert_false(store_finalize_run(f->store, STR("r_nothing"), &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
}

// With 40 ranks: at 8, 16 and 32, and when all are there.
static void many_ranks_are_joined_as_they_arrive(void **state)
{
    struct fixture *f = *state;
    size_t joins = 0, read = 0;
    size_t at[8];
    for (int64_t rank = 0; rank < 40; rank++)
        add(f, "r", (char)('A' + rank), rank, "x.json");
    while (open_jobs(f)) {
        struct job job = claim(f);
        struct report report = {.arena = &f->arena};
        struct trace_result result = {.rank = -1, .world_size = -1};
        if (job.kind == JOB_RUN) {
            assert_true(joins < 8);
            at[joins++] = read;
            finish_run(f, &job);
        } else {
            read++;
            assert_ok(f, end_trace(f, &job, &report, result));
        }
    }
    assert_int_equal(joins, 4);
    assert_int_equal(at[0], 8);
    assert_int_equal(at[1], 16);
    assert_int_equal(at[2], 32);
    assert_int_equal(at[3], 40);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_finding_is_put_aside_and_taken_back),
        TEST(only_findings_of_the_run_are_put_aside_and_not_without_reason),
        TEST(dismissals_outlive_another_analysis_and_go_with_their_run),
        TEST(a_finalized_run_stays_so_and_takes_more_ranks),
        TEST(many_ranks_are_joined_as_they_arrive),
    };
    return run_on_each_kind(tests);
}
