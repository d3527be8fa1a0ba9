// SPDX-License-Identifier: Apache-2.0
// Large answers share a room; small ones and one alone always have it.
#include "server/reply_room.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define MIB ((uint64_t)1 << 20)

static void a_full_room_sends_large_answers_away_until_one_leaves(void **state)
{
    (void)state;
    struct reply_room room;
    reply_room_init(&room, 10 * MIB, 1);
    assert_true(reply_room_enter(&room, 6 * MIB));
    assert_false(reply_room_enter(&room, 5 * MIB));
    assert_true(reply_room_enter(&room, 4 * MIB));
    assert_false(reply_room_enter(&room, MIB));
    reply_room_leave(&room, 6 * MIB);
    assert_true(reply_room_enter(&room, 5 * MIB));
    reply_room_destroy(&room);
}

static void one_answer_alone_has_room_at_any_size(void **state)
{
    (void)state;
    struct reply_room room;
    reply_room_init(&room, 10 * MIB, 1);
    assert_true(reply_room_enter(&room, 500 * MIB));
    assert_false(reply_room_enter(&room, MIB));
    reply_room_leave(&room, 500 * MIB);
    assert_true(reply_room_enter(&room, MIB));
    reply_room_destroy(&room);
}

static void small_answers_are_not_counted(void **state)
{
    (void)state;
    struct reply_room room;
    reply_room_init(&room, 2 * MIB, 1);
    assert_true(reply_room_enter(&room, 2 * MIB));
    assert_true(reply_room_enter(&room, MIB - 1));
    reply_room_leave(&room, MIB - 1);
    assert_false(reply_room_enter(&room, MIB));
    reply_room_destroy(&room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_room_sends_large_answers_away_until_one_leaves),
        cmocka_unit_test(one_answer_alone_has_room_at_any_size),
        cmocka_unit_test(small_answers_are_not_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
