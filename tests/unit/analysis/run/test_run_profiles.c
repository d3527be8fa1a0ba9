// SPDX-License-Identifier: Apache-2.0
// Launches that Nsight Compute measured, found among the kernels of a run.
#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "analysis/run/run_profiles.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct joined {
    struct arena arena;
    struct report rank, run;
    struct rank_source source;
    struct err err;
};

static bool load(void *context, size_t index, const struct table_desc *const *known,
                 struct report *report, struct err *err)
{
    const struct joined *joined = context;
    const struct table *shapes = report_find(&joined->rank, "kernel_shapes");
    assert_int_equal(index, 1);
    assert_ptr_equal(known[0], &table_kernel_shapes);
    return !shapes || report_append(report, shapes, err);
}

static int set_up(void **state)
{
    static const int64_t ranks[] = {0, 5};
    static struct joined joined;
    joined = (struct joined){.err = {.pos = ERR_NO_POS}};
    arena_init(&joined.arena, NULL);
    joined.rank.arena = joined.run.arena = &joined.arena;
    joined.source = (struct rank_source){.ranks = ranks, .count = 2, .context = &joined};
    joined.source.load = load;
    struct row summary = {.desc = &table_run_summary};
    row_i64(&summary, RUN_SUMMARY_HEADLINE_RANK, 5);
    assert_true(row_end(&summary, &joined.run, &joined.err));
    *state = &joined;
    return 0;
}

static int tear_down(void **state)
{
    struct joined *joined = *state;
    arena_free(&joined->arena);
    return 0;
}

// A kernel of the trace with that grid; the heaviest come first.
static void launched(struct joined *joined, const char *name, const char *grid, int64_t median_ns,
                     int64_t first_ns)
{
    struct row shape = {.desc = &table_kernel_shapes};
    row_word(&shape, KERNEL_SHAPES_NAME, name);
    row_word(&shape, KERNEL_SHAPES_GRID, grid);
    row_word(&shape, KERNEL_SHAPES_BLOCK, "256,1,1");
    row_i64(&shape, KERNEL_SHAPES_CALLS, 10);
    row_i64(&shape, KERNEL_SHAPES_MEDIAN_NS, median_ns);
    row_i64(&shape, KERNEL_SHAPES_FIRST_NS, first_ns);
    assert_true(row_end(&shape, &joined->rank, &joined->err));
}

static void listed(struct joined *joined, const char *name)
{
    struct row kernel = {.desc = &table_run_kernels};
    row_word(&kernel, RUN_KERNELS_KERNEL_NAME + KERNEL_NAME_NAME, name);
    assert_true(row_end(&kernel, &joined->run, &joined->err));
}

static void measured(struct joined *joined, const char *name, const char *grid, int64_t ns,
                     double dram_percent)
{
    struct row row = {.desc = &table_kernel_profiles};
    row_word(&row, KERNEL_PROFILES_FILE, "a.csv");
    row_word(&row, KERNEL_PROFILES_KERNEL, name);
    row_word(&row, KERNEL_PROFILES_GRID, grid);
    row_word(&row, KERNEL_PROFILES_BLOCK, "256,1,1");
    row_i64(&row, KERNEL_PROFILES_DURATION_NS, ns);
    row_f64(&row, KERNEL_PROFILES_DRAM_PERCENT, dram_percent);
    row_word(&row, KERNEL_PROFILES_STALLS, ns > 100 ? "barrier 50 %" : "wait 50 %");
    assert_true(row_end(&row, &joined->run, &joined->err));
}

static const struct table *join(struct joined *joined)
{
    assert_true(run_join_profiles(&joined->source, &joined->run, &joined->err));
    return report_find(&joined->run, "kernel_profiles");
}

static void assert_text(struct str found, const char *expected)
{
    if (!str_equal(found, str_of(expected)))
        fail_msg("\"%.*s\", expected \"%s\"", (int)found.len, found.at, expected);
}

static void assert_match(const struct table *profiles, size_t row, const char *matched,
                         const char *kernel, int64_t median_ns)
{
    assert_text(table_text(profiles, row, KERNEL_PROFILES_MATCHED), matched);
    assert_text(table_text(profiles, row, KERNEL_PROFILES_TRACE_KERNEL), kernel);
    assert_int_equal(table_i64(profiles, row, KERNEL_PROFILES_TRACE_MEDIAN_NS, -1), median_ns);
}

static double measured_of(const struct joined *joined, size_t row, unsigned column)
{
    const struct table *kernels = report_find(&joined->run, "kernels");
    return table_f64(kernels, row, RUN_KERNELS_PROFILED + column, NAN);
}

static void a_launch_is_found_by_name_and_grid_and_its_kernel_shows_it(void **state)
{
    struct joined *joined = *state;
    launched(joined, "void f<int>(float*)", "8,1,1", 90, 0);
    launched(joined, "void f<int>(float*)", "4,1,1", 50, 0);
    launched(joined, "g", "8,1,1", 70, 0);
    listed(joined, "g");
    listed(joined, "void f<int>(float*)");
    measured(joined, "f<int>(float *)", "8,1,1", 100, 50);
    measured(joined, "f<int>(float *)", "8,1,1", 300, 90);
    measured(joined, "h", "8,1,1", 100, 50);
    const struct table *profiles = join(joined);
    assert_match(profiles, 0, "name and grid", "void f<int>(float*)", 90);
    assert_match(profiles, 2, "", "", -1);
    const struct table *kernels = report_find(&joined->run, "kernels");
    assert_true(measured_of(joined, 1, PROFILED_DRAM_PERCENT) == 80); // by time
    assert_int_equal(table_i64(kernels, 1, RUN_KERNELS_PROFILED + PROFILED_PROFILED_LAUNCHES, -1),
                     2);
    assert_int_equal(table_i64(kernels, 1, RUN_KERNELS_PROFILED + PROFILED_PROFILED_NS, -1), 100);
    assert_text(table_text(kernels, 1, RUN_KERNELS_PROFILED + PROFILED_STALLS), "barrier 50 %");
    assert_text(table_text(kernels, 1, RUN_KERNELS_PROFILED + PROFILED_PROFILE_BASIS),
                "a.csv: name and grid");
    assert_true(isnan(measured_of(joined, 0, PROFILED_DRAM_PERCENT)));
}

// Their times cannot be compared: a launch of another grid does other work.
static void another_grid_of_the_name_is_shown_without_the_time_of_the_trace(void **state)
{
    struct joined *joined = *state;
    launched(joined, "f", "8,1,1", 90, 0);
    listed(joined, "f");
    measured(joined, "f", "16,1,1", 100, 50);
    assert_match(join(joined), 0, "name only", "f", -1);
    assert_true(measured_of(joined, 0, PROFILED_DRAM_PERCENT) == 50);
}

static void a_kernel_counts_launches_of_its_own_grid_before_others(void **state)
{
    struct joined *joined = *state;
    launched(joined, "f", "8,1,1", 90, 0);
    listed(joined, "f");
    measured(joined, "f", "16,1,1", 1000, 50);
    measured(joined, "f", "8,1,1", 100, 70);
    join(joined);
    assert_true(measured_of(joined, 0, PROFILED_DRAM_PERCENT) == 70);
}

static void kernels_of_one_base_name_are_found_by_their_order(void **state)
{
    struct joined *joined = *state;
    launched(joined, "void at::f<2>(int)", "8,1,1", 90, 500);
    launched(joined, "void at::f<1>(int)", "8,1,1", 80, 100);
    listed(joined, "void at::f<1>(int)");
    measured(joined, "f", "8,1,1", 1, 0);
    measured(joined, "f", "8,1,1", 2, 0);
    const struct table *profiles = join(joined);
    assert_match(profiles, 0, "name and grid", "void at::f<1>(int)", 80);
    assert_match(profiles, 1, "name and grid", "void at::f<2>(int)", 90);
}

static void without_as_many_launches_of_each_the_heaviest_is_taken(void **state)
{
    struct joined *joined = *state;
    launched(joined, "void at::f<2>(int)", "8,1,1", 90, 500);
    launched(joined, "void at::f<1>(int)", "8,1,1", 80, 100);
    listed(joined, "void at::f<2>(int)");
    for (int i = 0; i < 3; i++)
        measured(joined, "f", "8,1,1", 1, 0);
    const struct table *profiles = join(joined);
    for (size_t i = 0; i < 3; i++)
        assert_match(profiles, i, "name and grid", "void at::f<2>(int)", 90);
}

static void without_a_trace_or_shapes_nothing_is_filled(void **state)
{
    struct joined *joined = *state;
    measured(joined, "f", "8,1,1", 1, 0);
    assert_match(join(joined), 0, "", "", -1);
    listed(joined, "f");
    assert_match(join(joined), 0, "", "", -1);
}

static void names_are_compared_in_one_spelling(void **state)
{
    struct joined *joined = *state;
    launched(joined, "void at::(anonymous namespace)::g<4, true, a::b<int> >(float*, int)", "8,1,1",
             90, 500);
    launched(joined, "void at::(anonymous namespace)::g<8, true, a::b<int> >(float*, int)", "8,1,1",
             80, 600);
    listed(joined, "void at::(anonymous namespace)::g<4, true, a::b<int> >(float*, int)");
    measured(joined, "at::<unnamed>::g<(int)4, (bool)1, a::b<int>>(float *, int)", "8,1,1", 1, 0);
    assert_match(join(joined), 0, "name and grid",
                 "void at::(anonymous namespace)::g<4, true, a::b<int> >(float*, int)", 90);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_launch_is_found_by_name_and_grid_and_its_kernel_shows_it),
        TEST(another_grid_of_the_name_is_shown_without_the_time_of_the_trace),
        TEST(a_kernel_counts_launches_of_its_own_grid_before_others),
        TEST(kernels_of_one_base_name_are_found_by_their_order),
        TEST(without_as_many_launches_of_each_the_heaviest_is_taken),
        TEST(without_a_trace_or_shapes_nothing_is_filled),
        TEST(names_are_compared_in_one_spelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
