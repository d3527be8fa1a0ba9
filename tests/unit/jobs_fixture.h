// SPDX-License-Identifier: Apache-2.0
// Jobs in a temporary folder with their own loop, and helpers to give them files.
#ifndef TESTS_UNIT_JOBS_FIXTURE_H
#define TESTS_UNIT_JOBS_FIXTURE_H

#include "server/care/intake.h"
#include "tests/unit/folder.h"
#include "tests/unit/ready_store.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <uv.h>

#include <cmocka.h>

enum { WAIT_MS = 60000 }; // for broken builds only; a good one never waits that long

static const char good_trace[] =
    "{\"traceEvents\":["
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,"
    "\"ts\":90,\"dur\":5,\"args\":{\"correlation\":1}},"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":100,\"dur\":50,"
    "\"args\":{\"correlation\":1,\"device\":0,\"stream\":7}}]}";

struct service {
    char folder[64];
    struct intake intake;
    struct jobs_config config; // used by start_jobs, besides the store
    uv_loop_t loop;
    uv_async_t stop;
    pthread_t thread;
    struct arena arena;
    struct err err;
};

static inline void check(const struct service *s, bool ok)
{
    if (!ok)
        fail_msg("%s", s->err.msg);
}

static inline void stop_jobs(uv_async_t *async)
{
    struct service *s = async->data;
    uv_close((uv_handle_t *)&s->stop, NULL);
    jobs_stop(s->intake.jobs, 0);
}

static inline void *run_loop(void *ctx)
{
    struct service *s = ctx;
    uv_run(&s->loop, UV_RUN_DEFAULT);
    return NULL;
}

static inline void open_store(struct service *s)
{
    char path[96];
    snprintf(path, sizeof path, "%s/db", s->folder);
    s->intake.blobs = blob_open(s->folder, &s->err);
    check(s, s->intake.blobs != NULL);
    s->intake.store = ready_store_open(path, &s->err);
    check(s, s->intake.store != NULL);
}

static inline void start_jobs(struct service *s, unsigned workers)
{
    struct jobs_config config = s->config;
    config.store = s->intake.store;
    config.blobs = s->intake.blobs;
    config.workers = workers;
    assert_int_equal(uv_loop_init(&s->loop), 0);
    uv_async_init(&s->loop, &s->stop, stop_jobs);
    s->stop.data = s;
    s->intake.jobs = jobs_open(&s->loop, &config, &s->err);
    check(s, s->intake.jobs != NULL);
    assert_int_equal(pthread_create(&s->thread, NULL, run_loop, s), 0);
}

static inline void stop_loop(struct service *s)
{
    uv_async_send(&s->stop);
    pthread_join(s->thread, NULL);
}

static inline void close_jobs(struct service *s)
{
    jobs_close(s->intake.jobs);
    s->intake.jobs = NULL;
    assert_int_equal(uv_loop_close(&s->loop), 0);
}

static inline void end_jobs(struct service *s)
{
    stop_loop(s);
    close_jobs(s);
}

static inline void close_store(struct service *s)
{
    store_close(s->intake.store);
    blob_close(s->intake.blobs);
}

static inline int set_up(void **state)
{
    struct service *s = calloc(1, sizeof *s);
    snprintf(s->folder, sizeof s->folder, "/tmp/test_jobs.XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    arena_init(&s->arena, NULL);
    open_store(s);
    *state = s;
    return 0;
}

static inline int tear_down(void **state)
{
    struct service *s = *state;
    close_store(s);
    folder_remove(s->folder);
    arena_free(&s->arena);
    free(s);
    return 0;
}

static inline bool try_take(struct service *s, const char *run, const char *content,
                            struct intake_part part, struct upload *upload)
{
    part.spool = blob_spool_open(s->intake.blobs, 0, &s->err);
    check(s, part.spool && blob_spool_write(part.spool, content, strlen(content), &s->err) &&
                 blob_spool_seal(part.spool, &s->err));
    struct intake_request request = {
        .run = {.name = str_of(run), .world_size = STORE_ANY}, .parts = &part, .count = 1};
    bool ok = intake_accept(&s->intake, &request, &s->arena, upload, &s->err);
    blob_spool_close(part.spool);
    return ok;
}

// Uploads a file to a run.
static inline struct upload take_as(struct service *s, const char *run, const char *content,
                                    const char *filename)
{
    struct upload upload;
    struct intake_part part = {.filename = str_of(filename), .rank = STORE_NO_RANK};
    check(s, try_take(s, run, content, part, &upload));
    return upload;
}

static inline struct upload take(struct service *s, const char *content, const char *filename)
{
    return take_as(s, "r", content, filename);
}

static inline struct trace_row trace_of(struct service *s, const struct upload *upload)
{
    struct upload found;
    check(s, store_find_upload(s->intake.store, upload->id, &s->arena, &found, &s->err));
    return found.traces[0];
}

#endif
