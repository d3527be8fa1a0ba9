// SPDX-License-Identifier: Apache-2.0
// Which rows of communication belong together on both sides.
#include "tests/named_cell.h"
#include "tests/unit/compare_hand.h"

// A run of one step of one kernel.
static void add_run(struct bench *bench)
{
    bench_add(bench);
    bench_part(bench, (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "k", 1, 100});
    bench_steps(bench, 1, 100);
}

// As much time again was before the steady steps.
static void add_comm(struct bench *bench, const char *group, double calls_per_step,
                     int64_t steady_ns)
{
    ROW(bench_rank(bench), &table_comm_sizes, {"process_group", .text = group},
        {"kind", .text = "all_reduce"}, {"dtype", .text = "BFloat16"}, {"group_size", .i = 8},
        {"calls", .i = 100}, {"calls_per_step", .f = calls_per_step}, {"bytes", .i = 1000},
        {"total_ns", .i = 2 * steady_ns}, {"exposed_ns", .i = steady_ns},
        {"steady_ns", .i = steady_ns}, {"steady_exposed_ns", .i = steady_ns / 2},
        {"bus_gbps", .f = 100});
}

static void communication_joins_groups_of_one_role(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_run(&bench);
    ROW(bench_run(&bench), &table_run_comm_waits, {"process_group", .text = "3"},
        {"dimension", .text = "data"});
    ROW(bench_run(&bench), &table_run_comm_waits, {"process_group", .text = "1"},
        {"dimension", .text = "data"});
    add_comm(&bench, "1", 5, 500);
    add_comm(&bench, "3", 4, 600);
    bench_side(&bench, 1);
    add_run(&bench);
    ROW(bench_run(&bench), &table_run_comm_waits, {"process_group", .text = "0"},
        {"dimension", .text = "data"});
    add_comm(&bench, "0", 9, 2100);
    bench_side(&bench, 1);
    bench_compare(&bench);
    const char *table = "compare_collectives";
    assert_int_equal(bench_table(&bench, table)->row_count, 1);
    assert_true(bench_says(&bench, table, 0, "role", "data"));
    assert_true(bench_f64(&bench, table, 0, "base_calls") == 9.0);
    assert_int_equal(bench_i64(&bench, table, 0, "base_ns"), 1100);
    assert_int_equal(bench_i64(&bench, table, 0, "delta_ns"), 1000);
    assert_int_equal(bench_i64(&bench, table, 0, "delta_exposed_ns"), 500);
    assert_true(bench_f64(&bench, table, 0, "base_bus_gbps") == 100.0);
    bench_end(&bench);
}

// A profiler that knows kernels alone on one side, and one that knows bytes but no type on both.
static void what_one_side_does_not_say_of_communication_keeps_nothing_apart(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_run(&bench);
    add_comm(&bench, "1", 5, 500);
    ROW(bench_rank(&bench), &table_comm_sizes, {"kind", .text = "all_reduce"},
        {"dtype", .text = "Byte"}, {"calls_per_step", .f = 1}, {"steady_ns", .i = 100},
        {"size_class", .text = "1 MiB - 2 MiB"});
    bench_side(&bench, 1);
    add_run(&bench);
    ROW(bench_rank(&bench), &table_comm_sizes, {"kind", .text = "all_reduce"},
        {"calls_per_step", .f = 6}, {"steady_ns", .i = 700});
    bench_side(&bench, 1);
    bench_compare(&bench);
    const char *table = "compare_collectives";
    assert_int_equal(bench_table(&bench, table)->row_count, 1);
    assert_true(bench_f64(&bench, table, 0, "base_calls") == 6.0);
    assert_int_equal(bench_i64(&bench, table, 0, "delta_ns"), 100);
    assert_true(bench_cell(&bench, table, 0, "dtype")->null);
    assert_true(bench_cell(&bench, table, 0, "group_size")->null);
    assert_true(bench_cell(&bench, table, 0, "size_class")->null);
    bench_end(&bench);
}

// As Nsight Systems knows them: bytes, but no type.
static void add_bytes(struct bench *bench, int64_t steady_ns)
{
    ROW(bench_rank(bench), &table_comm_sizes, {"kind", .text = "all_reduce"},
        {"dtype", .text = "Byte"}, {"calls_per_step", .f = 2}, {"steady_ns", .i = steady_ns},
        {"size_class", .text = "1 MiB - 2 MiB"});
}

static void what_both_sides_say_of_communication_stays(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_run(&bench);
    add_bytes(&bench, 500);
    bench_side(&bench, 1);
    add_run(&bench);
    add_bytes(&bench, 700);
    bench_side(&bench, 1);
    bench_compare(&bench);
    const char *table = "compare_collectives";
    assert_int_equal(bench_table(&bench, table)->row_count, 1);
    assert_true(bench_says(&bench, table, 0, "dtype", "Byte"));
    assert_true(bench_says(&bench, table, 0, "size_class", "1 MiB - 2 MiB"));
    assert_true(bench_cell(&bench, table, 0, "group_size")->null);
    bench_end(&bench);
}

static void communication_of_one_side_alone_keeps_what_it_says(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_run(&bench);
    bench_side(&bench, 1);
    add_run(&bench);
    add_comm(&bench, "0", 9, 2100);
    bench_side(&bench, 1);
    bench_compare(&bench);
    assert_true(bench_says(&bench, "compare_collectives", 0, "dtype", "BFloat16"));
    assert_int_equal(bench_i64(&bench, "compare_collectives", 0, "group_size"), 8);
    bench_end(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(communication_joins_groups_of_one_role),
        cmocka_unit_test(what_one_side_does_not_say_of_communication_keeps_nothing_apart),
        cmocka_unit_test(what_both_sides_say_of_communication_stays),
        cmocka_unit_test(communication_of_one_side_alone_keeps_what_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
