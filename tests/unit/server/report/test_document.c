// SPDX-License-Identifier: Apache-2.0
// Texts of the analysis in a report.
#include "server/report/document.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void microseconds_are_written_as_on_the_pages(void **state)
{
    static const char *const cases[][2] = {
        {"25 kernels under 30 us take 1.2 us each", "25 kernels under 30 µs take 1.2 µs each"},
        {"5 users of us, 3 usd", "5 users of us, 3 usd"},
        {"us", "us"},
        {"", ""},
    };
    (void)state;
    struct arena arena = {0};
    struct document doc = {.arena = &arena};
    doc_begin(&doc, STR("Findings"), STR(""));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(doc_sentence(&doc, str_of(cases[i][0]))->text.at, cases[i][1]);
    assert_false(doc.failed);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(microseconds_are_written_as_on_the_pages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
