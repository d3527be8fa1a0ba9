// SPDX-License-Identifier: Apache-2.0
// Runs of one side weigh the same, however many steps each has; what is said of several runs.
#include "tests/named_cell.h"
#include "tests/unit/compare_hand.h"

#include <stdlib.h>

#define FALL    "compare_waterfall"
#define SUMMARY "compare_summary"

// Steps of one product, with tables that show the same time otherwise.
static void add_run(struct bench *bench, int64_t steps, int64_t calls_per_step, int64_t step_ns)
{
    int64_t ns = steps * step_ns;
    bench_add(bench);
    bench_part(bench, (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "k",
                                         steps * calls_per_step, ns});
    bench_steps(bench, steps, step_ns);
    struct report *rank = bench_rank(bench);
    ROW(rank, &table_comm_sizes, {"kind", .text = "all_reduce"},
        {"calls_per_step", .f = (double)calls_per_step}, {"steady_ns", .i = ns},
        {"steady_exposed_ns", .i = ns / 2});
    ROW(rank, &table_modules, {"id", .i = 0}, {"path", .text = ""}, {"self_owned_ns", .i = 0});
    ROW(rank, &table_modules, {"id", .i = 1}, {"parent", .i = 0}, {"name", .text = "A_0"},
        {"path", .text = "A_0"}, {"calls", .i = steps * calls_per_step},
        {"self_owned_ns", .i = ns / 2});
    const char *other = steps > 10 ? "B_0" : "C_0";
    ROW(rank, &table_modules, {"id", .i = 2}, {"parent", .i = 0}, {"name", .text = other},
        {"path", .text = other}, {"calls", .i = steps}, {"self_owned_ns", .i = ns / 2});
    ROW(bench_run(bench), &table_run_ranks, {"rank", .i = 0}, {"step_median_ns", .i = step_ns},
        {"steady_steps", .i = steps}, {"lateness_ns", .i = step_ns / 10});
}

// One long run of short steps, three short ones of longer steps; against steps in between.
static void compare_mixed(struct bench *bench, int64_t calls_of_long)
{
    bench_begin(bench);
    add_run(bench, 100, calls_of_long, 100000);
    for (int i = 0; i < 3; i++)
        add_run(bench, 5, 1, 110000);
    bench_side(bench, 4);
    for (int i = 0; i < 4; i++)
        add_run(bench, 5, 1, 108000);
    bench_side(bench, 4);
    bench_compare(bench);
}

static size_t module_row(const struct bench *bench, const char *path)
{
    const struct table *modules = bench_table(bench, "compare_modules");
    for (size_t i = 0; i < modules->row_count; i++)
        if (str_equal(named_cell(modules, i, "path")->s, str_of(path)))
            return i;
    fail_msg("no module %s", path);
    return 0;
}

static void a_long_run_counts_once_in_the_mean_step(void **state)
{
    (void)state;
    struct bench bench;
    compare_mixed(&bench, 1);
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "base_steps"), 115);
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "base_mean_ns"), 107500);
    assert_int_equal(bench_i64(&bench, SUMMARY, 0, "delta_mean_ns"), 500);
    size_t mm = bench_find(&bench, "op", "op", "aten::mm");
    assert_int_equal(bench_i64(&bench, FALL, mm, "base_steps"), 400);
    assert_int_equal(bench_i64(&bench, FALL, mm, "base_total_ns"), 43000000);
    assert_int_equal(bench_i64(&bench, FALL, mm, "base_calls"), 400);
    assert_int_equal(bench_i64(&bench, FALL, mm, "base_ns"), 107500);
    assert_int_equal(bench_i64(&bench, FALL, mm, "per_call_effect_ns"), 500);
    assert_int_equal(bench_i64(&bench, FALL, mm, "cand_steps"), 20);
    bench_end(&bench);
}

static void calls_weigh_as_times_do(void **state)
{
    (void)state;
    struct bench bench;
    compare_mixed(&bench, 5);
    size_t mm = bench_find(&bench, "op", "op", "aten::mm");
    assert_int_equal(bench_i64(&bench, FALL, mm, "base_calls"), 800); // 2 per step
    assert_int_equal(bench_i64(&bench, FALL, mm, "calls_effect_ns"), -53750);
    assert_true(bench_f64(&bench, "compare_collectives", 0, "base_calls") == 2);
    assert_true(bench_f64(&bench, "compare_modules", module_row(&bench, "A_0"), "base_calls") == 2);
    bench_end(&bench);
}

static void other_tables_weigh_runs_alike(void **state)
{
    (void)state;
    struct bench bench;
    compare_mixed(&bench, 1);
    assert_int_equal(bench_i64(&bench, "compare_collectives", 0, "base_ns"), 107500);
    assert_int_equal(bench_i64(&bench, "compare_collectives", 0, "delta_exposed_ns"), 250);
    assert_int_equal(bench_i64(&bench, "compare_ranks", 0, "base_lateness_ns"), 10750);
    assert_int_equal(bench_i64(&bench, "compare_modules", module_row(&bench, "B_0"), "base_ns"),
                     12500); // half of one run in four
    bench_end(&bench);
}

// The medians of the sides and the shift over pairs of runs go different ways.
static void of_repeats_the_shift_is_said(void **state)
{
    (void)state;
    static const int64_t steps_ns[2][4] = {{12500000, 12900000, 12910000, 12920000},
                                           {12600000, 12700000, 13500000, 13600000}};
    struct bench bench;
    bench_begin(&bench);
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < 4; i++)
            add_run(&bench, 5, 1, steps_ns[side][i]);
        bench_side(&bench, 4);
    }
    bench_compare(&bench);
    struct str text = bench_cell(&bench, SUMMARY, 0, "verdict_text")->s;
    assert_true(bench_i64(&bench, SUMMARY, 0, "delta_ns") < 0);
    assert_true(bench_f64(&bench, SUMMARY, 0, "shift_share") > 0);
    assert_true(
        str_starts_with(text, STR("the candidate's median step is 12.7 ms, the base's 12.9 "
                                  "ms; over all pairs of runs 3.0 % longer; within noise")));
    bench_end(&bench);
}

// A step of an hour and a million short ones: each run still counts once, without overflow.
static void any_numbers_of_steps_weigh_alike(void **state)
{
    (void)state;
    struct bench bench;
    const int64_t hour_ns = INT64_C(3600000000000);
    bench_begin(&bench);
    add_run(&bench, 1, 1, hour_ns);
    add_run(&bench, 1000000, 1, hour_ns / 1000000);
    bench_side(&bench, 2);
    add_run(&bench, 1, 1, hour_ns);
    bench_side(&bench, 1);
    bench_compare(&bench);
    assert_true(llabs(bench_i64(&bench, SUMMARY, 0, "base_mean_ns") - hour_ns / 2) < 3600000);
    bench_end(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_run_counts_once_in_the_mean_step),
        cmocka_unit_test(calls_weigh_as_times_do),
        cmocka_unit_test(other_tables_weigh_runs_alike),
        cmocka_unit_test(of_repeats_the_shift_is_said),
        cmocka_unit_test(any_numbers_of_steps_weigh_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
