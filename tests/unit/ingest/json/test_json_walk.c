// SPDX-License-Identifier: Apache-2.0
// Walking values along the index.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/json/json_index.h"
#include "ingest/json/json_walk.h"

struct document {
    uint32_t tokens[256];
    struct json_walk walk;
};

static void open_document(struct document *document, const char *text)
{
    struct json_index_state carry = {0};
    size_t len = strlen(text);
    size_t count = json_index_scalar(text, len, 0, &carry, document->tokens);
    document->walk = (struct json_walk){.at = text,
                                        .end = text + len,
                                        .text = text,
                                        .token = document->tokens,
                                        .token_end = document->tokens + count};
}

static void members_come_one_after_the_other(void **state)
{
    (void)state;
    struct document d;
    struct json_value value;
    struct str key;
    open_document(&d, "{\"a\" : 1, \"b\":\"x\\\"y\", \"c\":{\"d\":[1,2]}, \"e\":[]} ");
    assert_int_equal(json_walk_value(&d.walk, &value), WALK_OK);
    assert_int_equal(value.type, JSON_OBJECT);
    assert_int_equal(json_walk_member(&d.walk, &key, &value), WALK_OK);
    assert_true(str_equal(key, STR("a")) && str_equal(value.text, STR("1")));
    assert_int_equal(json_walk_member(&d.walk, &key, &value), WALK_OK);
    assert_int_equal(value.type, JSON_TEXT);
    assert_true(str_equal(value.text, STR("x\\\"y")));
    assert_int_equal(json_walk_member(&d.walk, &key, &value), WALK_OK);
    assert_int_equal(json_walk_skip(&d.walk), WALK_OK);
    assert_int_equal(json_walk_member(&d.walk, &key, &value), WALK_OK);
    assert_int_equal(value.type, JSON_ARRAY);
    assert_int_equal(json_walk_item(&d.walk, &value), WALK_END);
    assert_int_equal(json_walk_member(&d.walk, &key, &value), WALK_END);
    assert_int_equal(d.walk.comma_faults, 0);
    assert_true(d.walk.token == d.walk.token_end);
}

// Walks the items of a list of scalars and texts.
static enum walk walk_list(const char *text, unsigned *items, unsigned *faults)
{
    struct document d;
    struct json_value value;
    open_document(&d, text);
    enum walk got = json_walk_value(&d.walk, &value);
    for (*items = 0; got == WALK_OK; ++*items)
        got = json_walk_item(&d.walk, &value);
    --*items;
    *faults = d.walk.comma_faults;
    return got;
}

static void missing_and_surplus_commas_are_counted(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned items, faults;
    } cases[] = {{"[1,2,3]", 3, 0}, {"[1 2 3]", 3, 2},      {"[1,2,]", 2, 1}, {"[,1]", 1, 1},
                 {"[1,,2]", 2, 1},  {"[\"a\"\"b\"]", 2, 1}, {"[]", 0, 0},     {"[,]", 0, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned items, faults;
        assert_int_equal(walk_list(cases[i].text, &items, &faults), WALK_END);
        assert_int_equal(items, cases[i].items);
        assert_int_equal(faults, cases[i].faults);
    }
}

static void every_cut_asks_for_more(void **state)
{
    (void)state;
    static const char text[] = "[1, \"two\", tru, -4.5e3, \"\"]";
    for (size_t cut = 0; cut < sizeof text - 1; cut++) {
        char part[sizeof text] = {0};
        unsigned items, faults;
        memcpy(part, text, cut);
        assert_int_equal(walk_list(part, &items, &faults), WALK_MORE);
    }
}

static void text_behind_the_end_is_not_consumed(void **state)
{
    (void)state;
    struct document d;
    struct json_value value;
    open_document(&d, "[12345]");
    d.walk.end = d.walk.text + 3; // end of the indexed text
    d.walk.token_end = d.tokens + 1;
    assert_int_equal(json_walk_value(&d.walk, &value), WALK_OK);
    assert_int_equal(json_walk_item(&d.walk, &value), WALK_MORE);
}

static void what_is_no_json_is_bad(void **state)
{
    (void)state;
    static const char *const bad[] = {"{1:2}", "{\"a\" 1}", "{\"a\",}", "{]", "{:}", "{\"a\"::1}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct document d;
        struct json_value value;
        struct str key;
        open_document(&d, bad[i]);
        assert_int_equal(json_walk_value(&d.walk, &value), WALK_OK);
        assert_int_equal(json_walk_member(&d.walk, &key, &value), WALK_BAD);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_come_one_after_the_other),
        cmocka_unit_test(missing_and_surplus_commas_are_counted),
        cmocka_unit_test(every_cut_asks_for_more),
        cmocka_unit_test(text_behind_the_end_is_not_consumed),
        cmocka_unit_test(what_is_no_json_is_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
