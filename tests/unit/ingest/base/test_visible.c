// SPDX-License-Identifier: Apache-2.0
// Names from outside cannot hide anything, nor send commands to a terminal.
#include "ingest/base/visible.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

static void assert_shown(struct str raw, const char *wanted)
{
    struct buf shown = {0};
    struct err err;
    buf_add_visible(&shown, raw);
    assert_true(buf_ok(&shown, &err));
    assert_string_equal(shown.at, wanted);
    buf_free(&shown);
}

static void what_cannot_be_seen_is_shown_as_its_code(void **state)
{
    (void)state;
    assert_shown(STR("run\u202egnp.exe"), "run[U+202E]gnp.exe");
    assert_shown(STR("a\u200bb\u2060c\ufeff"), "a[U+200B]b[U+2060]c[U+FEFF]");
    assert_shown(STR("tag\U000e0041"), "tag[U+E0041]");
    assert_shown(STR("a\U0001d173c\u3164"), "a[U+1D173]c[U+3164]");
    assert_shown(STR("\u2066x\u2069"), "[U+2066]x[U+2069]");
}

static void what_controls_a_terminal_is_shown_as_its_code(void **state)
{
    (void)state;
    assert_shown(STR("\033[2J\rover\x7f"), "[U+001B][2J[U+000D]over[U+007F]");
    assert_shown(STR("\xc2\x9b[31m"), "[U+009B][31m"); // CSI in one character
    assert_shown(STR("two\nlines"), "two[U+000A]lines");
    assert_shown(STR("cut\xc2"), "cut\xef\xbf\xbd");
}

static void text_that_people_write_stays_as_it_is(void **state)
{
    (void)state;
    static const char *const texts[] = {"llama@2 [a]", "Größe µs → 3 × H100", "模型",
                                        "שלום",        "👩🏽\u200d🔬",  "1\ufe0f\u20e3",
                                        "葛\U000e0100"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_shown(str_of(texts[i]), texts[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_seen_is_shown_as_its_code),
        cmocka_unit_test(what_controls_a_terminal_is_shown_as_its_code),
        cmocka_unit_test(text_that_people_write_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
