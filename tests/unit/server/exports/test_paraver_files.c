// SPDX-License-Identifier: Apache-2.0
// Names in a Paraver trace have numbers, up to a limit.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "server/exports/paraver_files.h"

static uint32_t value_of(struct prv_names *names, int number)
{
    char text[24];
    uint32_t value;
    struct err err = {0};
    snprintf(text, sizeof text, "name %d", number);
    assert_true(prv_names_value(names, str_of(text), &value, &err));
    return value;
}

static void further_names_share_a_value_and_known_ones_keep_theirs(void **state)
{
    (void)state;
    enum { ROOM = 1 << 18 };
    struct prv_names names;
    prv_names_init(&names);
    uint32_t first = value_of(&names, 0);
    for (int i = 1; i < ROOM - 1; i++)
        value_of(&names, i);
    uint32_t other = value_of(&names, ROOM);
    for (int i = ROOM; i < ROOM + 1000; i++)
        assert_int_equal(value_of(&names, i), other);
    assert_int_equal(names.count, ROOM);
    assert_int_equal(value_of(&names, 0), first);
    assert_int_not_equal(first, other);
    prv_names_free(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(further_names_share_a_value_and_known_ones_keep_theirs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
