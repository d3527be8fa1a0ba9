// SPDX-License-Identifier: Apache-2.0
// The waterfall: each rung of its ladder, sums at every level, and edges.
#include "tests/named_cell.h"
#include "tests/unit/compare_hand.h"

#include "analysis/names/op_alias.h"
#include "analysis/compare/waterfall.h"

#include <stdio.h>
#include <time.h>

#define FALL "compare_waterfall"

static void add_parts(struct bench *bench, const struct hand_part *parts, int64_t steps)
{
    bench_add(bench);
    for (; parts->bar; parts++)
        bench_part(bench, *parts);
    bench_steps(bench, steps, 1000);
    bench_side(bench, 1);
}

static void compare_parts(struct bench *bench, const struct hand_part *base, int64_t base_steps,
                          const struct hand_part *cand, int64_t cand_steps)
{
    bench_begin(bench);
    add_parts(bench, base, base_steps);
    add_parts(bench, cand, cand_steps);
    bench_compare(bench);
}

static void one_part_each(const struct hand_part *base, const struct hand_part *cand,
                          const char *match, const char *share)
{
    struct bench bench;
    struct hand_part left[2] = {*base}, right[2] = {*cand};
    compare_parts(&bench, left, 2, right, 2);
    size_t op = bench_find(&bench, "op", "bar", base->bar);
    assert_true(bench_says(&bench, FALL, op, "match", match));
    assert_true(bench_f64(&bench, "compare_summary", 0, share) == 1.0);
    bench_end(&bench);
}

static void each_rung_of_the_ladder_takes_what_the_ones_above_leave(void **state)
{
    (void)state;
    const struct hand_part full = {"gemm", "GEMM", "aten::mm", "[[8, 8]]", "/A_0", "nvjet", 2, 100};
    struct hand_part other = full;
    other.kernel = "Cijk";
    one_part_each(&full, &other, "module", "matched_module_share");
    other.module = "/B_0";
    one_part_each(&full, &other, "shape", "matched_shape_share");
    other.dims = "[[16, 8]]";
    one_part_each(&full, &other, "op", "matched_op_share");
    other.op = "aten::bmm";
    other.kernel = "nvjet";
    one_part_each(&full, &other, "kernel", "matched_kernel_share");
    other.kernel = "Cijk";
    one_part_each(&full, &other, "category", "matched_category_share");
    other.category = "convolution";
    one_part_each(&full, &other, "unmatched", "unmatched_share");
    other = full;
    other.bar = "attention";
    one_part_each(&full, &other, "unmatched", "unmatched_share");
}

static void kernels_without_an_operator_match_those_with_one_by_name(void **state)
{
    (void)state;
    const struct hand_part eager = {"gemm", "GEMM", "aten::mm", "[[8, 8]]", NULL, "nvjet", 2, 100};
    const struct hand_part graph = {"gemm", "GEMM", NULL, NULL, NULL, "nvjet", 2, 80};
    one_part_each(&eager, &graph, "kernel", "matched_kernel_share");
}

// As profilers name them.
static void copies_match_by_direction(void **state)
{
    (void)state;
    static const char *const to_device[] = {"MEMORY_COPY_HOST_TO_DEVICE", "CopyHostToDevice",
                                            "Memcpy HtoD (Host -> Device)",
                                            "[CUDA memcpy Host-to-Device]"};
    const char *bar = "exposed_memory", *category = "memory";
    for (size_t i = 0; i < sizeof to_device / sizeof *to_device; i++) {
        struct bench bench;
        const struct hand_part base[] = {
            {bar, category, NULL, NULL, NULL, "MEMORY_COPY_HOST_TO_DEVICE", 1, 200},
            {bar, category, NULL, NULL, NULL, "MEMORY_COPY_DEVICE_TO_HOST", 1, 30},
            {0}};
        const struct hand_part cand[] = {
            {bar, category, NULL, NULL, NULL, "CopyDeviceToHost", 1, 30},
            {bar, category, NULL, NULL, NULL, to_device[i], 1, 400},
            {0}};
        compare_parts(&bench, base, 1, cand, 1);
        assert_true(bench_f64(&bench, "compare_summary", 0, "matched_kernel_share") == 1.0);
        size_t op = bench_find(&bench, "op", "cand_kernel", to_device[i]);
        assert_int_equal(bench_i64(&bench, FALL, op, "base_ns"), 200);
        assert_int_equal(bench_i64(&bench, FALL, op, "cand_ns"), 400);
        bench_end(&bench);
    }
}

static void shares_of_all_rungs_sum_to_one(void **state)
{
    (void)state;
    struct bench bench;
    const struct hand_part base[] = {
        {"gemm", "GEMM", "aten::mm", "[[8]]", "/A_0", "k1", 1, 101},
        {"gemm", "GEMM", "aten::mm", "[[9]]", "/A_0", "k2", 1, 57},
        {"gemm", "GEMM", "aten::mm", "[[7]]", NULL, "k1", 1, 33},
        {"other_compute", "elementwise", "aten::add", "[[8]]", NULL, "e1", 3, 9},
        {"other_compute", "elementwise", NULL, NULL, NULL, "e2", 3, 19},
        {"other_compute", "reduction", "aten::sum", NULL, NULL, "r1", 1, 5},
        {"idle_other", "idle", NULL, NULL, NULL, NULL, 0, 1000},
        {0}};
    const struct hand_part cand[] = {
        {"gemm", "GEMM", "aten::mm", "[[8]]", "/A_0", "k9", 1, 11},
        {"gemm", "GEMM", "aten::mm", "[[19]]", "/A_0", "k8", 1, 77},
        {"gemm", "GEMM", "aten::mm", "[[7]]", NULL, "k1", 1, 44},
        {"other_compute", "elementwise", "aten::sub", "[[8]]", NULL, "e8", 3, 91},
        {"other_compute", "elementwise", NULL, NULL, NULL, "e2", 3, 29},
        {0}};
    static const char *const shares[] = {"matched_module_share",   "matched_shape_share",
                                         "matched_op_share",       "matched_kernel_share",
                                         "matched_category_share", "unmatched_share"};
    static const double expected[] = {112, 77, 134, 48, 100, 5}; // ns, of both sides
    compare_parts(&bench, base, 1, cand, 1);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        assert_true(fabs(bench_f64(&bench, "compare_summary", 0, shares[i]) - expected[i] / 476) <
                    1e-12);
    assert_true(fabs(bench_f64(&bench, "compare_summary", 0, "matched_share") - 371.0 / 476) <
                1e-12);
    size_t rest = bench_find(&bench, "op", "match", "category");
    assert_true(bench_says(&bench, FALL, rest, "op", NULL));
    assert_int_equal(bench_i64(&bench, FALL, rest, "base_ns"), 9);
    assert_int_equal(bench_i64(&bench, FALL, rest, "cand_ns"), 91);
    size_t add = bench_find(&bench, "shape", "op", "aten::add");
    assert_int_equal(bench_i64(&bench, FALL, add, "parent"), bench_i64(&bench, FALL, rest, "id"));
    bench_end(&bench);
}

static void shapes_that_only_one_side_has_are_joined_when_both_have_some(void **state)
{
    (void)state;
    struct bench bench;
    const struct hand_part base[] = {{"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "k1", 1, 10},
                                     {"gemm", "GEMM", "aten::mm", "[[9]]", NULL, "k2", 1, 20},
                                     {0}};
    const struct hand_part more[] = {{"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "k1", 1, 10}, {0}};
    const struct hand_part others[] = {{"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "k1", 1, 10},
                                       {"gemm", "GEMM", "aten::mm", "[[11]]", NULL, "k3", 1, 25},
                                       {"gemm", "GEMM", "aten::mm", "[[12]]", NULL, "k4", 1, 1},
                                       {0}};
    compare_parts(&bench, base, 1, more, 1);
    size_t alone = bench_find(&bench, "shape", "dims", "[[9]]");
    assert_true(bench_says(&bench, FALL, alone, "match", "op"));
    assert_true(bench_says(&bench, FALL, alone, "cand_kernel", NULL));
    bench_end(&bench);
    compare_parts(&bench, base, 1, others, 1);
    size_t joined = bench_find(&bench, "shape", "dims", NULL);
    assert_int_equal(bench_i64(&bench, FALL, joined, "base_ns"), 20);
    assert_int_equal(bench_i64(&bench, FALL, joined, "cand_ns"), 26);
    assert_true(bench_says(&bench, FALL, joined, "cand_kernel", "k3"));
    bench_end(&bench);
}

static void kernels_of_a_shape_pair_by_name_then_by_time(void **state)
{
    (void)state;
    struct bench bench;
    const struct hand_part base[] = {{"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "same", 1, 5},
                                     {"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "small", 1, 10},
                                     {"gemm", "GEMM", "aten::mm", "[[8]]", "/A_0", "big", 1, 90},
                                     {"gemm", "GEMM", "aten::mm", "[[8]]", "/B_0", "big", 1, 1},
                                     {0}};
    const struct hand_part cand[] = {{"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "same", 1, 70},
                                     {"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "large", 1, 60},
                                     {0}};
    compare_parts(&bench, base, 1, cand, 1);
    size_t same = bench_find(&bench, "kernel", "base_kernel", "same");
    size_t big = bench_find(&bench, "kernel", "base_kernel", "big");
    size_t small = bench_find(&bench, "kernel", "base_kernel", "small");
    assert_true(bench_says(&bench, FALL, same, "cand_kernel", "same"));
    assert_true(bench_says(&bench, FALL, big, "cand_kernel", "large"));
    assert_int_equal(bench_i64(&bench, FALL, big, "base_total_ns"), 91);
    assert_true(bench_says(&bench, FALL, small, "cand_kernel", NULL));
    size_t op = bench_find(&bench, "op", "op", "aten::mm");
    assert_true(bench_says(&bench, FALL, op, "base_kernel", "big"));
    assert_true(bench_says(&bench, FALL, op, "cand_kernel", "same"));
    bench_end(&bench);
}

static void the_kernel_of_an_operator_is_the_one_with_most_time_over_its_shapes(void **state)
{
    (void)state;
    struct bench bench;
    const struct hand_part parts[] = {{"gemm", "GEMM", "aten::mm", "[[1]]", NULL, "often", 1, 40},
                                      {"gemm", "GEMM", "aten::mm", "[[2]]", NULL, "often", 1, 40},
                                      {"gemm", "GEMM", "aten::mm", "[[3]]", NULL, "once", 1, 60},
                                      {0}};
    compare_parts(&bench, parts, 1, parts, 1);
    size_t op = bench_find(&bench, "op", "op", "aten::mm");
    assert_true(bench_says(&bench, FALL, op, "base_kernel", "often"));
    bench_end(&bench);
}

static void operators_of_two_vendors_are_one(void **state)
{
    (void)state;
    struct bench bench;
    const struct hand_part base[] = {{"other_compute", "convolution", "aten::cudnn_convolution",
                                      "[[1, 3]]", NULL, "cutlass_conv", 1, 100},
                                     {0}};
    const struct hand_part cand[] = {{"other_compute", "convolution", "aten::miopen_convolution",
                                      "[[1, 3]]", NULL, "igemm_fwd", 1, 40},
                                     {0}};
    compare_parts(&bench, base, 1, cand, 1);
    size_t op = bench_find(&bench, "op", "op", "aten::convolution");
    assert_true(bench_says(&bench, FALL, op, "match", "shape"));
    assert_int_equal(bench_i64(&bench, FALL, op, "delta_ns"), -60);
    bench_end(&bench);
}

static void names_of_operators_are_sorted_and_lead_nowhere_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < op_alias_count(); i++) {
        struct str op = op_alias_at(i), name = op_alias_name(op);
        assert_true(i == 0 || str_compare(op_alias_at(i - 1), op) < 0);
        assert_false(str_equal(name, op));
        assert_true(str_equal(op_alias_name(name), name));
    }
    assert_true(str_equal(op_alias_name(STR("my::op")), STR("my::op")));
}

static void sums_over_shapes_or_kernels_are_no_shape_and_no_kernel(void **state)
{
    (void)state;
    const struct hand_part rest = {"gemm", "GEMM", "aten::mm", "(other shapes)", NULL, "k", 1, 10};
    one_part_each(&rest, &rest, "op", "matched_op_share");
    const struct hand_part kernels = {"gemm", "GEMM", NULL, NULL, NULL, "(other kernels)", 1, 10};
    one_part_each(&kernels, &kernels, "category", "matched_category_share");
}

static void a_side_without_anything_leaves_all_unmatched(void **state)
{
    (void)state;
    struct bench bench;
    const struct hand_part parts[] = {{"gemm", "GEMM", "aten::mm", "[[1]]", NULL, "k", 4, 40},
                                      {"idle_other", "idle", NULL, NULL, NULL, NULL, 0, 8},
                                      {0}};
    const struct hand_part none[] = {{0}};
    compare_parts(&bench, parts, 4, none, 0);
    size_t op = bench_find(&bench, "op", "op", "aten::mm");
    assert_int_equal(bench_i64(&bench, FALL, op, "delta_ns"), -10);
    assert_int_equal(bench_i64(&bench, FALL, op, "calls_effect_ns"), -10);
    assert_true(bench_f64(&bench, "compare_summary", 0, "unmatched_share") == 1.0);
    bench_end(&bench);
    compare_parts(&bench, none, 0, none, 0);
    assert_int_equal(bench_table(&bench, FALL)->row_count, 8);
    assert_true(bench_cell(&bench, "compare_summary", 0, "unmatched_share")->null);
    bench_end(&bench);
}

static void time_that_no_part_tells_is_a_part(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    for (int side = 0; side < 2; side++) {
        bench_add(&bench);
        ROW(bench_rank(&bench), &table_breakdown, {"scope", .text = "steady"}, {"steps", .i = 3},
            {"gemm_ns", .i = 100 + side}, {"attention_ns", .i = 0}, {"other_compute_ns", .i = 0},
            {"exposed_comm_ns", .i = 0}, {"exposed_memory_ns", .i = 0},
            {"idle_host_wait_ns", .i = 0}, {"idle_other_ns", .i = 50}, {"unrecorded_ns", .i = 0},
            {"total_comm_ns", .i = 0}, {"total_memory_ns", .i = 0});
        bench_side(&bench, 1);
    }
    bench_compare(&bench);
    size_t rest = bench_find(&bench, "op", "bar", "gemm");
    assert_true(bench_says(&bench, FALL, rest, "category", NULL));
    assert_int_equal(bench_i64(&bench, FALL, rest, "cand_total_ns"), 101);
    bench_end(&bench);
}

static void parts_that_sum_to_more_than_the_breakdown_are_refused(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    for (int side = 0; side < 2; side++) {
        bench_add(&bench);
        bench_part(&bench, (struct hand_part){"gemm", "GEMM", "aten::mm", NULL, NULL, "k", 1, 10});
        bench_steps(&bench, 1, 10);
        bench_part(&bench, (struct hand_part){"gemm", "GEMM", "aten::mm", NULL, NULL, "l", 1, 10});
        bench_side(&bench, 1);
    }
    assert_false(bench_try(&bench));
    assert_int_equal(bench.err.code, ERR_FORMAT);
    bench_end(&bench);
}

static void refuse(int64_t calls, int64_t ns)
{
    struct bench bench;
    const struct hand_part parts[] = {{"gemm", "GEMM", "aten::mm", NULL, NULL, "k", calls, ns},
                                      {"gemm", "GEMM", "aten::mm", NULL, NULL, "k", calls, ns},
                                      {0}};
    bench_begin(&bench);
    bench_add(&bench);
    bench_part(&bench, parts[0]);
    bench_part(&bench, parts[1]);
    ROW(bench_rank(&bench), &table_breakdown, {"scope", .text = "steady"}, {"steps", .i = 1},
        {"gemm_ns", .i = ns}, {"attention_ns", .i = 0}, {"other_compute_ns", .i = 0},
        {"exposed_comm_ns", .i = 0}, {"exposed_memory_ns", .i = 0}, {"idle_host_wait_ns", .i = 0},
        {"idle_other_ns", .i = 0}, {"unrecorded_ns", .i = 0}, {"total_comm_ns", .i = 0},
        {"total_memory_ns", .i = 0});
    bench_side(&bench, 1);
    bench_side(&bench, 1);
    assert_false(bench_try(&bench));
    assert_int_equal(bench.err.code, ERR_FORMAT);
    bench_end(&bench);
}

static void impossible_numbers_are_refused(void **state)
{
    (void)state;
    refuse(1, INT64_MAX);
    refuse(1, -1);
    refuse(INT64_MAX, 1);
    refuse(-1, 1);
    refuse(INT64_MIN, 1);
}

static void the_largest_numbers_still_sum(void **state)
{
    (void)state;
    struct bench bench;
    const int64_t most = (int64_t)1 << 53;
    const struct hand_part base[] = {{"gemm", "GEMM", "aten::mm", "[[1]]", NULL, "k", most, most},
                                     {"gemm", "GEMM", "aten::mm", "[[2]]", NULL, "k", 1, most},
                                     {"idle_other", "idle", NULL, NULL, NULL, NULL, 0, most},
                                     {0}};
    const struct hand_part cand[] = {{"gemm", "GEMM", "aten::mm", "[[1]]", NULL, "k", 1, 1},
                                     {"gemm", "GEMM", "aten::mm", "[[2]]", NULL, "k", most, most},
                                     {0}};
    compare_parts(&bench, base, 3, cand, 1);
    assert_int_equal(bench_i64(&bench, "compare_summary", 0, "base_mean_ns"), most);
    bench_end(&bench);
}

static void a_change_is_what_calls_and_what_each_call_make(void **state)
{
    (void)state;
    // 10 calls of 10 ns per step become 15 calls of 8 ns: 5 x 10 more, 15 x 2 less.
    struct waterfall_effects effects = waterfall_split((int64_t[]){100, 120}, (double[]){10, 15});
    assert_int_equal(effects.calls_ns, 50);
    assert_int_equal(effects.per_call_ns, -30);
    effects = waterfall_split((int64_t[]){0, 120}, (double[]){0, 15});
    assert_int_equal(effects.calls_ns, 120);
    assert_int_equal(effects.per_call_ns, 0);
    effects = waterfall_split((int64_t[]){7, 5}, (double[]){0, 0});
    assert_int_equal(effects.calls_ns, 0);
    assert_int_equal(effects.per_call_ns, -2);
}

static void the_effect_of_any_number_of_calls_is_bounded(void **state)
{
    (void)state;
    // One call of an hour becomes as many calls as a trace can hold: the parts still sum.
    struct waterfall_effects effects =
        waterfall_split((int64_t[]){3600000000000, 10}, (double[]){1, 0x1p63});
    assert_int_equal(effects.calls_ns + effects.per_call_ns, 10 - 3600000000000);
}

static void modules_match_whatever_numbers_the_profiler_gave_them(void **state)
{
    (void)state;
    struct bench bench;
    static const char *const names[2][3] = {{"Block_7", "Linear_30", "Linear_31"},
                                            {"Block_2", "Linear_4", "Linear_12"}};
    static const char *const paths[2][3] = {{"Block_7", "Block_7/Linear_30", "Block_7/Linear_31"},
                                            {"Block_2", "Block_2/Linear_4", "Block_2/Linear_12"}};
    bench_begin(&bench);
    for (int side = 0; side < 2; side++) {
        bench_add(&bench);
        struct report *rank = bench_rank(&bench);
        ROW(rank, &table_modules, {"id", .i = 0}, {"depth", .i = 0}, {"path", .text = ""},
            {"self_owned_ns", .i = 0});
        for (int m = 2; m >= 0; m--) // in any order
            ROW(rank, &table_modules, {"id", .i = m + 1}, {"parent", .i = m ? 1 : 0},
                {"depth", .i = m ? 2 : 1}, {"name", .text = names[side][m]},
                {"path", .text = paths[side][m]}, {"calls", .i = 2},
                {"self_owned_ns", .i = m ? 10 : 0});
        for (int m = 1; m <= 2; m++)
            bench_part(&bench, (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]",
                                                  paths[side][m], "k", 1, 10 * m + side});
        bench_steps(&bench, 1, 30);
        bench_side(&bench, 1);
    }
    bench_compare(&bench);
    assert_true(bench_f64(&bench, "compare_summary", 0, "matched_module_share") == 1.0);
    bench_end(&bench);
}

static void every_candidate_has_rows_of_its_own(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    for (int side = 0; side < 3; side++) {
        bench_add(&bench);
        bench_part(&bench, (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "k", 1,
                                              100 + 10 * side});
        bench_steps(&bench, 1, 100 + 10 * side);
        bench_side(&bench, 1);
    }
    bench_compare(&bench);
    const struct table *fall = bench_table(&bench, FALL);
    size_t half = fall->row_count / 2;
    for (size_t i = 0; i < fall->row_count; i++)
        assert_int_equal(named_cell(fall, i, "cand")->i, i < half ? 1 : 2);
    assert_int_equal(bench_i64(&bench, FALL, half, "delta_ns"), 20);
    assert_int_equal(bench_i64(&bench, "compare_summary", 1, "delta_ns"), 20);
    bench_end(&bench);
}

// --- noise --------------------------------------------------------------------------------------

// Adds a side of runs whose operators take these times, each with small independent noise.
static void add_repeats(struct bench *bench, int runs, int64_t mm_ns, int64_t add_ns,
                        int64_t new_ns)
{
    static const int64_t noise[] = {0, 7, -5, 3, -8, 4};
    for (int r = 0; r < runs; r++) {
        int64_t mm = mm_ns + 1000 * noise[r], add = add_ns + 1000 * noise[(r + 2) % 6];
        bench_add(bench);
        bench_part(bench,
                   (struct hand_part){"gemm", "GEMM", "aten::mm", "[[8]]", NULL, "k", 1, mm});
        bench_part(bench, (struct hand_part){"other_compute", "elementwise", "aten::add", "[[8]]",
                                             NULL, "e", 1, add});
        if (new_ns)
            bench_part(bench, (struct hand_part){"other_compute", "elementwise", "my::op", "[[8]]",
                                                 NULL, "n", 1, new_ns + noise[r]});
        bench_steps(bench, 1, mm + add + new_ns);
    }
    bench_side(bench, (size_t)runs);
}

static bool row_says(const struct bench *bench, const char *op, const char *verdict)
{
    return bench_says(bench, FALL, bench_find(bench, "op", "op", op), "verdict", verdict);
}

static void a_row_beyond_the_noise_is_reported_and_others_are_not(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_repeats(&bench, 5, 10000000, 5000000, 0);
    add_repeats(&bench, 5, 10800000, 5000000, 700000);
    bench_compare(&bench);
    assert_true(bench_says(&bench, "compare_summary", 0, "verdict", "significant"));
    assert_true(row_says(&bench, "aten::mm", "significant"));
    assert_true(row_says(&bench, "aten::add", "within noise"));
    assert_true(
        row_says(&bench, "my::op", "significant")); // all runs of one side, none of the other
    size_t mm = bench_find(&bench, "op", "op", "aten::mm");
    assert_true(bench_i64(&bench, FALL, mm, "relevant"));
    assert_true(bench_f64(&bench, FALL, mm, "q_value") <= 0.05);
    size_t op = bench_find(&bench, "op", "op", "my::op");
    assert_true(fabs(bench_f64(&bench, FALL, op, "p_value") - 2.0 / 252) < 1e-12);
    assert_true(bench_cell(&bench, FALL, op, "q_value")->null);
    assert_false(bench_i64(&bench, FALL, bench_find(&bench, "op", "op", "aten::add"), "relevant"));
    bench_end(&bench);
}

static void rows_are_not_tested_when_neither_step_nor_bar_differs(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_repeats(&bench, 5, 10000000, 5000000, 0);
    add_repeats(&bench, 6, 10000500, 5000000, 0);
    bench_compare(&bench);
    const struct table *fall = bench_table(&bench, FALL);
    for (size_t i = 0; i < fall->row_count; i++) {
        bool bar = str_equal(named_cell(fall, i, "level")->s, STR("bar"));
        assert_false(named_cell(fall, i, "relevant")->i);
        assert_true(bar || named_cell(fall, i, "p_value")->null);
        assert_false(str_equal(named_cell(fall, i, "verdict")->s, STR("significant")));
    }
    bench_end(&bench);
}

static void one_run_a_side_leaves_every_row_unknown(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_repeats(&bench, 1, 10000000, 5000000, 0);
    add_repeats(&bench, 2, 20000000, 5000000, 0);
    bench_compare(&bench);
    assert_true(row_says(&bench, "aten::mm", "noise unknown"));
    bench_end(&bench);
}

static void repeats_pool_to_sums(void **state)
{
    (void)state;
    struct bench bench;
    bench_begin(&bench);
    add_repeats(&bench, 2, 10000000, 5000000, 0); // noise 0 and 7000
    add_repeats(&bench, 1, 10000000, 5000000, 0);
    bench_compare(&bench);
    size_t mm = bench_find(&bench, "op", "op", "aten::mm");
    assert_int_equal(bench_i64(&bench, FALL, mm, "base_total_ns"), 20007000);
    assert_int_equal(bench_i64(&bench, FALL, mm, "base_steps"), 2);
    assert_int_equal(bench_i64(&bench, FALL, mm, "base_ns"), 10003500);
    assert_int_equal(bench_i64(&bench, FALL, mm, "base_calls"), 2);
    assert_int_equal(bench_i64(&bench, FALL, mm, "calls_effect_ns"), 0);
    bench_end(&bench);
}

// --- size ---------------------------------------------------------------------------------------

// `count` parts: as many kernels and a tenth as many operators, some of which each third run lacks.
static void add_many(struct bench *bench, int count, int seed)
{
    bench_add(bench);
    for (int i = 0; i < count; i++) {
        char op[64], dims[64], kernel[160];
        snprintf(op, sizeof op, "aten::op_%d", i / 10 + (i % 17 == 0 ? seed : 0));
        snprintf(dims, sizeof dims, "[[%d, %d]]", i % 97, i % 10);
        snprintf(kernel, sizeof kernel,
                 "void at::native::vectorized_elementwise_kernel<4, functor_%d<float>, "
                 "std::array<char*, 2ul>>(int, functor_%d)",
                 i, seed);
        bench_part(bench, (struct hand_part){i % 3 ? "gemm" : "other_compute",
                                             i % 3 ? "GEMM" : "elementwise", op, dims, NULL, kernel,
                                             1 + i % 5, 1000 + (i * 7919 + seed) % 5003});
    }
    bench_steps(bench, 3, 1000000 + seed);
}

// Of the processor: a large comparison is interrupted by other programs, a small one is not.
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double time_compare(int parts)
{
    struct bench bench;
    bench_begin(&bench);
    for (int side = 0; side < 2; side++) {
        add_many(&bench, parts, side);
        bench_side(&bench, 1);
    }
    double begin = seconds();
    assert_true(bench_try(&bench));
    double took = seconds() - begin;
    bench_check_sums(&bench);
    bench_end(&bench);
    return took;
}

// Four times the rows may take five times as long (sorting); a quadratic pass would take sixteen
// times. Fewer rows would fit into memory that is mapped already, which costs a fraction.
static void forty_thousand_rows_take_no_more_than_their_share(void **state)
{
    (void)state;
    double small = time_compare(10000), large = time_compare(40000);
    assert_true(large < 9 * small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rung_of_the_ladder_takes_what_the_ones_above_leave),
        cmocka_unit_test(kernels_without_an_operator_match_those_with_one_by_name),
        cmocka_unit_test(copies_match_by_direction),
        cmocka_unit_test(shares_of_all_rungs_sum_to_one),
        cmocka_unit_test(shapes_that_only_one_side_has_are_joined_when_both_have_some),
        cmocka_unit_test(kernels_of_a_shape_pair_by_name_then_by_time),
        cmocka_unit_test(the_kernel_of_an_operator_is_the_one_with_most_time_over_its_shapes),
        cmocka_unit_test(operators_of_two_vendors_are_one),
        cmocka_unit_test(names_of_operators_are_sorted_and_lead_nowhere_else),
        cmocka_unit_test(sums_over_shapes_or_kernels_are_no_shape_and_no_kernel),
        cmocka_unit_test(a_side_without_anything_leaves_all_unmatched),
        cmocka_unit_test(time_that_no_part_tells_is_a_part),
        cmocka_unit_test(parts_that_sum_to_more_than_the_breakdown_are_refused),
        cmocka_unit_test(impossible_numbers_are_refused),
        cmocka_unit_test(the_largest_numbers_still_sum),
        cmocka_unit_test(a_change_is_what_calls_and_what_each_call_make),
        cmocka_unit_test(the_effect_of_any_number_of_calls_is_bounded),
        cmocka_unit_test(modules_match_whatever_numbers_the_profiler_gave_them),
        cmocka_unit_test(every_candidate_has_rows_of_its_own),
        cmocka_unit_test(a_row_beyond_the_noise_is_reported_and_others_are_not),
        cmocka_unit_test(rows_are_not_tested_when_neither_step_nor_bar_differs),
        cmocka_unit_test(one_run_a_side_leaves_every_row_unknown),
        cmocka_unit_test(repeats_pool_to_sums),
        cmocka_unit_test(forty_thousand_rows_take_no_more_than_their_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
