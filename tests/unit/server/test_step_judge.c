// SPDX-License-Identifier: Apache-2.0
// Planted slow ranks and stages in jobs whose ranks wait for each other; clean jobs.
#include "server/steps/step_judge.h"

#include "tests/tracegen/splitmix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>

enum { STAGES = 5, DATA = 0, FORWARD, BACKWARD, SYNC, OPTIMIZER };
static const double usual_us[STAGES] = {8000, 60000, 120000, 9000, 15000};

struct job {
    size_t ranks, steps, at; // at: from which step on something is slow
    int rank;                // slow, STEP_ALL_RANKS
    size_t stage;
    double factor;
    double noise; // of each stage; neighbors in time are alike
    uint64_t seed;
};

static double uniform(struct splitmix *seed)
{
    return (double)(splitmix_next(seed) >> 11) / 9007199254740992.0;
}

static double normal(struct splitmix *seed)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform(seed);
    return sum;
}

// Each rank has its own clock; all leave SYNC at the same time.
static uint32_t *run(const struct job *job)
{
    struct splitmix seed = {job->seed};
    uint32_t *us = malloc(job->steps * job->ranks * STAGES * sizeof *us);
    double *ready = calloc(job->ranks, sizeof *ready), *drift = calloc(job->ranks, sizeof *drift);
    double *begin = calloc(job->ranks, sizeof *begin);
    for (size_t step = 0; step < job->steps; step++) {
        double last = 0;
        double checkpoint = step % 50 == 49 ? 300000 : 0;
        for (size_t rank = 0; rank < job->ranks; rank++) {
            uint32_t *row = us + (step * job->ranks + rank) * STAGES;
            bool slow = step >= job->at && (job->rank < 0 || job->rank == (int)rank);
            drift[rank] = 0.5 * drift[rank] + normal(&seed);
            begin[rank] = ready[rank];
            for (size_t stage = 0; stage < STAGES; stage++) {
                double factor = slow && stage == job->stage ? job->factor : 1;
                double noisy = 1 + job->noise * (drift[rank] + normal(&seed)) / 1.5;
                row[stage] = (uint32_t)(usual_us[stage] * factor * (noisy > 0.2 ? noisy : 0.2));
            }
            row[OPTIMIZER] += (uint32_t)checkpoint;
            ready[rank] += row[DATA] + row[FORWARD] + row[BACKWARD];
            last = ready[rank] > last ? ready[rank] : last;
        }
        double end = last + us[step * job->ranks * STAGES + SYNC];
        for (size_t rank = 0; rank < job->ranks; rank++) {
            uint32_t *row = us + (step * job->ranks + rank) * STAGES;
            row[SYNC] = (uint32_t)(end - ready[rank]);
            ready[rank] = end + row[OPTIMIZER];
        }
    }
    free(ready);
    free(begin);
    free(drift);
    return us;
}

static void judge(const struct job *job, struct arena *arena, struct step_judgement *judgement)
{
    struct err err = {.pos = ERR_NO_POS};
    uint32_t *us = run(job);
    const struct step_matrix matrix = {us, job->steps, job->ranks, STAGES};
    assert_true(step_judge(&matrix, arena, judgement, &err));
    free(us);
}

static bool is_named(const struct step_change *change, const struct job *job, size_t among)
{
    for (size_t i = 0; i < among; i++)
        if (change->suspects[i].rank == job->rank && change->suspects[i].stage == job->stage)
            return true;
    return false;
}

static void planted_ranks_and_stages_are_among_the_first_two(void **state)
{
    enum { CASES = 500 };
    size_t found = 0, first = 0;
    struct splitmix seed = {7};
    (void)state;
    for (size_t i = 0; i < CASES; i++) {
        static const size_t sizes[] = {2, 4, 8, 16, 64};
        struct job job = {.ranks = sizes[i % 5], .steps = 200, .noise = 0.02};
        job.stage = splitmix_next(&seed) % STAGES;
        job.rank = splitmix_next(&seed) % 4 == 0 || job.stage == SYNC
                       ? STEP_ALL_RANKS
                       : (int)(splitmix_next(&seed) % job.ranks);
        job.factor = 1 + (0.06 + 0.3 * uniform(&seed)) * 212000 / usual_us[job.stage];
        job.at = 60 + splitmix_next(&seed) % 80;
        job.seed = splitmix_next(&seed);
        struct arena arena;
        struct step_judgement judgement;
        arena_init(&arena, NULL);
        judge(&job, &arena, &judgement);
        const struct step_change *change = &judgement.changes[0];
        bool here = judgement.change_count == 1 && change->at + 6 > job.at &&
                    change->at < job.at + 6 && change->after_us > change->before_us;
        found += here && is_named(change, &job, 2);
        first += here && is_named(change, &job, 1);
        arena_free(&arena);
    }
    print_message("named: %zu of %d first, %zu among two\n", first, CASES, found);
    assert_true(found * 100 >= (size_t)98 * CASES);
}

static void clean_jobs_raise_no_alarm(void **state)
{
    (void)state;
    for (size_t i = 0; i < 400; i++) {
        struct job job = {.ranks = 2 + i % 15,
                          .steps = 300,
                          .at = SIZE_MAX,
                          .noise = 0.01 + 0.04 * (double)(i % 10) / 10,
                          .seed = 1000 + i};
        struct arena arena;
        struct step_judgement judgement;
        arena_init(&arena, NULL);
        judge(&job, &arena, &judgement);
        assert_int_equal(judgement.change_count, 0);
        arena_free(&arena);
    }
}

static void parts_add_up_to_the_longest_rank_and_name_it(void **state)
{
    static const uint32_t us[] = {10, 20, 30, /* rank 1: */ 15, 20, 20,
                                  10, 20, 30, /* rank 1: */ 40, 20, 10};
    const struct step_matrix matrix = {us, 2, 2, 3};
    struct err err = {.pos = ERR_NO_POS};
    struct step_judgement judgement;
    struct arena arena;
    (void)state;
    arena_init(&arena, NULL);
    assert_true(step_judge(&matrix, &arena, &judgement, &err));
    assert_int_equal(judgement.used, 2);
    assert_true(fabs(judgement.parts[0].us - (15 + 40) / 2.0) < 1e-9);
    assert_true(fabs(judgement.parts[1].us - (20 + 20) / 2.0) < 1e-9);
    assert_true(fabs(judgement.parts[2].us - (25 + 10) / 2.0) < 1e-9);
    assert_int_equal(judgement.parts[0].rank, 1);
    assert_true(judgement.parts[0].rank_share > 0.99);
    assert_true(fabs(judgement.total_us[0] - 60) < 1e-9);
    assert_true(fabs(judgement.total_us[1] - 70) < 1e-9);
    arena_free(&arena);
}

static void steps_that_few_ranks_have_say_nothing(void **state)
{
    uint32_t us[] = {1, 1, STEP_MISSING, STEP_MISSING, 1, 1, 2, 2};
    const struct step_matrix matrix = {us, 2, 2, 2};
    struct err err = {.pos = ERR_NO_POS};
    struct step_judgement judgement;
    struct arena arena;
    (void)state;
    arena_init(&arena, NULL);
    assert_true(step_judge(&matrix, &arena, &judgement, &err));
    assert_int_equal(judgement.used, 1);
    assert_int_equal(judgement.index[0], 1);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planted_ranks_and_stages_are_among_the_first_two),
        cmocka_unit_test(clean_jobs_raise_no_alarm),
        cmocka_unit_test(parts_add_up_to_the_longest_rank_and_name_it),
        cmocka_unit_test(steps_that_few_ranks_have_say_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
