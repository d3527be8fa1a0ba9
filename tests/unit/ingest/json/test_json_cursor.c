// SPDX-License-Identifier: Apache-2.0
// A document is read member by member, whatever its size in memory and wherever it ends.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ingest/base/buf.h"
#include "ingest/json/json_cursor.h"

// Writes what is read of a value; of members named "skip" only that they are there.
static void put_value(struct json_cursor *json, struct json_value value, struct buf *out)
{
    struct str key;
    if (value.type == JSON_TEXT || value.type == JSON_SCALAR) {
        buf_add_str(out, value.text);
        return;
    }
    buf_putc(out, value.type == JSON_OBJECT ? '{' : '[');
    while (value.type == JSON_ARRAY && json_cursor_item(json, &value)) {
        put_value(json, value, out);
        value.type = JSON_ARRAY;
        buf_putc(out, ' ');
    }
    while (value.type == JSON_OBJECT && json_cursor_member(json, &key, &value)) {
        bool skip = str_equal(key, STR("skip"));
        buf_add_str(out, key);
        buf_putc(out, '=');
        if (skip)
            json_cursor_pass(json, &value);
        else
            put_value(json, value, out);
        value.type = JSON_OBJECT;
        buf_putc(out, ' ');
    }
    buf_putc(out, '.');
}

static enum json_stop read_text(struct str text, size_t step, struct buf *out)
{
    struct err err;
    struct budget budget = {0};
    struct json_cursor json;
    struct json_value root;
    struct source *source = source_mem_open(text.at, text.len, step, &err);
    assert_true(json_cursor_open(&json, source, &budget, &root, &err));
    if (!json.stop)
        put_value(&json, root, out);
    enum json_stop stop = json.stop;
    json_cursor_close(&json);
    source_close(source);
    assert_int_equal(budget.used, 0);
    return stop;
}

static void assert_read(struct str text, enum json_stop stop, const char *expected)
{
    struct buf out = {0};
    assert_int_equal(read_text(text, 0, &out), stop);
    buf_putc(&out, '\0');
    assert_string_equal(out.at, expected);
    buf_free(&out);
}

#define DOCUMENT                                                                         \
    "\xEF\xBB\xBF {\"a\": [1, {\"b\":\"}]\"}, []], \"skip\":[{\"x\":[\"]\"]}], \"c\" : " \
    "{\"d\":-1.5}}"

static void members_and_items_are_read_in_order(void **state)
{
    (void)state;
    assert_read(STR(DOCUMENT), JSON_GOING, "{a=[1 {b=}] . [. . skip= c={d=-1.5 . .");
    assert_read(STR("[]"), JSON_GOING, "[.");
}

static void pieces_give_the_same(void **state)
{
    (void)state;
    struct buf text = {0}, whole = {0};
    buf_puts(&text, "{\"list\":[");
    for (int i = 0; i < 20000; i++)
        buf_printf(&text, "%s{\"number\":%d,\"skip\":{\"far\":[%d]}}", i ? "," : "", i, i);
    buf_puts(&text, "]}");
    struct str bytes = {text.at, text.len};
    assert_int_equal(read_text(bytes, 0, &whole), JSON_GOING);
    for (size_t step = 1; step < 100000; step = step * 3 + 1) {
        struct buf out = {0};
        assert_int_equal(read_text(bytes, step, &out), JSON_GOING);
        assert_int_equal(out.len, whole.len);
        assert_memory_equal(out.at, whole.at, whole.len);
        buf_free(&out);
    }
    buf_free(&whole);
    buf_free(&text);
}

static void a_cut_document_gives_what_came_before(void **state)
{
    (void)state;
    struct str text = STR(DOCUMENT);
    for (size_t len = 0; len < text.len; len++) {
        struct buf out = {0};
        assert_int_equal(read_text((struct str){text.at, len}, 3, &out), JSON_CUT);
        buf_free(&out);
    }
    assert_read(STR("{\"a\":1,\"b\":[2,{\"c\":"), JSON_CUT, "{a=1 b=[2 {. . .");
}

static void what_is_not_json_ends_the_reading(void **state)
{
    (void)state;
    assert_read(STR("{\"a\":1,\"b\"2,\"c\":3}"), JSON_BROKEN, "{a=1 .");
    assert_read(STR("{\"a\":[1}"), JSON_BROKEN, "{a=[1 . .");
    assert_read(STR("x"), JSON_CUT, "");
    assert_read(STR("} "), JSON_BROKEN, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_and_items_are_read_in_order),
        cmocka_unit_test(pieces_give_the_same),
        cmocka_unit_test(a_cut_document_gives_what_came_before),
        cmocka_unit_test(what_is_not_json_ends_the_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
