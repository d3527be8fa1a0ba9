// SPDX-License-Identifier: Apache-2.0
// Device time by category sums to the bars exactly, and unmatched work is named.
#include "analysis/names/category.h"
#include "tests/unit/hand_trace.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void add_launched(struct hand *hand, const char *op, const char *kernel, int64_t begin_ns,
                         int64_t correlation)
{
    hand_add(hand,
             (struct hand_event){
                 .kind = EVENT_CPU_OP, .name = op, .row = 1, .begin_ns = begin_ns, .dur_ns = 10});
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = "cudaLaunchKernel",
                                       .row = 1,
                                       .begin_ns = begin_ns + 2,
                                       .dur_ns = 4,
                                       .correlation = correlation});
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = kernel,
                                       .row = 7,
                                       .begin_ns = begin_ns + 100,
                                       .dur_ns = 10,
                                       .correlation = correlation});
}

struct expected {
    const char *category, *bar;
    int64_t calls, total_ns, owned_ns;
};

static void check_row(const struct hand *hand, struct expected expected)
{
    size_t row = hand_find(hand, "categories", "category", expected.category);
    assert_string_equal(hand_word(hand, "categories", row, "bar"), expected.bar);
    assert_int_equal(hand_i64(hand, "categories", row, "calls"), expected.calls);
    assert_int_equal(hand_i64(hand, "categories", row, "total_ns"), expected.total_ns);
    assert_int_equal(hand_i64(hand, "categories", row, "owned_ns"), expected.owned_ns);
    assert_int_equal(hand_i64(hand, "categories", row, "steady_owned_ns"), expected.owned_ns);
}

// GEMM owns 0..100, the unknown kernel 100..150, the collective 150..200; the fill is hidden.
static void overlapping_work_is_owned_once(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "volta_sgemm_64x64_nt", 1, 0, 100);
    hand_kernel(&hand, "mystery", 2, 50, 100);
    hand_kernel(&hand, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 4, 90, 110);
    hand_add(&hand, (struct hand_event){.kind = EVENT_MEMSET,
                                        .name = "Memset (Device)",
                                        .row = 3,
                                        .begin_ns = 140,
                                        .dur_ns = 20});
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "categories"), 4);
    check_row(&hand, (struct expected){"GEMM", "gemm", 1, 100, 100});
    check_row(&hand, (struct expected){"other", "other_compute", 1, 100, 50});
    check_row(&hand, (struct expected){"communication", "exposed_comm", 1, 110, 50});
    check_row(&hand, (struct expected){"fill", "exposed_memory", 1, 20, 0});
    hand_end(&hand);
}

static void kernels_and_operators_are_counted_once_each(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_launched(&hand, "aten::mm", "kernel_a", 0, 1);
    add_launched(&hand, "aten::mm", "kernel_b", 20, 2);
    add_launched(&hand, "aten::addmm", "kernel_a", 40, 3);
    add_launched(&hand, "aten::mul", "kernel_a", 60, 4);
    hand_kernel(&hand, "nvjet_tst_64x8", 8, 200, 10);
    hand_analyze(&hand);
    size_t gemm = hand_find(&hand, "categories", "category", "GEMM");
    assert_int_equal(hand_i64(&hand, "categories", gemm, "calls"), 4);
    assert_int_equal(hand_i64(&hand, "categories", gemm, "kernels"), 3);
    assert_int_equal(hand_i64(&hand, "categories", gemm, "ops"), 2);
    size_t element = hand_find(&hand, "categories", "category", "elementwise");
    assert_int_equal(hand_i64(&hand, "categories", element, "kernels"), 1);
    assert_int_equal(hand_i64(&hand, "categories", element, "ops"), 1);
    hand_end(&hand);
}

static void a_wrapper_leaves_the_decision_to_the_kernel(void **state)
{
    (void)state;
    static const char *const wrappers[] = {"## Call CompiledFxGraph f1 ##", "CompiledFunction",
                                           "_LayerNormLinear", "record_param_comms",
                                           "autograd::engine::evaluate_function: XBackward0"};
    struct hand hand;
    hand_begin(&hand);
    for (size_t i = 0; i < COUNT(wrappers); i++)
        add_launched(&hand, wrappers[i], "attn_fwd", (int64_t)i * 20, (int64_t)i + 1);
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "categories"), 1);
    check_row(&hand, (struct expected){"attention", "attention", COUNT(wrappers),
                                       10 * COUNT(wrappers), 10 * COUNT(wrappers)});
    hand_end(&hand);
}

// 40 of 1000 ns are unknown: 30 of one kernel under two operators, 10 of another.
static void what_no_rule_knows_is_named_by_time(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_launched(&hand, "my::op", "mystery", 0, 1);
    add_launched(&hand, "my::op", "mystery", 20, 2);
    add_launched(&hand, "my::other", "mystery", 40, 3);
    hand_kernel(&hand, "riddle", 7, 200, 10);
    hand_kernel(&hand, "volta_sgemm_64x64_nt", 7, 300, 960);
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "uncategorized"), 3);
    assert_string_equal(hand_word(&hand, "uncategorized", 0, "kernel"), "mystery");
    assert_string_equal(hand_word(&hand, "uncategorized", 0, "op"), "my::op");
    assert_int_equal(hand_i64(&hand, "uncategorized", 0, "calls"), 2);
    assert_int_equal(hand_i64(&hand, "uncategorized", 0, "owned_ns"), 20);
    size_t riddle = hand_find(&hand, "uncategorized", "kernel", "riddle");
    assert_null(hand_word(&hand, "uncategorized", riddle, "op"));
    assert_int_equal(hand_i64(&hand, "uncategorized", riddle, "owned_ns"), 10);
    size_t trust = hand_find(&hand, "trust", "item", "uncategorized");
    assert_string_equal(hand_word(&hand, "trust", trust, "severity"), "info");
    assert_int_equal(hand_i64(&hand, "trust", trust, "count"), 4);
    assert_int_equal(hand_i64(&hand, "trust", trust, "time_ns"), 40);
    assert_string_equal(hand_word(&hand, "trust", trust, "detail"),
                        "compute not matched by any category rule: 4.0 % of busy time; most "
                        "in mystery (2.0 %), mystery (1.0 %), riddle (1.0 %)");
    hand_end(&hand);
}

static void much_that_no_rule_knows_is_a_warning(void **state)
{
    (void)state;
    char endless[3000];
    memset(endless, 'z', sizeof endless);
    endless[sizeof endless - 1] = '\0';
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, endless, 1, 0, 51);
    hand_kernel(&hand, "volta_sgemm_64x64_nt", 1, 51, 949);
    hand_analyze(&hand);
    size_t trust = hand_find(&hand, "trust", "item", "uncategorized");
    assert_string_equal(hand_word(&hand, "trust", trust, "severity"), "warning");
    const char *detail = hand_word(&hand, "trust", trust, "detail");
    assert_non_null(strstr(detail, ": 5.1 % of busy time; most in zzz"));
    assert_true(strlen(detail) < 256);
    hand_end(&hand);
}

static void a_trace_whose_names_are_all_known_has_no_such_row(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_kernel(&hand, "volta_sgemm_64x64_nt", 1, 0, 10);
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "uncategorized"), 0);
    for (size_t i = 0; i < hand_rows(&hand, "trust"); i++)
        assert_string_not_equal(hand_word(&hand, "trust", i, "item"), "uncategorized");
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlapping_work_is_owned_once),
        cmocka_unit_test(kernels_and_operators_are_counted_once_each),
        cmocka_unit_test(a_wrapper_leaves_the_decision_to_the_kernel),
        cmocka_unit_test(what_no_rule_knows_is_named_by_time),
        cmocka_unit_test(much_that_no_rule_knows_is_a_warning),
        cmocka_unit_test(a_trace_whose_names_are_all_known_has_no_such_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
