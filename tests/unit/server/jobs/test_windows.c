// SPDX-License-Identifier: Apache-2.0
// Traces of an archive are put into windows by their folders or names.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/jobs/windows.h"

struct placed {
    const char *name, *window;
};

static void check(const struct placed *placed, size_t count)
{
    struct arena arena;
    struct err err = {.pos = ERR_NO_POS};
    arena_init(&arena, NULL);
    struct member_list list = {.at = arena_array(&arena, count, sizeof *list.at, &err),
                               .count = count};
    assert_non_null(list.at);
    for (size_t i = 0; i < count; i++)
        list.at[i] = (struct member){.name = str_of(placed[i].name),
                                     .kind = strstr(placed[i].name, ".json") ? MEMBER_TRACE
                                                                             : MEMBER_ATTACHMENT};
    const struct str *windows = windows_of(&list, &arena, &err);
    assert_non_null(windows);
    for (size_t i = 0; i < count; i++)
        if (!str_equal(windows[i], str_of(placed[i].window)))
            fail_msg("%s is in \"%.*s\", expected \"%s\"", placed[i].name, (int)windows[i].len,
                     windows[i].at, placed[i].window);
    arena_free(&arena);
}

#define CHECK(...)                                           \
    do {                                                     \
        static const struct placed placed[] = {__VA_ARGS__}; \
        check(placed, sizeof placed / sizeof *placed);       \
    } while (0)

static void folders_are_windows(void **state)
{
    (void)state;
    CHECK({"a/iteration_10/rank0.json", "iteration_10"},
          {"a/iteration_9/rank0.json", "iteration_9"}, {"a/iteration_9/log.txt", ""},
          {"a/iteration_x/rank0.json", ""}, {"rank1.json", ""},
          {"step_1/b/iteration_2/rank0.json", "iteration_2"},
          {"iteration_1234567890123456789/rank0.json", ""});
}

static void a_single_window_is_the_run(void **state)
{
    (void)state;
    CHECK({"iteration_10/rank0.json", ""}, {"iteration_10/rank1.json", ""}, {"other.json", ""});
    CHECK({"t/n1_17.1700000000001.pt.trace.json", ""}, {"t/n1_18.1700000000002.pt.trace.json", ""});
}

static void repeated_recordings_are_windows_in_the_order_of_their_times(void **state)
{
    (void)state;
    CHECK({"t/n1_17.1700000009000.pt.trace.json.gz", "window_2"},
          {"t/n1_17.999999999999.pt.trace.json.gz", "window_1"},
          {"t/n1_18.1700000000002.pt.trace.json.gz", "window_1"},
          {"t/n1_18.1700000009002.pt.trace.json.gz", "window_2"},
          {"t/n1_18.1700000009002.pt.trace.json", "window_2"}, {"t/other.json", ""},
          {"t/n1_17.1700000009000.txt", ""});
}

static void processes_with_unequal_numbers_of_recordings_have_no_windows(void **state)
{
    (void)state;
    CHECK({"t/n1_17.1700000000001.pt.trace.json", ""}, {"t/n1_17.1700000009001.pt.trace.json", ""},
          {"t/n1_18.1700000009002.pt.trace.json", ""});
}

static void a_single_folder_may_hold_several_recordings(void **state)
{
    (void)state;
    CHECK({"iteration_10/n1_17.1700000000001.pt.trace.json", "window_1"},
          {"iteration_10/n1_17.1700000009001.pt.trace.json", "window_2"});
}

static void names_that_are_no_recordings_are_left_alone(void **state)
{
    (void)state;
    CHECK({".1700000009000.pt.trace.json", ""}, {"1700000009000.pt.trace.json", ""},
          {"a.12.pt.trace.json", ""}, {"a.13.pt.trace.json", ""}, {"a.pt.trace.json", ""},
          {".pt.trace.json", ""}, {"x1700000009000.pt.trace.json", ""});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_are_windows),
        cmocka_unit_test(a_single_window_is_the_run),
        cmocka_unit_test(repeated_recordings_are_windows_in_the_order_of_their_times),
        cmocka_unit_test(processes_with_unequal_numbers_of_recordings_have_no_windows),
        cmocka_unit_test(a_single_folder_may_hold_several_recordings),
        cmocka_unit_test(names_that_are_no_recordings_are_left_alone),
    };
    return cmocka_run_group_tests_name("windows", tests, NULL, NULL);
}
