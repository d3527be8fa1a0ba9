// SPDX-License-Identifier: Apache-2.0
// Operator inputs as text: what is read, what is refused, and that nothing is evaluated.
#include "analysis/facts/op_args.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct arg_list parse(const char *dims, const char *types, const char *strides,
                             const char *concrete)
{
    struct op_arg_texts texts = {str_of(dims), str_of(types), str_of(strides), str_of(concrete)};
    struct arg_list args;
    op_args_parse(&texts, &args);
    return args;
}

static void tensors_have_shapes_types_and_strides(void **state)
{
    (void)state;
    struct arg_list args =
        parse(" [ [2, 3] ,\n[],[4]]", "[\"c10::BFloat16\", \"Scalar\",\"long int\"]",
              "[[3,1],[],[1]]", "[\"\", \"2\", \"\"]");
    assert_null(args.problem);
    assert_int_equal(args.count, 3);
    const struct op_arg *first = op_args_tensor(&args, 0);
    assert_non_null(first);
    assert_int_equal(first->rank, 2);
    assert_int_equal(first->dims[0], 2);
    assert_int_equal(first->dims[1], 3);
    assert_int_equal(first->elements, 6);
    assert_int_equal(first->dtype, DTYPE_BF16);
    assert_true(first->has_strides);
    assert_int_equal(first->strides[0], 3);
    assert_int_equal(op_arg_bytes(first), 12);
    assert_null(op_args_tensor(&args, 1));
    assert_int_equal(op_arg_bytes(op_args_tensor(&args, 2)), 32);
    assert_null(op_args_tensor(&args, 3));
    assert_null(op_args_tensor(&args, -1));
}

static void a_tensor_without_dimensions_is_one_element(void **state)
{
    (void)state;
    struct arg_list args = parse("[[],[0,5]]", "[\"float\",\"double\"]", "", "");
    assert_int_equal(op_arg_bytes(op_args_tensor(&args, 0)), 4);
    assert_int_equal(op_arg_bytes(op_args_tensor(&args, 1)), 0);
}

static void lists_of_tensors_sum_their_elements(void **state)
{
    (void)state;
    struct arg_list args =
        parse("[[[2,3],[4],[]],[]]", "[[\"float\",\"float\",\"float\"],\"Scalar\"]",
              "[[[3,1],[1],[]],[]]", "[\"\",\"0\"]");
    assert_null(args.problem);
    assert_int_equal(args.args[0].kind, OP_ARG_TENSORS);
    assert_int_equal(args.args[0].tensors, 3);
    assert_int_equal(args.args[0].elements, 11);
    assert_int_equal(op_arg_bytes(&args.args[0]), 44);
    args = parse("[[[2,3],[4]],[]]", "[\"TensorList\",\"\"]", "", "");
    assert_int_equal(args.args[0].elements, 10);
    assert_int_equal(op_arg_bytes(&args.args[0]), COUNT_UNKNOWN); // its types were not recorded
    args = parse("[[[2],[4]]]", "[[\"float\",\"int\"]]", "", "");
    assert_int_equal(args.args[0].dtype, DTYPE_UNKNOWN);
}

// Nsight Systems records no types: what has dimensions is a tensor, whose bytes are unknown.
static void shapes_alone_are_of_tensors_of_an_unknown_type(void **state)
{
    (void)state;
    struct arg_list args = parse("[[2,3],[],[[4],[5]]]", "", "", "");
    assert_null(args.problem);
    assert_int_equal(args.count, 3);
    assert_int_equal(op_args_tensor(&args, 0)->elements, 6);
    assert_int_equal(op_args_tensor(&args, 0)->dtype, DTYPE_UNKNOWN);
    assert_int_equal(op_arg_bytes(op_args_tensor(&args, 0)), COUNT_UNKNOWN);
    assert_null(op_args_tensor(&args, 1));
    assert_int_equal(args.args[2].kind, OP_ARG_TENSORS);
}

static void products_past_63_bits_are_not_known(void **state)
{
    (void)state;
    struct arg_list args =
        parse("[[4294967296,4294967296],[4611686018427387904,1]]", "[\"float\",\"float\"]", "", "");
    assert_null(args.problem);
    assert_int_equal(args.args[0].elements, COUNT_UNKNOWN);
    assert_true(args.args[1].elements == (int64_t)1 << 62);
    assert_int_equal(op_arg_bytes(&args.args[1]), COUNT_UNKNOWN);
}

static void damaged_shapes_and_types_are_refused(void **state)
{
    (void)state;
    static const char *const shapes[] = {
        "[",
        "[[2,3]",
        "[[2,3],]",
        "[[2,]]",
        "[[2 3]]",
        "[[-1]]",
        "[[2.5]]",
        "[[02]]",
        "[[1e3]]",
        "[[[[1]]]]",
        "[[\"2\"]]",
        "[2]",
        "{}",
        "[[9223372036854775808]]",
        "[[2]]x",
        "[null]",
        "[[__import__('os')]]",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct arg_list args = parse(shapes[i], "[\"float\"]", "", "");
        if (!args.problem)
            fail_msg("%s was taken", shapes[i]);
        assert_int_equal(args.count, 0);
    }
    assert_non_null(parse("[[2]]", "[\"float\",\"float\"]", "", "").problem);
    assert_non_null(parse("[[2]]", "[]", "", "").problem);
    assert_non_null(parse("[[2]]", "[\"float]", "", "").problem);
    assert_non_null(parse("[[2]]", "[\"float\\", "", "").problem);
    assert_non_null(parse("", "[\"float\"]", "", "").problem);
}

static void more_arguments_than_are_kept_are_refused(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        char dims[8 * OP_ARGS_MAX], types[8 * OP_ARGS_MAX];
        size_t dims_len = 0, types_len = 0;
        for (int i = 0; i < OP_ARGS_MAX + more; i++) {
            dims_len += (size_t)snprintf(dims + dims_len, 4, "%c[]", i ? ',' : '[');
            types_len += (size_t)snprintf(types + types_len, 4, "%c\"\"", i ? ',' : '[');
        }
        snprintf(dims + dims_len, 2, "]");
        snprintf(types + types_len, 2, "]");
        struct arg_list args = parse(dims, types, "", "");
        if (more)
            assert_string_equal(args.problem, "it has more inputs than are read");
        else
            assert_null(args.problem);
    }
}

static void tensors_of_more_dimensions_keep_their_size(void **state)
{
    (void)state;
    struct arg_list args = parse("[[2,1,1,1,1,1,1,1,1,3]]", "[\"float\"]", "", "");
    assert_int_equal(args.args[0].rank, 10);
    assert_int_equal(args.args[0].elements, 6);
}

static void concrete_inputs_that_are_cut_count_as_far_as_they_go(void **state)
{
    (void)state;
    struct arg_list args =
        parse("[[],[],[]]", "[\"Scalar\",\"Scalar\",\"Scalar\"]", "", "[\"True\", \"7\", \"8");
    bool flag;
    int64_t number;
    assert_null(args.problem);
    assert_true(op_args_bool(&args, 0, &flag) && flag);
    assert_true(op_args_int(&args, 1, &number));
    assert_int_equal(number, 7);
    assert_false(op_args_int(&args, 2, &number));
    assert_false(op_args_is_none(&args, 2)); // not recorded is not the same as none
}

// The text "False" is false, and a text that is not a flag is unknown.
static void flags_are_known_by_their_text(void **state)
{
    (void)state;
    struct arg_list args = parse("[[],[],[],[],[]]", "[\"\",\"\",\"\",\"\",\"\"]", "",
                                 "[\"False\",\"True\",\"true\",\"1\",\"\"]");
    bool flag = true;
    assert_true(op_args_bool(&args, 0, &flag));
    assert_false(flag);
    assert_true(op_args_bool(&args, 1, &flag));
    assert_true(flag);
    for (int i = 2; i < 6; i++)
        assert_false(op_args_bool(&args, i, &flag));
}

static void numbers_and_lists_are_read_strictly(void **state)
{
    (void)state;
    struct arg_list args =
        parse("[[],[],[],[],[],[],[]]", "[\"\",\"\",\"\",\"\",\"\",\"\",\"\"]", "",
              "[\"[1, -2]\",\"[]\",\"[True, False, True]\",\"-5\",\"[1,]\",\"1.5\",\"None\"]");
    int64_t values[2], number;
    bool flags[3];
    uint32_t count;
    assert_true(op_args_ints(&args, 0, values, 2, &count));
    assert_int_equal(count, 2);
    assert_int_equal(values[1], -2);
    assert_false(op_args_ints(&args, 0, values, 1, &count));
    assert_true(op_args_ints(&args, 1, values, 2, &count));
    assert_int_equal(count, 0);
    assert_true(op_args_bools(&args, 2, flags, 3, &count));
    assert_int_equal(count, 3);
    assert_true(flags[0] && !flags[1] && flags[2]);
    assert_true(op_args_int(&args, 3, &number));
    assert_int_equal(number, -5);
    assert_false(op_args_ints(&args, 4, values, 2, &count));
    assert_false(op_args_int(&args, 5, &number));
    assert_true(op_args_is_none(&args, 6));
    assert_false(op_args_is_none(&args, 0));
}

static void zero_is_known_in_all_its_forms(void **state)
{
    (void)state;
    struct arg_list args = parse("[[],[],[],[],[],[]]", "[\"\",\"\",\"\",\"\",\"\",\"\"]", "",
                                 "[\"0\",\"0.\",\"-0.0\",\"0.5\",\".\",\"\"]");
    for (int i = 0; i < 6; i++)
        assert_int_equal(op_args_is_zero(&args, i), i < 3);
}

// A text that a Python reader would execute is just text here.
static void code_among_the_inputs_is_never_run(void **state)
{
    (void)state;
    struct arg_list args =
        parse("[[],[]]", "[\"Scalar\",\"Scalar\"]", "",
              "[\"__import__('os').system('touch evaluated')\",\"(lambda: True)()\"]");
    bool flag;
    int64_t number;
    uint32_t count;
    for (int i = 0; i < 2; i++) {
        assert_false(op_args_bool(&args, i, &flag));
        assert_false(op_args_int(&args, i, &number));
        assert_false(op_args_ints(&args, i, &number, 1, &count));
        assert_false(op_args_bools(&args, i, &flag, 1, &count));
        assert_false(op_args_is_zero(&args, i));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_have_shapes_types_and_strides),
        cmocka_unit_test(a_tensor_without_dimensions_is_one_element),
        cmocka_unit_test(lists_of_tensors_sum_their_elements),
        cmocka_unit_test(shapes_alone_are_of_tensors_of_an_unknown_type),
        cmocka_unit_test(products_past_63_bits_are_not_known),
        cmocka_unit_test(damaged_shapes_and_types_are_refused),
        cmocka_unit_test(more_arguments_than_are_kept_are_refused),
        cmocka_unit_test(tensors_of_more_dimensions_keep_their_size),
        cmocka_unit_test(concrete_inputs_that_are_cut_count_as_far_as_they_go),
        cmocka_unit_test(flags_are_known_by_their_text),
        cmocka_unit_test(numbers_and_lists_are_read_strictly),
        cmocka_unit_test(zero_is_known_in_all_its_forms),
        cmocka_unit_test(code_among_the_inputs_is_never_run),
    };
    return cmocka_run_group_tests_name("op_args", tests, NULL, NULL);
}
