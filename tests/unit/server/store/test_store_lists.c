// SPDX-License-Identifier: Apache-2.0
// Lists of more runs than are counted have what the rows say, in the order that is asked for.
#include "tests/unit/many_runs.h"

static void lists_of_many_runs_are_what_their_rows_say(void **state)
{
    list_many_runs(*state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lists_of_many_runs_are_what_their_rows_say, set_up,
                                        tear_down),
    };
    return run_on_each_kind(tests);
}
