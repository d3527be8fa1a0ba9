// SPDX-License-Identifier: Apache-2.0
// The parts of cmocka used by the tests that neon.sh builds: cmocka itself is rarely installed for
// another architecture.
#ifndef TESTS_CROSS_CMOCKA_H
#define TESTS_CROSS_CMOCKA_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

static inline void expect_true(bool holds, const char *what, const char *file, int line)
{
    if (holds)
        return;
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
    exit(1);
}

#define expect(condition)              expect_true(condition, #condition, __FILE__, __LINE__)
#define assert_true(condition)         expect(condition)
#define assert_false(condition)        expect(!(condition))
#define assert_int_equal(a, b)         expect((long long)(a) == (long long)(b))
#define assert_memory_equal(a, b, len) expect(memcmp(a, b, len) == 0)
#define cmocka_unit_test(function) \
    {                              \
#function, function        \
    }

#define cmocka_run_group_tests(tests, set_up, tear_down) \
    run_tests(tests, sizeof(tests) / sizeof *(tests))

static inline int run_tests(const struct CMUnitTest *tests, size_t count)
{
    void *state = NULL;
    for (size_t i = 0; i < count; i++) {
        tests[i].run(&state);
        printf("ok %s\n", tests[i].name);
    }
    return 0;
}

#endif
