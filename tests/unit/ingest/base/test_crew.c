// SPDX-License-Identifier: Apache-2.0
// labels: threads
// Tasks shared with idle cores.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/base/crew.h"

enum { TASKS = 40 };

// Waits until `meet` tasks are in it: they can leave only once that many threads are at work.
struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned inside, meet;
};

struct job {
    struct meeting *meeting; // NULL: none
    struct cores *starts;    // another job starts during this one; NULL: none
    struct cores *ends;      // another job ends during this one; NULL: none
    pthread_t thread;
    int runs;
    bool fails;
    unsigned *order; // counts the tasks run so far, single-threaded only; NULL: none
    unsigned place;
};

static bool run_job(void *context, struct err *err)
{
    struct job *job = context;
    job->runs++;
    job->thread = pthread_self();
    cores_hold(job->starts);
    cores_release(job->ends);
    if (job->order)
        job->place = (*job->order)++;
    if (job->meeting) {
        pthread_mutex_lock(&job->meeting->lock);
        job->meeting->inside++;
        pthread_cond_broadcast(&job->meeting->changed);
        while (job->meeting->inside < job->meeting->meet)
            pthread_cond_wait(&job->meeting->changed, &job->meeting->lock);
        pthread_mutex_unlock(&job->meeting->lock);
    }
    return !job->fails || err_set_at(err, ERR_FORMAT, (uint64_t)job->place, "task fails");
}

static void describe(struct crew_task *tasks, struct job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tasks[i] = (struct crew_task){.run = run_job, .context = &jobs[i]};
}

static int free_of(struct cores *cores)
{
    return atomic_load(cores->free);
}

static void cores_are_taken_as_far_as_they_are_free(void **state)
{
    (void)state;
    struct cores cores;
    cores_init(&cores, 3);
    cores_hold(&cores);
    assert_int_equal(cores_take(&cores, 1), 1);
    assert_int_equal(cores_take(&cores, 5), 1);
    assert_int_equal(cores_take(&cores, 5), 0);
    assert_false(cores_short(&cores));
    cores_hold(&cores); // a job starts although helpers use all other cores
    assert_true(cores_short(&cores));
    assert_int_equal(cores_take(&cores, 1), 0);
    cores_give(&cores, 2);
    assert_false(cores_short(&cores));
    assert_int_equal(cores_take(&cores, 2), 1);
    cores_give(&cores, 1);
    cores_release(&cores);
    cores_release(&cores);
    assert_int_equal(free_of(&cores), 3);
}

static void nobody_shares_cores_that_are_not_given(void **state)
{
    (void)state;
    cores_hold(NULL);
    cores_release(NULL);
    cores_give(NULL, 2);
    assert_int_equal(cores_take(NULL, 2), 0);
    assert_false(cores_short(NULL));
}

static void without_cores_tasks_run_once_each_in_their_order(void **state)
{
    (void)state;
    struct crew_task tasks[TASKS];
    struct job jobs[TASKS] = {0};
    unsigned order = 0;
    struct err err;
    describe(tasks, jobs, TASKS);
    for (int i = 0; i < TASKS; i++)
        jobs[i].order = &order;
    assert_true(crew_run(NULL, tasks, TASKS, &err));
    for (int i = 0; i < TASKS; i++) {
        assert_int_equal(jobs[i].runs, 1);
        assert_int_equal(jobs[i].place, i);
    }
    assert_true(crew_run(NULL, tasks, 0, &err));
}

static void with_free_cores_tasks_run_at_the_same_time_and_once_each(void **state)
{
    (void)state;
    struct meeting meeting = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 3};
    struct crew_task tasks[TASKS];
    struct job jobs[TASKS] = {0};
    struct cores cores;
    struct err err;
    describe(tasks, jobs, TASKS);
    for (int i = 0; i < 3; i++)
        jobs[i].meeting = &meeting;
    cores_init(&cores, 3);
    cores_hold(&cores);
    assert_true(crew_run(&cores, tasks, TASKS, &err));
    for (int i = 0; i < TASKS; i++)
        assert_int_equal(jobs[i].runs, 1);
    assert_int_equal(free_of(&cores), 2);
    assert_int_equal(meeting.inside, 3);
}

static void the_first_failure_in_the_order_of_tasks_is_reported_and_ends_the_phase(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= 4; count++) {
        struct crew_task tasks[TASKS];
        struct job jobs[TASKS] = {0};
        struct cores cores;
        struct err err;
        describe(tasks, jobs, TASKS);
        for (int i = 5; i < TASKS; i++) {
            jobs[i].fails = true;
            jobs[i].place = (unsigned)i;
        }
        cores_init(&cores, count);
        cores_hold(&cores);
        assert_false(crew_run(&cores, tasks, TASKS, &err));
        assert_int_equal(err.code, ERR_FORMAT);
        assert_int_equal(err.pos, 5);
        for (int i = 0; i <= 5; i++)
            assert_int_equal(jobs[i].runs, 1);
        assert_int_equal(jobs[TASKS - 1].runs, 0);
        assert_int_equal(free_of(&cores), (int)count - 1);
    }
}

static void a_helper_makes_room_for_a_job_that_starts(void **state)
{
    (void)state;
    struct meeting meeting = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 2};
    struct crew_task tasks[TASKS];
    struct job jobs[TASKS] = {0};
    struct cores cores;
    struct err err;
    describe(tasks, jobs, TASKS);
    cores_init(&cores, 2);
    cores_hold(&cores);
    jobs[0].meeting = jobs[1].meeting = &meeting; // so there is one helper
    jobs[0].starts = &cores;
    assert_true(crew_run(&cores, tasks, TASKS, &err));
    assert_false(pthread_equal(jobs[0].thread, jobs[1].thread));
    for (int i = 2; i < TASKS; i++)
        assert_true(pthread_equal(jobs[i].thread, pthread_self()));
    assert_int_equal(free_of(&cores), 0);
}

static void a_helper_comes_when_another_job_ends(void **state)
{
    (void)state;
    struct meeting meeting = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 2};
    struct crew_task tasks[TASKS];
    struct job jobs[TASKS] = {0};
    struct cores cores;
    struct err err;
    describe(tasks, jobs, TASKS);
    cores_init(&cores, 2);
    cores_hold(&cores);
    cores_hold(&cores); // the other job
    jobs[3].ends = &cores;
    jobs[4].meeting = jobs[5].meeting = &meeting; // two threads get here
    assert_true(crew_run(&cores, tasks, TASKS, &err));
    for (int i = 0; i < TASKS; i++)
        assert_int_equal(jobs[i].runs, 1);
    for (int i = 0; i <= 3; i++)
        assert_true(pthread_equal(jobs[i].thread, pthread_self()));
    assert_false(pthread_equal(jobs[4].thread, jobs[5].thread));
    assert_int_equal(free_of(&cores), 1);
}

enum { ITEMS = 1000 };

static bool count_items(void *context, size_t from, size_t to, struct err *err)
{
    atomic_int *counts = context;
    for (size_t i = from; i < to; i++)
        atomic_fetch_add(&counts[i], 1);
    (void)err;
    return true;
}

static bool fail_late(void *context, size_t from, size_t to, struct err *err)
{
    (void)context;
    return to < ITEMS || err_set(err, ERR_FORMAT, "the range from %zu fails", from);
}

static void ranges_cover_every_item_once_with_and_without_cores(void **state)
{
    (void)state;
    struct err err;
    static const unsigned core_counts[] = {1, 2, 8};
    for (size_t c = 0; c < sizeof core_counts / sizeof *core_counts; c++) {
        atomic_int counts[ITEMS] = {0};
        struct cores cores;
        cores_init(&cores, core_counts[c]);
        cores_hold(&cores);
        assert_true(crew_each(&cores, ITEMS, 7, count_items, counts, &err));
        for (int i = 0; i < ITEMS; i++)
            assert_int_equal(counts[i], 1);
        assert_int_equal(cores_free(&cores), core_counts[c] - 1);
    }
    assert_true(crew_each(NULL, 0, 7, count_items, NULL, &err));
}

static void a_range_that_fails_is_reported(void **state)
{
    (void)state;
    struct err err;
    struct cores cores;
    cores_init(&cores, 2);
    cores_hold(&cores);
    assert_false(crew_each(&cores, ITEMS, 1, fail_late, NULL, &err));
    assert_int_equal(err.code, ERR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cores_are_taken_as_far_as_they_are_free),
        cmocka_unit_test(nobody_shares_cores_that_are_not_given),
        cmocka_unit_test(without_cores_tasks_run_once_each_in_their_order),
        cmocka_unit_test(with_free_cores_tasks_run_at_the_same_time_and_once_each),
        cmocka_unit_test(the_first_failure_in_the_order_of_tasks_is_reported_and_ends_the_phase),
        cmocka_unit_test(ranges_cover_every_item_once_with_and_without_cores),
        cmocka_unit_test(a_range_that_fails_is_reported),
        cmocka_unit_test(a_helper_makes_room_for_a_job_that_starts),
        cmocka_unit_test(a_helper_comes_when_another_job_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
