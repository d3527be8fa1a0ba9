// SPDX-License-Identifier: Apache-2.0
// A body ends only when every announced byte has arrived, and never exceeds its limit.
#include "server/http/body.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct peer {
    const char *text;
    size_t left, step;
    unsigned proceeds;
};

static bool pull(void *ctx, void *bytes, size_t cap, size_t *got, struct err *err)
{
    (void)err;
    struct peer *peer = ctx;
    size_t len = peer->step < cap ? peer->step : cap;
    len = len < peer->left ? len : peer->left;
    memcpy(bytes, peer->text, len);
    peer->text += len;
    peer->left -= len;
    *got = len;
    return true;
}

static bool proceed(void *ctx, struct err *err)
{
    (void)err;
    ((struct peer *)ctx)->proceeds++;
    return true;
}

static struct body body_of(struct peer *peer, uint64_t length)
{
    return (struct body){
        .pull = pull, .proceed = proceed, .ctx = peer, .length = length, .limit = UINT64_MAX};
}

static void all_announced_bytes_are_read_and_no_more(void **state)
{
    (void)state;
    struct peer peer = {"hello world", 11, 2, 0};
    struct body body = body_of(&peer, 5);
    struct buf out = {0};
    struct err err = {0};
    assert_true(body_read_all(&body, 100, &out, &err));
    assert_string_equal(out.at, "hello");
    assert_true(body.ended);
    assert_int_equal(peer.left, 6);
    assert_int_equal(peer.proceeds, 1);
    buf_free(&out);
}

static void a_chunked_body_ends_where_its_source_ends(void **state)
{
    (void)state;
    struct peer peer = {"hello", 5, 3, 0};
    struct body body = body_of(&peer, BODY_UNKNOWN);
    struct buf out = {0};
    struct err err = {0};
    assert_true(body_read_all(&body, 5, &out, &err));
    assert_string_equal(out.at, "hello");
    assert_true(body.ended);
    buf_free(&out);
}

static void a_short_body_fails(void **state)
{
    (void)state;
    struct peer peer = {"hell", 4, 9, 0};
    struct body body = body_of(&peer, 5);
    struct buf out = {0};
    struct err err = {0};
    assert_false(body_read_all(&body, 100, &out, &err));
    assert_string_equal(err.msg, "the client stopped sending after 4 of 5 bytes");
    assert_false(body.ended);
    buf_free(&out);
}

static void limits_hold_for_both_kinds(void **state)
{
    (void)state;
    struct peer peer = {"hello", 5, 1, 0};
    struct body body = body_of(&peer, 5);
    struct buf out = {0};
    struct err err = {0};
    assert_false(body_read_all(&body, 4, &out, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    assert_int_equal(peer.proceeds, 0);
    body = body_of(&peer, BODY_UNKNOWN);
    assert_false(body_read_all(&body, 4, &out, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    buf_free(&out);
}

static void an_empty_body_does_not_ask_for_more(void **state)
{
    (void)state;
    struct peer peer = {"hello", 5, 1, 0};
    struct body body = body_of(&peer, 0);
    struct err err = {0};
    char byte;
    size_t got = 1;
    assert_true(body_read(&body, &byte, 1, &got, &err));
    assert_int_equal(got, 0);
    assert_int_equal(peer.proceeds, 0);
    assert_int_equal(peer.left, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_announced_bytes_are_read_and_no_more),
        cmocka_unit_test(a_chunked_body_ends_where_its_source_ends),
        cmocka_unit_test(a_short_body_fails),
        cmocka_unit_test(limits_hold_for_both_kinds),
        cmocka_unit_test(an_empty_body_does_not_ask_for_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
