// SPDX-License-Identifier: Apache-2.0
// Large answers share a budget; small ones, and a single large one, always fit.
#include "server/http/reply_room.h"
#include "server/api/api.h"
#include "server/http/problem.h"

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

static void no_large_answer_is_made_while_there_is_hardly_room(void **state)
{
    (void)state;
    struct reply_room room;
    struct err err = {0};
    reply_room_init(&room, 16 * MIB, 1);
    assert_true(reply_room_enter(&room, 13 * MIB));
    assert_true(reply_room_begin(&room, &err));
    reply_room_end(&room);
    assert_true(reply_room_enter(&room, MIB));
    assert_false(reply_room_begin(&room, &err));
    assert_int_equal(err.code, ERR_BUSY);
    reply_room_leave(&room, 13 * MIB);
    assert_true(reply_room_begin(&room, &err)); // the turn was not lost
    reply_room_end(&room);
    reply_room_destroy(&room);
}

// Counters and clients recognize refusals by it, whether the answer existed before or not.
static void a_turn_that_is_refused_has_the_word_of_an_answer_without_room(void **state)
{
    (void)state;
    struct reply_room room;
    struct services services = {.room = &room};
    struct request request = {.services = &services};
    struct response response;
    struct err err = {0};
    response_init(&response);
    reply_room_init(&room, 16 * MIB, 1);
    assert_true(reply_room_enter(&room, 15 * MIB));
    assert_false(api_take_turn(&request, &response, &err));
    assert_string_equal(response.word, "too-many-answers");
    assert_int_equal(problem_status(err.code), 503);
    reply_room_destroy(&room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_room_sends_large_answers_away_until_one_leaves),
        cmocka_unit_test(one_answer_alone_has_room_at_any_size),
        cmocka_unit_test(small_answers_are_not_counted),
        cmocka_unit_test(no_large_answer_is_made_while_there_is_hardly_room),
        cmocka_unit_test(a_turn_that_is_refused_has_the_word_of_an_answer_without_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
