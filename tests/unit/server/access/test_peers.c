// SPDX-License-Identifier: Apache-2.0
// Address lists match what they list and nothing else.
#include "server/access/peers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static struct peers list(const char *text)
{
    struct peers peers;
    struct err err = {0};
    if (!peers_parse(str_of(text), &peers, &err))
        fail_msg("%s: %s", text, err.msg);
    return peers;
}

static void assert_held(const char *text, const char *address, bool held)
{
    struct peers peers = list(text);
    if (peers_hold(&peers, str_of(address)) != held)
        fail_msg("%s in %s: expected %d", address, text, held);
}

static void single_addresses_are_held_exactly(void **state)
{
    (void)state;
    assert_held("127.0.0.1", "127.0.0.1", true);
    assert_held("127.0.0.1", "127.0.0.2", false);
    assert_held("127.0.0.1,10.1.2.3", "10.1.2.3", true);
    assert_held("::1", "::1", true);
    assert_held("::1", "::2", false);
    assert_held("127.0.0.1", "::ffff:127.0.0.1", true);
}

static void ranges_are_held_to_the_bit(void **state)
{
    (void)state;
    assert_held("10.0.0.0/8", "10.255.255.255", true);
    assert_held("10.0.0.0/8", "11.0.0.0", false);
    assert_held("10.0.0.128/25", "10.0.0.127", false);
    assert_held("10.0.0.128/25", "10.0.0.200", true);
    assert_held("0.0.0.0/0", "8.8.8.8", true);
    assert_held("0.0.0.0/0", "2001:db8::1", false);
    assert_held("fd00::/8", "fdff::1", true);
    assert_held("fd00::/8", "fc00::1", false);
}

static void nobody_is_in_an_empty_list_and_no_text_is_an_address(void **state)
{
    (void)state;
    const char *const texts[] = {"", "localhost", "127.0.0.1 ", "127.1", "0x7f000001", "1.2.3.4.5"};
    assert_held("", "127.0.0.1", false);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        assert_held("0.0.0.0/0,::/0", texts[i], false);
        assert_false(peers_is_address(str_of(texts[i])));
    }
}

static void other_lists_are_refused(void **state)
{
    (void)state;
    const char *const wrong[] = {"localhost", "*",         "10.0.0.0/33", "10.0.0.0/-1",
                                 "10.0.0.0/", "1.2.3.4,,", "1.2.3.4/x",   "::1/129",
                                 " 1.2.3.4",  ","};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct peers peers;
        struct err err = {0};
        if (peers_parse(str_of(wrong[i]), &peers, &err))
            fail_msg("'%s' was taken", wrong[i]);
        assert_int_equal(err.code, ERR_USAGE);
    }
}

static void a_list_that_is_too_long_is_refused(void **state)
{
    (void)state;
    char text[(PEERS_MAX + 1) * 8];
    struct peers peers;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = "1.2.3.4,"[i % 8];
    struct err err = {0};
    assert_false(peers_parse((struct str){text, sizeof(text) - 1}, &peers, &err));
    assert_true(peers_parse((struct str){text, sizeof(text) - 9}, &peers, &err));
    assert_int_equal(peers.count, PEERS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_addresses_are_held_exactly),
        cmocka_unit_test(ranges_are_held_to_the_bit),
        cmocka_unit_test(nobody_is_in_an_empty_list_and_no_text_is_an_address),
        cmocka_unit_test(other_lists_are_refused),
        cmocka_unit_test(a_list_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
