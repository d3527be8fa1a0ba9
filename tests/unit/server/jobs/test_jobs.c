// SPDX-License-Identifier: Apache-2.0
// Jobs from end to end: an accepted file becomes a report, even across restarts.
// labels: threads
#include "server/cli/cmd.h"
#include "ingest/base/clock.h"
#include "tests/named_cell.h"
#include "tests/unit/db_raw.h"
#include "tests/unit/jobs_fixture.h"

#include <semaphore.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

static void an_accepted_file_becomes_a_report(void **state)
{
    struct service *s = *state;
    start_jobs(s, 2);
    struct upload upload = take(s, good_trace, "rank3.json");
    assert_true(jobs_wait_upload(s->intake.jobs, upload.id, WAIT_MS));
    struct trace_row row = trace_of(s, &upload);
    assert_int_equal(row.state, TRACE_DONE);
    assert_int_equal(row.rank, 3);
    struct report report = {.arena = &s->arena};
    check(s, store_load_trace_report(s->intake.store, row.id, &report, &s->err));
    const struct table *kernels = report_find(&report, "kernels");
    assert_non_null(kernels);
    assert_int_equal(named_cell(kernels, 0, "total_ns")->i, 50000);
    struct run run;
    check(s, store_find_run(s->intake.store, STR("r"), &s->arena, &run, &s->err));
    assert_int_equal(run.status, RUN_DONE);
    assert_int_equal(folder_count_all(s->folder, "traces"), 1);
    double share;
    assert_false(jobs_progress(s->intake.jobs, row.id, &share));
    end_jobs(s);
}

static void a_file_that_is_no_trace_fails_with_a_reason(void **state)
{
    struct service *s = *state;
    start_jobs(s, 2);
    struct upload upload = take(s, "this is no trace", "x.json");
    assert_true(jobs_wait_upload(s->intake.jobs, upload.id, WAIT_MS));
    struct trace_row row = trace_of(s, &upload);
    assert_int_equal(row.state, TRACE_FAILED);
    assert_true(row.error.len > 0);
    struct run run;
    check(s, store_find_run(s->intake.store, STR("r"), &s->arena, &run, &s->err));
    assert_int_equal(run.status, RUN_FAILED);
    end_jobs(s);
}

static void what_was_accepted_before_a_crash_is_done_after_it(void **state)
{
    struct service *s = *state;
    struct upload upload = take(s, good_trace, "x.json");
    struct job job;
    bool found;
    check(s, store_claim_job(s->intake.store, &s->arena, &job, &found, &s->err));
    assert_true(found); // and the process dies here
    close_store(s);
    open_store(s);
    check(s, intake_sweep(&s->intake, &s->err));
    start_jobs(s, 2);
    assert_true(jobs_wait_upload(s->intake.jobs, upload.id, WAIT_MS));
    assert_int_equal(trace_of(s, &upload).state, TRACE_DONE);
    end_jobs(s);
}

static void reanalysis_needs_the_kept_trace_only(void **state)
{
    struct service *s = *state;
    start_jobs(s, 2);
    struct upload upload = take(s, good_trace, "x.json");
    assert_true(jobs_wait_upload(s->intake.jobs, upload.id, WAIT_MS));
    end_jobs(s); // or a worker takes it before it is seen in the queue
    check(s, blob_remove(s->intake.blobs, upload.traces[0].sha256.at, 0, &s->err));
    check(s, store_reanalyze_run(s->intake.store, upload.run_id, &s->err));
    assert_int_equal(trace_of(s, &upload).state, TRACE_QUEUED);
    start_jobs(s, 2);
    assert_true(jobs_wait_upload(s->intake.jobs, upload.id, WAIT_MS));
    assert_int_equal(trace_of(s, &upload).state, TRACE_DONE);
    end_jobs(s);
}

// Threads that wait for one upload and report when they are done.
struct waiters {
    struct service *service;
    struct str upload_id;
    sem_t ended;
};

static void *wait_and_say(void *ctx)
{
    struct waiters *waiters = ctx;
    assert_false(jobs_wait_upload(waiters->service->intake.jobs, waiters->upload_id, WAIT_MS));
    sem_post(&waiters->ended);
    return NULL;
}

static void only_so_many_wait_for_uploads(void **state)
{
    struct service *s = *state;
    struct upload upload = take(s, good_trace, "x.json");
    start_jobs(s, 0); // so nobody works on it
    struct waiters waiters = {.service = s, .upload_id = upload.id};
    sem_init(&waiters.ended, 0, 0);
    pthread_t threads[JOBS_MAX_WAITING + 1];
    int64_t begin_ns = clock_mono_ns();
    for (size_t i = 0; i < JOBS_MAX_WAITING + 1; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_and_say, &waiters), 0);
    sem_wait(&waiters.ended);
    assert_true(clock_mono_ns() - begin_ns < (int64_t)WAIT_MS * 1000000 / 2);
    assert_int_equal(sem_trywait(&waiters.ended), -1); // the others keep waiting
    stop_loop(s);
    for (size_t i = 0; i < JOBS_MAX_WAITING + 1; i++)
        pthread_join(threads[i], NULL);
    sem_destroy(&waiters.ended);
    close_jobs(s);
}

// Pretends that the file has this size.
static void say_bytes(struct service *s, struct str trace_id, int64_t bytes)
{
    char path[96], sql[128];
    snprintf(path, sizeof path, "%s/db", s->folder);
    snprintf(sql, sizeof sql, "UPDATE trace SET bytes = %lld WHERE id = '%.*s'", (long long)bytes,
             (int)trace_id.len, trace_id.at);
    db_raw_run(path, sql);
}

static void blob_of(const struct service *s, const struct upload *upload, char path[BLOB_PATH_SIZE])
{
    const char *sha256 = upload->traces[0].sha256.at;
    snprintf(path, BLOB_PATH_SIZE, "%s/blobs/%.2s/%s", blob_root(s->intake.blobs), sha256, sha256);
}

// Accepts a huge file whose reader blocks until write_pipe.
static struct upload take_pipe(struct service *s, const char *content, const char *filename)
{
    char path[BLOB_PATH_SIZE];
    struct upload upload = take(s, content, filename);
    say_bytes(s, upload.traces[0].id, STORE_SMALL_BYTES + 1);
    blob_of(s, &upload, path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    return upload;
}

static void write_pipe(struct service *s, const struct upload *upload)
{
    char path[BLOB_PATH_SIZE];
    blob_of(s, upload, path);
    FILE *pipe = fopen(path, "w");
    assert_non_null(pipe);
    assert_true(fputs(good_trace, pipe) >= 0);
    fclose(pipe);
}

static void huge_files_leave_a_worker_to_small_ones(void **state)
{
    struct service *s = *state;
    struct upload huge[2] = {take_pipe(s, "[1]", "x.json"), take_pipe(s, "[2]", "y.json")};
    start_jobs(s, 2);
    struct upload small = take(s, good_trace, "z.json");
    assert_true(jobs_wait_upload(s->intake.jobs, small.id, WAIT_MS));
    for (int i = 0; i < 2; i++) {
        write_pipe(s, &huge[i]);
        assert_true(jobs_wait_upload(s->intake.jobs, huge[i].id, WAIT_MS));
        assert_int_equal(trace_of(s, &huge[i]).state, TRACE_DONE);
    }
    end_jobs(s);
}

static void a_single_worker_takes_huge_files_too(void **state)
{
    struct service *s = *state;
    struct upload upload = take(s, good_trace, "x.json");
    say_bytes(s, upload.traces[0].id, STORE_SMALL_BYTES + 1);
    start_jobs(s, 1);
    assert_true(jobs_wait_upload(s->intake.jobs, upload.id, WAIT_MS));
    end_jobs(s);
}

struct waiter {
    struct service *service;
    struct upload upload;
    bool done;
};

static void *wait_for_upload(void *ctx)
{
    struct waiter *waiter = ctx;
    waiter->done = jobs_wait_upload(waiter->service->intake.jobs, waiter->upload.id, UINT32_MAX);
    return NULL;
}

static void a_stopped_service_lets_go_of_those_who_wait(void **state)
{
    struct service *s = *state;
    pthread_t thread;
    start_jobs(s, 0); // no workers
    struct waiter waiter = {s, take(s, good_trace, "x.json"), true};
    assert_int_equal(pthread_create(&thread, NULL, wait_for_upload, &waiter), 0);
    stop_loop(s);
    pthread_join(thread, NULL);
    assert_false(waiter.done);
    close_jobs(s);
    start_jobs(s, 1); // what was accepted is done by the next process
    assert_true(jobs_wait_upload(s->intake.jobs, waiter.upload.id, WAIT_MS));
    end_jobs(s);
}

// One thread that waits, and another that sees it wait.
struct watched {
    struct service *service;
    struct str upload_id;
    atomic_int thread_id;
    atomic_bool ended;
    bool done;
};

static void *wait_watched(void *ctx)
{
    struct watched *watched = ctx;
    atomic_store(&watched->thread_id, (int)gettid());
    watched->done = jobs_wait_upload(watched->service->intake.jobs, watched->upload_id, WAIT_MS);
    atomic_store(&watched->ended, true);
    return NULL;
}

static bool is_asleep(int thread_id)
{
    char path[64], state = '\0';
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread_id);
    FILE *file = thread_id ? fopen(path, "r") : NULL;
    bool is_read = file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
    if (file)
        fclose(file);
    return is_read && state == 'S';
}

static void who_waits_hears_at_once_of_jobs_that_will_never_begin(void **state)
{
    struct service *s = *state;
    start_jobs(s, 0); // so they wait in the queue
    for (int deletes = 1; deletes >= 0; deletes--) {
        struct upload upload = take(s, good_trace, "x.json");
        struct watched watched = {.service = s, .upload_id = upload.id};
        pthread_t thread;
        int64_t begin_ns = clock_mono_ns();
        assert_int_equal(pthread_create(&thread, NULL, wait_watched, &watched), 0);
        while (!is_asleep(atomic_load(&watched.thread_id)) && !atomic_load(&watched.ended))
            sched_yield();
        check(s, deletes ? intake_delete_run(&s->intake, upload.run_id, STORE_ANY, &s->err)
                         : jobs_cancel_run(s->intake.jobs, upload.run_id, &s->err));
        pthread_join(thread, NULL);
        assert_true(watched.done);
        assert_true(clock_mono_ns() - begin_ns < (int64_t)WAIT_MS * 1000000 / 2);
    }
    end_jobs(s);
}

static void waiting_ends_with_its_time(void **state)
{
    struct service *s = *state;
    start_jobs(s, 0);
    struct upload upload = take(s, good_trace, "x.json");
    assert_false(jobs_wait_upload(s->intake.jobs, upload.id, 1));
    end_jobs(s);
}

static void a_deleted_run_leaves_no_file(void **state)
{
    struct service *s = *state;
    start_jobs(s, 2);
    struct upload upload = take(s, good_trace, "x.json");
    check(s, intake_delete_run(&s->intake, upload.run_id, STORE_ANY, &s->err)); // at any moment
    end_jobs(s);
    assert_int_equal(folder_count_all(s->folder, "blobs"), 0);
    assert_int_equal(folder_count_all(s->folder, "traces"), 0);
}

static void a_refused_upload_leaves_no_file(void **state)
{
    struct service *s = *state;
    struct intake_part part = {.filename = STR("x.json"), .rank = 0};
    struct upload upload;
    check(s, try_take(s, "r", "[1]", part, &upload));
    assert_false(try_take(s, "r", "[2]", part, &upload));
    assert_int_equal(s->err.code, ERR_CONFLICT);
    assert_int_equal(folder_count_all(s->folder, "blobs"), 1);
    check(s, try_take(s, "r", "[1]", part, &upload)); // the first one's file is still there
    assert_true(upload.all_existing);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

// Jobs start this same program for the process that reads a file.
int main(int argc, char **argv)
{
    struct err err = {0};
    if (argc == 2 && strcmp(argv[1], "_job") == 0)
        return !cmd_job(0, argv + 2, &err);
    const struct CMUnitTest tests[] = {
        TEST(an_accepted_file_becomes_a_report),
        TEST(a_file_that_is_no_trace_fails_with_a_reason),
        TEST(what_was_accepted_before_a_crash_is_done_after_it),
        TEST(reanalysis_needs_the_kept_trace_only),
        TEST(huge_files_leave_a_worker_to_small_ones),
        TEST(a_single_worker_takes_huge_files_too),
        TEST(a_stopped_service_lets_go_of_those_who_wait),
        TEST(who_waits_hears_at_once_of_jobs_that_will_never_begin),
        TEST(waiting_ends_with_its_time),
        TEST(only_so_many_wait_for_uploads),
        TEST(a_deleted_run_leaves_no_file),
        TEST(a_refused_upload_leaves_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
