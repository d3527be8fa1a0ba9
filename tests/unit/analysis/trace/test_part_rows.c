// SPDX-License-Identifier: Apache-2.0
// What the bars consist of: which rows are kept apart, that they sum to the bars to the nanosecond,
// and what is merged if there are too many.
#include "tests/unit/hand_trace.h"

#include <stdio.h>

enum { MAX_ROWS = 20000 };

// One launch and its kernel of dur_ns, by an operator in a module; NULL for none.
struct call {
    const char *module, *op, *dims, *kernel;
    int64_t dur_ns;
};

static void add_call(struct hand *hand, int64_t number, struct call call)
{
    int64_t begin_ns = 100 * number;
    if (call.module)
        hand_add(hand, (struct hand_event){.kind = EVENT_PYTHON,
                                           .name = call.module,
                                           .begin_ns = begin_ns,
                                           .dur_ns = 90});
    if (call.op)
        hand_add(hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                           .name = call.op,
                                           .begin_ns = begin_ns + 10,
                                           .dur_ns = 50,
                                           .dims = call.dims,
                                           .types = call.dims ? "[\"float\"]" : NULL});
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = "cudaLaunchKernel",
                                       .begin_ns = begin_ns + 20,
                                       .dur_ns = 10,
                                       .correlation = number});
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = call.kernel,
                                       .row = 7,
                                       .begin_ns = begin_ns + 40,
                                       .dur_ns = call.dur_ns,
                                       .correlation = number});
}

static void assert_sums(const struct hand *hand)
{
    static const char *const bars[] = {
        "gemm",           "attention",      "other_compute", "exposed_comm",
        "exposed_memory", "idle_host_wait", "idle_other",    "unrecorded",
    };
    size_t steady = hand_find(hand, "breakdown", "scope", "steady");
    for (size_t b = 0; b < sizeof bars / sizeof *bars; b++) {
        char column[32];
        int64_t sum_ns = 0;
        snprintf(column, sizeof column, "%s_ns", bars[b]);
        for (size_t row = 0; row < hand_rows(hand, "parts"); row++)
            if (strcmp(hand_word(hand, "parts", row, "bar"), bars[b]) == 0)
                sum_ns += hand_i64(hand, "parts", row, "owned_ns");
        assert_int_equal(sum_ns, hand_i64(hand, "breakdown", steady, column));
    }
}

// How many rows have that text in the column; NULL: how many have none.
static size_t count_rows(const struct hand *hand, const char *column, const char *value)
{
    size_t count = 0;
    for (size_t row = 0; row < hand_rows(hand, "parts"); row++) {
        const char *word = hand_word(hand, "parts", row, column);
        count += word && value ? strcmp(word, value) == 0 : word == value;
    }
    return count;
}

static int64_t calls_of_all(const struct hand *hand)
{
    int64_t calls = 0;
    for (size_t row = 0; row < hand_rows(hand, "parts"); row++)
        calls += hand_i64(hand, "parts", row, "calls");
    return calls;
}

static void rows_differ_by_operator_shapes_module_and_kernel(void **state)
{
    (void)state;
    static const struct call calls[] = {
        {"nn.Module: A_0", "aten::mm", "[[2, 3]]", "sgemm", 30},
        {"nn.Module: A_0", "aten::mm", "[[2, 3]]", "sgemm", 30},
        {"nn.Module: B_0", "aten::mm", "[[2, 3]]", "sgemm", 29},
        {"nn.Module: A_0", "aten::mm", "[[5, 5]]", "sgemm", 28},
        {"nn.Module: A_0", "aten::mm", "[[2, 3]]", "sgemm_splitk", 27},
        {NULL, "aten::mm", NULL, "sgemm", 26},
        {NULL, NULL, NULL, "sgemm", 25},
        {"nn.Module: B_0", NULL, NULL, "sgemm", 24},
    };
    struct hand hand;
    hand_begin(&hand);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        add_call(&hand, (int64_t)i + 1, calls[i]);
    hand_analyze(&hand);
    assert_int_equal(count_rows(&hand, "bar", "gemm"), 7);
    assert_int_equal(hand_i64(&hand, "parts", 0, "calls"), 2);
    assert_int_equal(hand_i64(&hand, "parts", 0, "owned_ns"), 60);
    assert_string_equal(hand_word(&hand, "parts", 0, "op"), "aten::mm");
    assert_string_equal(hand_word(&hand, "parts", 0, "dims"), "[[2,3]]");
    assert_string_equal(hand_word(&hand, "parts", 0, "types"), "[\"float\"]");
    assert_string_equal(hand_word(&hand, "parts", 0, "module"), "A_0");
    assert_string_equal(hand_word(&hand, "parts", 0, "kernel"), "sgemm");
    assert_string_equal(hand_word(&hand, "parts", 1, "module"), "B_0");
    assert_string_equal(hand_word(&hand, "parts", 2, "dims"), "[[5,5]]");
    assert_string_equal(hand_word(&hand, "parts", 3, "kernel"), "sgemm_splitk");
    assert_null(hand_word(&hand, "parts", 4, "dims"));
    assert_null(hand_word(&hand, "parts", 4, "module"));
    assert_null(hand_word(&hand, "parts", 5, "op"));
    assert_string_equal(hand_word(&hand, "parts", 6, "module"), "B_0");
    assert_sums(&hand);
    hand_end(&hand);
}

static void with_too_many_rows_modules_are_not_distinguished(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int64_t i = 1; i <= MAX_ROWS + 1; i++) {
        char module[32];
        snprintf(module, sizeof module, "nn.Module: M_%d", (int)i);
        add_call(&hand, i, (struct call){module, "aten::mm", i % 2 ? "[1]" : "[2]", "sgemm", 1});
    }
    hand_analyze(&hand);
    assert_int_equal(count_rows(&hand, "bar", "gemm"), 2);
    assert_int_equal(count_rows(&hand, "dims", "[1]"), 1);
    assert_int_equal(count_rows(&hand, "module", NULL), hand_rows(&hand, "parts"));
    assert_int_equal(calls_of_all(&hand), MAX_ROWS + 1);
    assert_sums(&hand);
    hand_end(&hand);
}

static void with_too_many_still_shapes_are_not_distinguished(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int64_t i = 1; i <= MAX_ROWS + 1; i++) {
        char dims[32];
        snprintf(dims, sizeof dims, "[[%d]]", (int)i);
        add_call(&hand, i, (struct call){"nn.Module: M_0", "aten::mm", dims, "sgemm", 1});
    }
    add_call(&hand, MAX_ROWS + 2, (struct call){NULL, "aten::mm", NULL, "sgemm", 1});
    hand_analyze(&hand);
    assert_int_equal(count_rows(&hand, "bar", "gemm"), 2);
    size_t row = hand_find(&hand, "parts", "dims", "(other shapes)");
    assert_int_equal(hand_i64(&hand, "parts", row, "owned_ns"), MAX_ROWS + 1);
    assert_null(hand_word(&hand, "parts", row, "types"));
    assert_null(hand_word(&hand, "parts", row, "module"));
    assert_sums(&hand);
    hand_end(&hand);
}

static void too_many_kernels_are_summed_by_category(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int64_t i = 1; i <= MAX_ROWS + 10; i++) {
        char kernel[32];
        snprintf(kernel, sizeof kernel, i % 2 ? "sgemm_%d" : "softmax_%d", (int)i);
        add_call(&hand, i, (struct call){NULL, NULL, NULL, kernel, i > 20 ? 2 : 1});
    }
    hand_analyze(&hand);
    size_t idle = count_rows(&hand, "bar", "idle_host_wait") +
                  count_rows(&hand, "bar", "idle_other") + count_rows(&hand, "bar", "unrecorded");
    assert_true(hand_rows(&hand, "parts") <= MAX_ROWS + idle);
    assert_int_equal(count_rows(&hand, "kernel", "(other kernels)"), 2);
    assert_int_equal(count_rows(&hand, "kernel", "sgemm_1"), 0); // the smallest are merged
    assert_int_equal(calls_of_all(&hand), MAX_ROWS + 10);
    assert_sums(&hand);
    hand_end(&hand);
}

static void exactly_as_many_rows_as_there_is_room_for_stay(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int64_t i = 1; i <= MAX_ROWS; i++) {
        char dims[32];
        snprintf(dims, sizeof dims, "[[%d]]", (int)i);
        add_call(&hand, i, (struct call){NULL, "aten::mm", dims, "sgemm", 1});
    }
    hand_analyze(&hand);
    assert_int_equal(count_rows(&hand, "bar", "gemm"), MAX_ROWS);
    assert_sums(&hand);
    hand_end(&hand);
}

static void what_no_steady_step_has_is_no_part(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int s = 0; s < 4; s++) {
        hand_add(&hand, (struct hand_event){.kind = EVENT_ANNOTATION,
                                            .name = s ? "ProfilerStep#2" : "ProfilerStep#1",
                                            .begin_ns = 1000 * s,
                                            .dur_ns = 1000,
                                            .pid = 1});
        add_call(&hand, 10 * s + 1,
                 (struct call){NULL, "aten::mm", "[1]", s ? "sgemm" : "first_sgemm", 30});
    }
    hand_analyze(&hand);
    assert_int_equal(hand_i64(&hand, "summary", 0, "steady_steps"), 3);
    assert_int_equal(count_rows(&hand, "kernel", "first_sgemm"), 0);
    assert_int_equal(hand_i64(&hand, "parts", 0, "calls"), 3);
    assert_sums(&hand);
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_differ_by_operator_shapes_module_and_kernel),
        cmocka_unit_test(with_too_many_rows_modules_are_not_distinguished),
        cmocka_unit_test(with_too_many_still_shapes_are_not_distinguished),
        cmocka_unit_test(too_many_kernels_are_summed_by_category),
        cmocka_unit_test(exactly_as_many_rows_as_there_is_room_for_stay),
        cmocka_unit_test(what_no_steady_step_has_is_no_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
