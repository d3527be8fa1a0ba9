// SPDX-License-Identifier: Apache-2.0
// Which of the kept stage times are shown.
#include "server/steps/step_log.h"

#include "tests/unit/folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static void append(const char *folder, uint32_t rank, uint64_t first_step, size_t count)
{
    struct err err = {.pos = ERR_NO_POS};
    uint32_t us[64];
    for (size_t i = 0; i < count; i++)
        us[i] = (uint32_t)(first_step + i);
    const struct step_rows rows = {rank, first_step, count, 1, us};
    assert_true(step_log_append(folder, &rows, &err));
}

// Expects these steps of so many ranks to be shown.
static void expect_window(const char *folder, uint64_t first_step, size_t steps, size_t ranks)
{
    struct err err = {.pos = ERR_NO_POS};
    struct arena arena;
    struct step_window window;
    arena_init(&arena, NULL);
    assert_true(step_log_read(folder, 1, 50, &arena, &window, &err));
    assert_int_equal(window.first_step, first_step);
    assert_int_equal(window.matrix.steps, steps);
    assert_int_equal(window.matrix.ranks, ranks);
    arena_free(&arena);
}

static void the_newest_steps_are_shown_and_a_block_may_come_twice(void **state)
{
    char folder[] = "/tmp/stepscope-steps-XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(folder));
    append(folder, 0, 100, 40);
    append(folder, 1, 100, 40);
    append(folder, 1, 100, 40);
    expect_window(folder, 100, 40, 2);
    append(folder, 0, 140, 40);
    append(folder, 1, 140, 40);
    expect_window(folder, 130, 50, 2);
    folder_remove(folder);
}

static void a_job_that_starts_again_shows_its_own_steps(void **state)
{
    char folder[] = "/tmp/stepscope-steps-XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(folder));
    for (uint32_t rank = 0; rank < 3; rank++)
        append(folder, rank, 5000, 40);
    append(folder, 0, 1, 10);
    expect_window(folder, 1, 10, 1);
    append(folder, 1, 1, 12);
    append(folder, 0, 11, 10);
    append(folder, 1, 13, 4);
    expect_window(folder, 1, 20, 2);
    append(folder, 1, 1, 4);
    expect_window(folder, 1, 4, 1);
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_steps_are_shown_and_a_block_may_come_twice),
        cmocka_unit_test(a_job_that_starts_again_shows_its_own_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
