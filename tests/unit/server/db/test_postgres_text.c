// SPDX-License-Identifier: Apache-2.0
// Statements and values as PostgreSQL takes them; no server is needed.
#include "server/db/postgres_text.h"
#include "server/db/postgres_value.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_words(const char *text, const char *expected, const char *rest)
{
    struct buf words = {0};
    assert_string_equal(postgres_text(text, &words), rest);
    assert_string_equal(words.at ? words.at : "", expected);
    buf_free(&words);
}

static void parameters_are_numbered_as_sqlite_does(void **state)
{
    (void)state;
    assert_words("VALUES (?, ?, ?)", "VALUES ($1, $2, $3)", "");
    assert_words("a = ?2 OR b = ? OR c = ?1", "a = $2 OR b = $3 OR c = $1", "");
    assert_words("(?, '?', \"?\", ?)", "($1, '?', \"?\", $2)", "");
}

static void words_that_differ_are_replaced(void **state)
{
    (void)state;
    assert_words("a LIKE ? ESCAPE '\\'", "a ILIKE $1 ESCAPE '\\'", "");
    assert_words("a CROSS JOIN b ON x", "a  JOIN b ON x", "");
    assert_words("LIKELY 'LIKE'", "LIKELY 'LIKE'", "");
}

static void statements_end_at_a_semicolon_outside_of_texts(void **state)
{
    (void)state;
    assert_words("a;\n b;", "a", "b;");
    assert_words("f $$ x; y $$; z", "f $$ x; y $$", "z");
    assert_words("'a;''b'; c", "'a;''b'", "c");
    assert_words("  -- only this; and that\n", "", "");
    assert_words("a -- c; d\n; e", "a ", "e");
    assert_words("'open", "'open", "");
    assert_words("$$open", "$$open", "");
}

static void numbers_are_read_in_each_form(void **state)
{
    (void)state;
    assert_int_equal(postgres_i64(POSTGRES_BOOL, (struct str){"\1", 1}), 1);
    assert_int_equal(postgres_i64(POSTGRES_INT4, (struct str){"\xff\xff\xff\xfe", 4}), -2);
    assert_int_equal(postgres_i64(POSTGRES_INT2, (struct str){"\x01\x00", 2}), 256);
    // 3 digits of base 10,000 with weight 2: 1 0002 0003
    struct str sum = {"\0\3\0\2\0\0\0\0\0\1\0\2\0\3", 14};
    assert_int_equal(postgres_i64(POSTGRES_NUMERIC, sum), 100020003);
    struct str round = {"\0\1\0\2\x40\0\0\0\0\1", 10}; // -1 with weight 2
    assert_int_equal(postgres_i64(POSTGRES_NUMERIC, round), -100000000);
    struct str half = {"\0\2\0\0\0\0\0\1\0\1\x13\x88", 12}; // 1.5
    assert_true(postgres_f64(POSTGRES_NUMERIC, half) > 1.49 &&
                postgres_f64(POSTGRES_NUMERIC, half) < 1.51);
}

static void numbers_of_a_wrong_length_are_zero(void **state)
{
    (void)state;
    for (size_t len = 0; len < 16; len++) {
        struct str bytes = {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
                            len};
        assert_int_equal(postgres_i64(POSTGRES_NUMERIC, bytes), 0);
        if (len != 1 && len != 2 && len != 4 && len != 8)
            assert_int_equal(postgres_i64(POSTGRES_INT8, bytes), 0);
    }
    assert_int_equal(postgres_i64(POSTGRES_TEXT, STR("12345678")), 0);
}

static void numbers_come_back_as_they_went(void **state)
{
    (void)state;
    static const int64_t numbers[] = {0, 1, -1, INT64_MAX, INT64_MIN};
    unsigned char bytes[8];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        postgres_put_i64(numbers[i], bytes);
        assert_true(postgres_i64(POSTGRES_INT8, (struct str){(char *)bytes, 8}) == numbers[i]);
    }
    postgres_put_f64(-0.1, bytes);
    double back = postgres_f64(POSTGRES_FLOAT8, (struct str){(char *)bytes, 8});
    assert_false(back < -0.1 || back > -0.1);
    postgres_put_f64(NAN, bytes);
    assert_int_equal(postgres_i64(POSTGRES_FLOAT8, (struct str){(char *)bytes, 8}), 0);
}

static void assert_clean(struct str text, const char *expected)
{
    struct buf clean = {0};
    postgres_clean_text(text, &clean);
    assert_string_equal(clean.at, expected);
    buf_free(&clean);
}

static void texts_that_postgres_refuses_are_repaired(void **state)
{
    (void)state;
    assert_true(postgres_is_clean(STR("h\xc3\xa9")));
    assert_false(postgres_is_clean((struct str){"a\0b", 3}));
    assert_clean((struct str){"a\0b", 3}, "a\xef\xbf\xbd"
                                          "b");
    assert_clean(STR("x\xffy"), "x\xef\xbf\xbdy");
    assert_clean(STR("cut \xe2\x82"), "cut \xef\xbf\xbd\xef\xbf\xbd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_numbered_as_sqlite_does),
        cmocka_unit_test(words_that_differ_are_replaced),
        cmocka_unit_test(statements_end_at_a_semicolon_outside_of_texts),
        cmocka_unit_test(numbers_are_read_in_each_form),
        cmocka_unit_test(numbers_of_a_wrong_length_are_zero),
        cmocka_unit_test(numbers_come_back_as_they_went),
        cmocka_unit_test(texts_that_postgres_refuses_are_repaired),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
