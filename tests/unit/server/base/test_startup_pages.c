// SPDX-License-Identifier: Apache-2.0
// Handing back what starting took loses nothing, and leaves fewer pages resident.
#include "server/base/startup_pages.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

static const char text[] = "constant data of a program is in its file";
static const char *const pointers[] = {text, text + 9}; // relocated: exists only in memory
static int variable = 7;

static long resident_file_kb(void)
{
    char line[256];
    long kb = 0;
    FILE *status = fopen("/proc/self/status", "re");
    assert_non_null(status);
    while (fgets(line, sizeof line, status) && sscanf(line, "RssFile: %ld kB", &kb) != 1)
        ;
    fclose(status);
    return kb;
}

static void pages_of_files_go_and_come_back_as_they_were(void **state)
{
    (void)state;
    long before_kb = resident_file_kb();
    startup_pages_release();
    assert_true(resident_file_kb() < before_kb);
    assert_string_equal(pointers[0], "constant data of a program is in its file");
    assert_string_equal(pointers[1], "data of a program is in its file");
    assert_int_equal(variable, 7);
    startup_pages_release();
    assert_string_equal(pointers[1], "data of a program is in its file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_of_files_go_and_come_back_as_they_were),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
