// SPDX-License-Identifier: Apache-2.0
// Jobs from end to end: an accepted file becomes a report, also across restarts.
// labels: threads
#include "server/intake.h"
#include "tests/unit/folder.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <uv.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <sys/stat.h>

enum { WAIT_MS = 60000 }; // a bound for broken builds; a good one never waits that long

static const char good_trace[] =
    "{\"traceEvents\":["
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,"
    "\"ts\":90,\"dur\":5,\"args\":{\"correlation\":1}},"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":100,\"dur\":50,"
    "\"args\":{\"correlation\":1,\"device\":0,\"stream\":7}}]}";

struct service {
    char folder[64];
    struct intake intake;
    uv_loop_t loop;
    uv_async_t stop;
    pthread_t thread;
    struct arena arena;
    struct err err;
};

static void check(const struct service *s, bool ok)
{
    if (!ok)
        fail_msg("%s", s->err.msg);
}

static void stop_jobs(uv_async_t *async)
{
    struct service *s = async->data;
    uv_close((uv_handle_t *)&s->stop, NULL);
    jobs_stop(s->intake.jobs, 0);
}

static void *run_loop(void *ctx)
{
    struct service *s = ctx;
    uv_run(&s->loop, UV_RUN_DEFAULT);
    return NULL;
}

static void open_store(struct service *s)
{
    char path[96];
    snprintf(path, sizeof path, "%s/db", s->folder);
    s->intake.blobs = blob_open(s->folder, &s->err);
    check(s, s->intake.blobs != NULL);
    s->intake.store = store_open(path, &s->err);
    check(s, s->intake.store != NULL);
}

static void start_jobs(struct service *s, unsigned workers)
{
    struct jobs_config config = {
        .store = s->intake.store, .blobs = s->intake.blobs, .workers = workers};
    assert_int_equal(uv_loop_init(&s->loop), 0);
    uv_async_init(&s->loop, &s->stop, stop_jobs);
    s->stop.data = s;
    s->intake.jobs = jobs_open(&s->loop, &config, &s->err);
    check(s, s->intake.jobs != NULL);
    assert_int_equal(pthread_create(&s->thread, NULL, run_loop, s), 0);
}

static void stop_loop(struct service *s)
{
    uv_async_send(&s->stop);
    pthread_join(s->thread, NULL);
}

static void close_jobs(struct service *s)
{
    jobs_close(s->intake.jobs);
    s->intake.jobs = NULL;
    assert_int_equal(uv_loop_close(&s->loop), 0);
}

static void end_jobs(struct service *s)
{
    stop_loop(s);
    close_jobs(s);
}

static void close_store(struct service *s)
{
    store_close(s->intake.store);
    blob_close(s->intake.blobs);
}

static int set_up(void **state)
{
    struct service *s = calloc(1, sizeof *s);
    snprintf(s->folder, sizeof s->folder, "/tmp/test_jobs.XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    arena_init(&s->arena, NULL);
    open_store(s);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct service *s = *state;
    close_store(s);
    folder_remove(s->folder);
    arena_free(&s->arena);
    free(s);
    return 0;
}

static bool try_take(struct service *s, const char *content, struct intake_part part,
                     struct upload *upload)
{
    part.spool = blob_spool_open(s->intake.blobs, 0, &s->err);
    check(s, part.spool && blob_spool_write(part.spool, content, strlen(content), &s->err) &&
                 blob_spool_seal(part.spool, &s->err));
    struct intake_request request = {
        .run = {.name = STR("r"), .world_size = STORE_ANY}, .parts = &part, .count = 1};
    bool ok = intake_accept(&s->intake, &request, &s->arena, upload, &s->err);
    blob_spool_close(part.spool);
    return ok;
}

static struct upload take(struct service *s, const char *content, const char *filename)
{
    struct upload upload;
    struct intake_part part = {.filename = str_of(filename), .rank = STORE_NO_RANK};
    check(s, try_take(s, content, part, &upload));
    return upload;
}

static struct trace_row trace_of(struct service *s, const struct upload *upload)
{
    struct upload found;
    check(s, store_find_upload(s->intake.store, upload->id, &s->arena, &found, &s->err));
    return found.traces[0];
}

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
    assert_int_equal(table_cell(kernels, 0, "total_ns")->i, 50000);
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
    check(s, blob_remove(s->intake.blobs, upload.traces[0].sha256.at, &s->err));
    check(s, store_reanalyse_run(s->intake.store, upload.run_id, &s->err));
    assert_int_equal(trace_of(s, &upload).state, TRACE_QUEUED);
    jobs_wake(s->intake.jobs);
    assert_true(jobs_wait_upload(s->intake.jobs, upload.id, WAIT_MS));
    assert_int_equal(trace_of(s, &upload).state, TRACE_DONE);
    end_jobs(s);
}

// As if the file had so many bytes.
static void say_bytes(struct service *s, struct str trace_id, int64_t bytes)
{
    char path[96];
    sqlite3 *db;
    sqlite3_stmt *stmt;
    snprintf(path, sizeof path, "%s/db", s->folder);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    const char *sql = "UPDATE trace SET bytes = ? WHERE id = ?";
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    sqlite3_bind_int64(stmt, 1, bytes);
    sqlite3_bind_text(stmt, 2, trace_id.at, (int)trace_id.len, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

// Takes a huge file whose reader waits until write_pipe.
static struct upload take_pipe(struct service *s, const char *content, const char *filename)
{
    char path[BLOB_PATH_SIZE];
    struct upload upload = take(s, content, filename);
    say_bytes(s, upload.traces[0].id, STORE_SMALL_BYTES + 1);
    blob_path(s->intake.blobs, upload.traces[0].sha256.at, path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    return upload;
}

static void write_pipe(struct service *s, const struct upload *upload)
{
    char path[BLOB_PATH_SIZE];
    blob_path(s->intake.blobs, upload->traces[0].sha256.at, path);
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
    start_jobs(s, 0); // nobody works
    struct waiter waiter = {s, take(s, good_trace, "x.json"), true};
    assert_int_equal(pthread_create(&thread, NULL, wait_for_upload, &waiter), 0);
    stop_loop(s);
    pthread_join(thread, NULL);
    assert_false(waiter.done);
    close_jobs(s);
    start_jobs(s, 1); // what was accepted is done by the next one
    assert_true(jobs_wait_upload(s->intake.jobs, waiter.upload.id, WAIT_MS));
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
    check(s, try_take(s, "[1]", part, &upload));
    assert_false(try_take(s, "[2]", part, &upload));
    assert_int_equal(s->err.code, ERR_CONFLICT);
    assert_int_equal(folder_count_all(s->folder, "blobs"), 1);
    check(s, try_take(s, "[1]", part, &upload)); // the file of the first is still there
    assert_true(upload.all_existing);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_accepted_file_becomes_a_report),
        TEST(a_file_that_is_no_trace_fails_with_a_reason),
        TEST(what_was_accepted_before_a_crash_is_done_after_it),
        TEST(reanalysis_needs_the_kept_trace_only),
        TEST(huge_files_leave_a_worker_to_small_ones),
        TEST(a_single_worker_takes_huge_files_too),
        TEST(a_stopped_service_lets_go_of_those_who_wait),
        TEST(waiting_ends_with_its_time),
        TEST(a_deleted_run_leaves_no_file),
        TEST(a_refused_upload_leaves_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
