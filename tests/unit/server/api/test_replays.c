// SPDX-License-Identifier: Apache-2.0
// Which jobs are kept ready to be replayed, and for how long.
#include "server/api/replays.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define MIB ((size_t)1 << 20)

struct fake {
    size_t bytes; // that the job takes
    enum err_code fails;
    int fills;
};

static bool fill(void *context, struct whatif_job *job, struct budget *budget, struct err *err)
{
    struct fake *fake = context;
    (void)budget;
    fake->fills++;
    return fake->fails ? err_set(err, fake->fails, "as the test wants")
                       : arena_alloc(&job->arena, fake->bytes, err) != NULL;
}

// Asks for a run; NULL if that failed.
static const struct whatif_job *ask(struct replays *replays, const char *run, int64_t revision,
                                    struct fake *fake, struct err *err)
{
    struct replay_source source = {{str_of(run), revision, -1}, 1, fill, fake};
    *err = (struct err){.pos = ERR_NO_POS};
    const struct whatif_job *job = replays_enter(replays, &source, err);
    if (job)
        replays_leave(replays);
    return job;
}

static void a_run_is_read_once_for_each_of_its_states(void **state)
{
    (void)state;
    struct err err;
    struct replays *replays = replays_open(64 * MIB, &err);
    struct fake fake = {.bytes = MIB};
    assert_non_null(ask(replays, "r_1", 1, &fake, &err));
    assert_non_null(ask(replays, "r_1", 1, &fake, &err));
    assert_int_equal(fake.fills, 1);
    assert_non_null(ask(replays, "r_1", 2, &fake, &err));
    assert_non_null(ask(replays, "r_2", 1, &fake, &err));
    assert_int_equal(fake.fills, 3);
    assert_non_null(ask(replays, "r_1", 1, &fake, &err));
    assert_int_equal(fake.fills, 3);
    replays_close(replays);
}

static void those_asked_for_longest_ago_make_room(void **state)
{
    (void)state;
    struct err err;
    struct replays *replays = replays_open(64 * MIB, &err); // 16 of them for replays
    struct fake fake = {.bytes = 10 * MIB};
    assert_non_null(ask(replays, "r_1", 1, &fake, &err));
    assert_non_null(ask(replays, "r_2", 1, &fake, &err)); // in vain beside r_1, then alone
    assert_int_equal(fake.fills, 3);
    assert_non_null(ask(replays, "r_2", 1, &fake, &err));
    assert_int_equal(fake.fills, 3);
    struct fake small = {.bytes = 1000};
    for (int i = 0; i < 20; i++) {
        char run[8] = {'r', '_', (char)('a' + i)};
        assert_non_null(ask(replays, run, 1, &small, &err));
    }
    assert_non_null(ask(replays, "r_2", 1, &fake, &err));
    assert_int_equal(fake.fills, 4);
    replays_close(replays);
}

static void what_is_too_large_is_refused_and_not_read_again(void **state)
{
    (void)state;
    struct err err;
    struct replays *replays = replays_open(64 * MIB, &err);
    struct fake large = {.bytes = 20 * MIB}, small = {.bytes = 1000};
    for (int i = 0; i < 3; i++) {
        assert_null(ask(replays, "r_1", 1, &large, &err));
        assert_int_equal(err.code, ERR_LIMIT);
        assert_string_equal(err.msg, "replaying these ranks takes more than 16 MiB of memory");
    }
    assert_int_equal(large.fills, 1);
    assert_non_null(ask(replays, "r_2", 1, &small, &err)); // others are answered
    replays_close(replays);
}

static void what_failed_is_tried_again(void **state)
{
    (void)state;
    struct err err;
    struct replays *replays = replays_open(0, &err); // no limit of analyses: a usual one
    struct fake fake = {.bytes = MIB, .fails = ERR_NOT_FOUND};
    assert_null(ask(replays, "r_1", 1, &fake, &err));
    assert_int_equal(err.code, ERR_NOT_FOUND);
    fake.fails = ERR_NONE;
    assert_non_null(ask(replays, "r_1", 1, &fake, &err));
    assert_int_equal(fake.fills, 2);
    replays_close(replays);
    replays_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_read_once_for_each_of_its_states),
        cmocka_unit_test(those_asked_for_longest_ago_make_room),
        cmocka_unit_test(what_is_too_large_is_refused_and_not_read_again),
        cmocka_unit_test(what_failed_is_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
