// SPDX-License-Identifier: Apache-2.0
// Which jobs are kept ready to be replayed, and for how long.
#include "server/api/replays.h"

#include <pthread.h>
#include <semaphore.h>
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
        replays_leave(replays, job);
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
    assert_non_null(ask(replays, "r_2", 1, &fake, &err)); // no room beside r_1, then alone
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

// Reads its job until it may go on, as another client's request.
struct reader {
    struct replays *replays;
    const char *run;
    sem_t reads, goes_on, *ended; // NULL: nobody waits for its end
    size_t bytes;
    enum err_code code;
    pthread_t thread;
};

static bool fill_slowly(void *context, struct whatif_job *job, struct budget *budget,
                        struct err *err)
{
    struct reader *reader = context;
    (void)budget;
    bool ok = arena_alloc(&job->arena, reader->bytes, err) != NULL;
    sem_post(&reader->reads);
    sem_wait(&reader->goes_on);
    return ok;
}

static void *read_slowly(void *context)
{
    struct reader *reader = context;
    struct err err = {.pos = ERR_NO_POS};
    struct replay_source source = {{str_of(reader->run), 1, -1}, 1, fill_slowly, reader};
    const struct whatif_job *job = replays_enter(reader->replays, &source, &err);
    reader->code = err.code;
    if (job)
        replays_leave(reader->replays, job);
    if (reader->ended)
        sem_post(reader->ended);
    return NULL;
}

static void start_reader(struct reader *reader)
{
    sem_init(&reader->reads, 0, 0);
    sem_init(&reader->goes_on, 0, 0);
    assert_int_equal(pthread_create(&reader->thread, NULL, read_slowly, reader), 0);
}

static void end_reader(struct reader *reader)
{
    sem_post(&reader->goes_on);
    assert_int_equal(pthread_join(reader->thread, NULL), 0);
    sem_destroy(&reader->reads);
    sem_destroy(&reader->goes_on);
}

static void a_kept_run_is_answered_while_another_is_read(void **state)
{
    (void)state;
    struct err err;
    struct replays *replays = replays_open(64 * MIB, &err);
    struct fake fake = {.bytes = MIB};
    struct reader reader = {.replays = replays, .run = "r_slow", .bytes = MIB};
    assert_non_null(ask(replays, "r_1", 1, &fake, &err));
    start_reader(&reader);
    sem_wait(&reader.reads);
    assert_non_null(ask(replays, "r_1", 1, &fake, &err));
    assert_int_equal(fake.fills, 1);
    end_reader(&reader);
    assert_int_equal(reader.code, ERR_NONE);
    replays_close(replays);
}

// Nobody learns that a run is too large from memory that others hold for now.
static void what_lacks_memory_beside_a_busy_run_may_come_back(void **state)
{
    (void)state;
    struct err err;
    struct replays *replays = replays_open(64 * MIB, &err);
    struct fake fake = {.bytes = 10 * MIB};
    struct replay_source source = {{STR("r_1"), 1, -1}, 1, fill, &fake};
    const struct whatif_job *job = replays_enter(replays, &source, &err);
    assert_non_null(job);
    assert_null(ask(replays, "r_2", 1, &fake, &err));
    assert_int_equal(err.code, ERR_BUSY);
    replays_leave(replays, job);
    assert_non_null(ask(replays, "r_2", 1, &fake, &err));
    replays_close(replays);
}

static void a_few_wait_and_all_others_have_to_come_back(void **state)
{
    (void)state;
    enum { WAITING = 9 };
    struct err err;
    struct replays *replays = replays_open(64 * MIB, &err);
    struct reader slow = {.replays = replays, .run = "r_slow", .bytes = MIB};
    struct reader waiting[WAITING];
    unsigned refused = 0;
    sem_t ended;
    sem_init(&ended, 0, 0);
    start_reader(&slow);
    sem_wait(&slow.reads);
    for (int i = 0; i < WAITING; i++) {
        waiting[i] =
            (struct reader){.replays = replays, .run = "r_slow", .ended = &ended, .bytes = MIB};
        start_reader(&waiting[i]);
    }
    sem_wait(&ended); // the one that is refused: all others wait
    end_reader(&slow);
    for (int i = 0; i < WAITING; i++) {
        end_reader(&waiting[i]);
        refused += waiting[i].code == ERR_BUSY;
    }
    assert_int_equal(refused, 1);
    sem_destroy(&ended);
    replays_close(replays);
}

static void an_answer_without_memory_gets_that_of_idle_runs(void **state)
{
    (void)state;
    struct err err;
    struct replays *replays = replays_open(64 * MIB, &err);
    struct fake fake = {.bytes = 7 * MIB};
    assert_non_null(ask(replays, "r_1", 1, &fake, &err));
    struct replay_source source = {{STR("r_2"), 1, -1}, 1, fill, &fake};
    const struct whatif_job *job = replays_enter(replays, &source, &err);
    assert_non_null(job);
    assert_false(replays_make_room(replays)); // nothing lacked memory
    struct arena arena;
    arena_init(&arena, job->arena.budget);
    assert_null(arena_alloc(&arena, 5 * MIB, &err));
    assert_true(replays_make_room(replays));
    assert_non_null(arena_alloc(&arena, 5 * MIB, &err));
    arena_free(&arena);
    replays_leave(replays, job);
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
        cmocka_unit_test(a_kept_run_is_answered_while_another_is_read),
        cmocka_unit_test(what_lacks_memory_beside_a_busy_run_may_come_back),
        cmocka_unit_test(a_few_wait_and_all_others_have_to_come_back),
        cmocka_unit_test(an_answer_without_memory_gets_that_of_idle_runs),
        cmocka_unit_test(what_failed_is_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
