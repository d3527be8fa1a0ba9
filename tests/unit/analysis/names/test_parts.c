// SPDX-License-Identifier: Apache-2.0
// Rounded parts sum to rounded wholes, whatever the remainders.
#include "analysis/names/parts.h"
#include "analysis/report/tables.h"
#include "tests/named_cell.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

static void the_largest_remainders_are_rounded_up(void **state)
{
    (void)state;
    const int64_t weights[] = {1, 1, 1, 4};
    int64_t out[4];
    struct err err;
    assert_true(parts_share_out(10, weights, out, 4, &err)); // 1.43 1.43 1.43 5.71
    const int64_t expected[] = {2, 1, 1, 6};
    assert_memory_equal(out, expected, sizeof out);
}

static void shares_of_large_numbers_do_not_overflow(void **state)
{
    (void)state;
    const int64_t weights[] = {INT64_MAX / 4, INT64_MAX / 4, INT64_MAX / 4};
    int64_t out[3];
    struct err err;
    assert_true(parts_share_out(INT64_MAX, weights, out, 3, &err));
    assert_int_equal(out[0] + out[1] + out[2], INT64_MAX);
    assert_int_equal(out[0], INT64_MAX / 3 + 1);
    assert_int_equal(out[2], INT64_MAX / 3);
}

static void without_weights_everything_goes_to_the_first(void **state)
{
    (void)state;
    const int64_t weights[] = {0, 0};
    int64_t out[2];
    struct err err;
    assert_true(parts_share_out(7, weights, out, 2, &err));
    assert_int_equal(out[0], 7);
    assert_int_equal(out[1], 0);
    assert_true(parts_share_out(7, weights, out, 0, &err));
}

static void a_mean_step_still_sums_to_its_window(void **state)
{
    (void)state;
    struct parts total = {.bar_ns = {10, 10, 10, 10, 10, 10, 11, 10}, .total_comm_ns = 11};
    struct parts mean = parts_per_step(&total, 3);
    assert_int_equal(parts_window_ns(&mean), 27); // 81 / 3
    assert_int_equal(mean.total_comm_ns, 4);
    for (int b = 0; b < BAR_COUNT; b++)
        assert_in_range(mean.bar_ns[b], 3, 4);
}

static void parts_are_written_and_read_back(void **state)
{
    (void)state;
    struct arena arena;
    arena_init(&arena, NULL);
    struct report report = {.arena = &arena};
    struct parts parts = {
        .bar_ns = {1, 2, 4, 8, 16, 32, 64}, .total_comm_ns = 10, .total_memory_ns = 20};
    struct row row = {.desc = &table_breakdown};
    struct err err;
    parts_row(&row, BREAKDOWN_TIMES, &parts);
    assert_true(row_end(&row, &report, &err));
    const struct table *table = report_find(&report, "breakdown");
    struct parts back = parts_read(table, 0, BREAKDOWN_TIMES);
    assert_memory_equal(&back, &parts, sizeof parts);
    assert_int_equal(named_cell(table, 0, "window_ns")->i, 127);
    assert_int_equal(named_cell(table, 0, "compute_ns")->i, 7);
    assert_int_equal(named_cell(table, 0, "idle_ns")->i, 96);
    assert_int_equal(named_cell(table, 0, "busy_ns")->i, 31);
    assert_true(named_cell(table, 0, "overlap_share")->f == 0.2);
    arena_free(&arena);
}

static void what_is_no_number_of_steps_gives_no_mean(void **state)
{
    (void)state;
    struct parts total = {.bar_ns = {[BAR_GEMM] = INT64_MAX}, .total_comm_ns = INT64_MIN};
    static const int64_t steps[] = {-1, 0, INT64_MIN};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct parts mean = parts_per_step(&total, steps[i]);
        assert_true(mean.total_comm_ns == 0);
        assert_true(parts_window_ns(&mean) == 0);
    }
}

static void damaged_parts_give_no_mean(void **state)
{
    (void)state;
    static const struct parts damaged[] = {
        {.bar_ns = {[BAR_GEMM] = 100, [BAR_IDLE_OTHER] = -7}},
        {.bar_ns = {[BAR_GEMM] = INT64_MAX, [BAR_ATTENTION] = INT64_MAX, [BAR_IDLE_OTHER] = 40}},
    };
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        struct parts mean = parts_per_step(&damaged[i], 3);
        assert_true(parts_window_ns(&mean) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_parts_give_no_mean),
        cmocka_unit_test(the_largest_remainders_are_rounded_up),
        cmocka_unit_test(shares_of_large_numbers_do_not_overflow),
        cmocka_unit_test(without_weights_everything_goes_to_the_first),
        cmocka_unit_test(a_mean_step_still_sums_to_its_window),
        cmocka_unit_test(parts_are_written_and_read_back),
        cmocka_unit_test(what_is_no_number_of_steps_gives_no_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
