// SPDX-License-Identifier: Apache-2.0
// Work gets the same names on both vendors.
#include "analysis/names/category_rules.h"
#include "tests/unit/category_kernels.h"
#include "tests/unit/category_ops.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef const struct category_rule *decide(struct str name);

static enum category category_by(decide *rule_of, const char *name)
{
    const struct category_rule *rule = rule_of(str_of(name));
    return rule ? rule->category : CATEGORY_NONE;
}

static void check_samples(decide *rule_of, const struct category_sample *samples, size_t count)
{
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        enum category category = category_by(rule_of, samples[i].name);
        if (category == samples[i].category)
            continue;
        print_error("%s is %s, not %s\n", samples[i].name, category_word(category),
                    category_word(samples[i].category));
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

// Row i of the rules must decide sample i: a row without one, or shadowed by an earlier row, fails.
static void check_rows(decide *rule_of, const struct category_rules *rules,
                       const struct category_sample *samples, size_t count)
{
    assert_int_equal(rules->count, count);
    size_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        const struct category_rule *rule = rule_of(str_of(samples[i].name));
        if (rule == &rules->rows[i])
            continue;
        print_error("%s is decided by the row %s, not by %s\n", samples[i].name,
                    rule ? rule->text : "(none)", rules->rows[i].text);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

static void every_rule_of_operators_decides_a_real_name(void **state)
{
    (void)state;
    check_rows(category_rule_of_op, &category_op_rules, op_rows, COUNT(op_rows));
}

static void every_rule_of_kernels_decides_a_real_name(void **state)
{
    (void)state;
    check_rows(category_rule_of_kernel, &category_kernel_rules, kernel_rows, COUNT(kernel_rows));
}

static void operators_have_the_category_of_what_they_do(void **state)
{
    (void)state;
    check_samples(category_rule_of_op, op_rows, COUNT(op_rows));
    check_samples(category_rule_of_op, op_others, COUNT(op_others));
}

static void kernels_of_both_vendors_have_the_category_of_what_they_do(void **state)
{
    (void)state;
    check_samples(category_rule_of_kernel, kernel_rows, COUNT(kernel_rows));
    check_samples(category_rule_of_kernel, kernel_others, COUNT(kernel_others));
}

// Names are compared in lower case, those of operators without underscores.
static void check_texts(const struct category_rules *rules, const char *never)
{
    for (size_t i = 0; i < rules->count; i++) {
        const char *text = rules->rows[i].text;
        if (strlen(text) < 2 || strpbrk(text, never))
            fail_msg("the row %s can never match", text);
    }
}

static void rows_are_written_as_names_are_compared(void **state)
{
    (void)state;
    check_texts(&category_kernel_rules, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    check_texts(&category_op_rules, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
}

static void endless_names_are_decided_by_their_front(void **state)
{
    (void)state;
    enum { LEN = 1 << 20 };
    char *name = malloc(LEN + 1);
    assert_non_null(name);
    memset(name, '_', LEN);
    name[LEN] = '\0';
    assert_int_equal(category_by(category_rule_of_op, name), CATEGORY_NONE);
    memcpy(name + LEN - 4, "gemm", 4);
    assert_int_equal(category_by(category_rule_of_kernel, name), CATEGORY_NONE);
    memcpy(name + 1000, "gemm", 4);
    assert_int_equal(category_by(category_rule_of_kernel, name), CATEGORY_GEMM);
    assert_int_equal(category_by(category_rule_of_op, name), CATEGORY_GEMM);
    memset(name, ':', LEN);
    assert_int_equal(category_by(category_rule_of_op, name), CATEGORY_NONE);
    memset(name, '<', LEN);
    assert_int_equal(category_by(category_rule_of_kernel, name), CATEGORY_NONE);
    free(name);
}

static void classes_and_categories_lead_to_bars(void **state)
{
    (void)state;
    assert_int_equal(category_bar(CLASS_COMPUTE, CATEGORY_GEMM), BAR_GEMM);
    assert_int_equal(category_bar(CLASS_COMPUTE, CATEGORY_ATTENTION), BAR_ATTENTION);
    assert_int_equal(category_bar(CLASS_COMPUTE, CATEGORY_MOE), BAR_OTHER_COMPUTE);
    assert_int_equal(category_bar(CLASS_COMMUNICATION, CATEGORY_COMMUNICATION), BAR_EXPOSED_COMM);
    assert_int_equal(category_bar(CLASS_MEMORY, CATEGORY_FILL), BAR_EXPOSED_MEMORY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_of_operators_decides_a_real_name),
        cmocka_unit_test(every_rule_of_kernels_decides_a_real_name),
        cmocka_unit_test(operators_have_the_category_of_what_they_do),
        cmocka_unit_test(kernels_of_both_vendors_have_the_category_of_what_they_do),
        cmocka_unit_test(rows_are_written_as_names_are_compared),
        cmocka_unit_test(endless_names_are_decided_by_their_front),
        cmocka_unit_test(classes_and_categories_lead_to_bars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
