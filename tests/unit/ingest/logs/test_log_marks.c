// SPDX-License-Identifier: Apache-2.0
// As many marks as there may be, all of which are found.
#include "ingest/logs/log_marks.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <setjmp.h>
#include <cmocka.h>

enum { ROOM = 32, PAIRS = 200 };

// "mark--ab000": the two bytes that the search looks at first are those of no other mark, but for
// a few.
static void name_marks(char names[LOG_MOST_MARKS][ROOM])
{
    for (int i = 0; i < LOG_MOST_MARKS; i++)
        snprintf(names[i], ROOM, "mark--%c%c%03d", 'a' + i % PAIRS % 16, 'a' + i % PAIRS / 16, i);
}

static void every_mark_is_found_by_its_number(void **state)
{
    (void)state;
    static char names[LOG_MOST_MARKS][ROOM];
    struct err err = {.pos = ERR_NO_POS};
    struct log_marks marks;
    assert_true(log_marks_open(&marks, NULL, &err));
    name_marks(names);
    for (size_t i = 0; i < LOG_MOST_MARKS; i++)
        log_marks_add(&marks, str_of(names[i]));
    for (int i = 0; i < LOG_MOST_MARKS; i++) {
        char text[64];
        size_t at = 0;
        snprintf(text, sizeof text, "some other text %s and more", names[i]);
        assert_int_equal(log_marks_find(&marks, str_of(text), &at), i);
        assert_int_equal(at, strlen("some other text "));
    }
    log_marks_close(&marks);
}

// From the first byte to the last, with nothing between.
static void marks_are_found_one_after_another(void **state)
{
    (void)state;
    static char names[LOG_MOST_MARKS][ROOM], text[LOG_MOST_MARKS * ROOM];
    struct err err = {.pos = ERR_NO_POS};
    struct log_marks marks;
    size_t at = 0, len = 0;
    assert_true(log_marks_open(&marks, NULL, &err));
    name_marks(names);
    for (size_t i = 0; i < LOG_MOST_MARKS; i++) {
        log_marks_add(&marks, str_of(names[i]));
        len += (size_t)snprintf(text + len, sizeof text - len, "%s", names[i]);
    }
    for (int i = 0; i < LOG_MOST_MARKS; i++) {
        assert_int_equal(log_marks_find(&marks, (struct str){text, len}, &at), i);
        at += strlen(names[i]);
    }
    assert_int_equal(at, len);
    assert_int_equal(log_marks_find(&marks, (struct str){text, len}, &at), -1);
    at = len - strlen(names[LOG_MOST_MARKS - 1]); // whose last byte is not there yet
    assert_int_equal(log_marks_find(&marks, (struct str){text, len - 1}, &at), -1);
    log_marks_close(&marks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mark_is_found_by_its_number),
        cmocka_unit_test(marks_are_found_one_after_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
