// SPDX-License-Identifier: Apache-2.0
// Texts of traces reach agents visible, bounded and distinct.
#include "server/mcp/mcp_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define FFFD "\xEF\xBF\xBD"

static void assert_cleaned(const char *text, const char *expected)
{
    struct buf out = {0};
    mcp_clean(str_of(text), 100, &out);
    assert_string_equal(out.at ? out.at : "", expected);
    buf_free(&out);
}

static void invisible_characters_are_replaced(void **state)
{
    (void)state;
    assert_cleaned("a\nb\x1b[31m", "a" FFFD "b" FFFD "[31m");
    assert_cleaned("a\xE2\x80\xAE"
                   "b",
                   "a" FFFD "b");                               // right-to-left override
    assert_cleaned("a\xE2\x80\x8B\xE2\x80\xA8", "a" FFFD FFFD); // zero width space, line separator
    assert_cleaned("\xF3\xA0\x81\x81", FFFD);                   // a tag that spells "A" unseen
    assert_cleaned("\xEF\xB8\x8F\xF3\xA0\x84\x80", FFFD FFFD);  // variation selectors
    assert_cleaned("\xEE\x80\x80", FFFD);                       // private use
    assert_cleaned("\xFF"
                   "a\xC3",
                   FFFD "a" FFFD); // not UTF-8
}

static void visible_characters_stay(void **state)
{
    (void)state;
    assert_cleaned("", "");
    assert_cleaned("aten::mm \xC3\xA9 \xE6\xBC\xA2 \xF0\x9F\x98\x80",
                   "aten::mm \xC3\xA9 \xE6\xBC\xA2 \xF0\x9F\x98\x80");
}

static void long_sentences_end_with_dots(void **state)
{
    (void)state;
    json_t *six = json_string("abcdef"), *four = json_string("abcd");
    json_t *cut = mcp_sentence(six, 4), *whole = mcp_sentence(four, 4);
    assert_string_equal(json_string_value(cut), "abc\xE2\x80\xA6");
    assert_string_equal(json_string_value(whole), "abcd");
    assert_true(json_is_null(mcp_sentence(json_null(), 4)));
    json_decref(cut);
    json_decref(whole);
    json_decref(six);
    json_decref(four);
}

static void text_after_a_nul_byte_is_shown(void **state)
{
    (void)state;
    json_t *text = json_stringn("a\0b", 3), *name = mcp_name(text);
    assert_string_equal(json_string_value(name), "a" FFFD "b");
    json_decref(name);
    json_decref(text);
}

static void long_names_keep_their_ends_and_stay_distinct(void **state)
{
    (void)state;
    char one[301], other[301];
    memset(one, 'x', 300);
    one[300] = '\0';
    memcpy(other, one, sizeof one);
    other[150] = 'y';
    memcpy(one + 295, "_tail", 5);
    memcpy(other + 295, "_tail", 5);
    json_t *first = json_string(one), *second = json_string(other);
    json_t *a = mcp_name(first), *b = mcp_name(second);
    const char *text = json_string_value(a);
    assert_int_equal(strlen(text), MCP_NAME_MAX);
    assert_string_equal(text + strlen(text) - 5, "_tail");
    assert_string_not_equal(text, json_string_value(b));
    json_decref(a);
    json_decref(b);
    json_decref(first);
    json_decref(second);
}

static void characters_that_tokenizers_split_weigh_more(void **state)
{
    (void)state;
    assert_int_equal(mcp_weight(STR("abc")), 3);
    assert_int_equal(mcp_weight(STR("a\xC3\xA9")), 5);
    assert_int_equal(mcp_weight(STR("[1234]")), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invisible_characters_are_replaced),
        cmocka_unit_test(visible_characters_stay),
        cmocka_unit_test(long_sentences_end_with_dots),
        cmocka_unit_test(text_after_a_nul_byte_is_shown),
        cmocka_unit_test(long_names_keep_their_ends_and_stay_distinct),
        cmocka_unit_test(characters_that_tokenizers_split_weigh_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
