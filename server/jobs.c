// SPDX-License-Identifier: Apache-2.0
// Takes jobs from the store's queue, runs them on libuv's pool and writes what they found.
#include "server/jobs.h"

#include "server/pipeline.h"
#include "server/store_tracking.h"

#include "ingest/base/log.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <uv.h>

enum { RETRY_MS = 2000 }; // after the queue could not be read or written

// One job at work. The loop's thread owns it; a pool thread runs it.
struct work {
    uv_work_t request;
    struct jobs *jobs;
    struct work *next;
    struct arena arena; // of job
    struct job job;
    struct progress progress;
};

struct jobs {
    struct jobs_config config;
    struct cores cores; // each job at work holds one; the others may help any of them
    uv_loop_t *loop;
    uv_async_t wake;
    uv_timer_t timer; // to try again; once stopping: to cancel

    pthread_mutex_t lock; // guards what follows; work->job and arena never change while listed
    pthread_cond_t changed;
    struct work *working;
    unsigned count;      // of working
    uint64_t generation; // counts ended jobs
    bool stopping;
};

// --- one job, on a pool thread ------------------------------------------------------------------

static bool run_trace_job(struct work *work, struct arena *arena, struct err *err)
{
    struct jobs *jobs = work->jobs;
    char input_path[BLOB_PATH_SIZE], trace_path[BLOB_PATH_SIZE];
    blob_path(jobs->config.blobs, work->job.sha256.at, input_path);
    blob_trace_path(jobs->config.blobs, work->job.trace_id.at, trace_path);
    struct pipeline_job job = {
        .input_path = input_path,
        .trace_path = trace_path,
        .options = {.step_pattern = work->job.step_pattern.len ? work->job.step_pattern.at : NULL,
                    .warmup_steps = (int)work->job.warmup_steps,
                    .peaks = jobs->config.peaks,
                    .cores = &jobs->cores},
        .progress = &work->progress,
    };
    struct report report = {.arena = arena};
    struct pipeline_result found;
    if (!pipeline_trace(&job, &report, &found, err))
        return false;
    struct trace_result result = {
        .report = &report,
        .rank = found.identity.rank,
        .world_size = found.identity.world_size,
        .events = found.events,
        .text_bytes = found.text_bytes,
        .parse_ns = found.parse_ns,
        .analyse_ns = found.analyse_ns,
    };
    return store_finish_trace(jobs->config.store, &work->job, &result, err);
}

// The ranks of a run job, which are loaded as they are needed.
struct rank_tables {
    struct work *work;
    struct rank_trace *traces;
};

static bool load_rank(void *context, size_t index, const struct table_desc *const *known,
                      struct report *report, struct err *err)
{
    const struct rank_tables *tables = context;
    if (tables->work->progress.cancel)
        return err_set(err, ERR_CANCELLED, "cancelled while the ranks were joined");
    return store_load_trace_tables(tables->work->jobs->config.store, tables->traces[index].trace_id,
                                   known, report, err);
}

static bool run_run_job(struct work *work, struct arena *arena, struct err *err)
{
    struct store *store = work->jobs->config.store;
    struct rank_tables tables = {.work = work};
    struct rank_source source = {
        .context = &tables, .load = load_rank, .cores = &work->jobs->cores};
    if (!store_done_ranks(store, work->job.run_id, arena, &tables.traces, &source.count, err))
        return false;
    int64_t *ranks = arena_array(arena, source.count + 1, sizeof *ranks, err);
    for (size_t i = 0; ranks && i < source.count; i++)
        ranks[i] = tables.traces[i].rank;
    source.ranks = ranks;
    struct report report = {.arena = arena};
    return ranks && pipeline_run(&source, &report, err) &&
           store_finish_run(store, &work->job, &report, err);
}

// What a run that ended means for its series. It is done though this fails; then the next one that
// ends, or a look at the series, catches up.
static void judge_series(const struct work *work)
{
    struct err err = {.pos = ERR_NO_POS};
    if (work->job.kind == JOB_RUN && !store_judge_series(work->jobs->config.store, &err))
        log_warn("series of %s: %s", work->job.run_id.at, err.msg);
}

static bool is_stopping(struct jobs *jobs)
{
    pthread_mutex_lock(&jobs->lock);
    bool stopping = jobs->stopping;
    pthread_mutex_unlock(&jobs->lock);
    return stopping;
}

static struct timespec deadline_in(uint64_t ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += (time_t)(ms / 1000);
    at.tv_nsec += (long)(ms % 1000) * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_nsec -= 1000000000;
        at.tv_sec++;
    }
    return at;
}

// False at once when the service stops.
static bool wait_to_retry(struct jobs *jobs)
{
    struct timespec deadline = deadline_in(RETRY_MS);
    int rc = 0;
    pthread_mutex_lock(&jobs->lock);
    while (!jobs->stopping && rc == 0)
        rc = pthread_cond_timedwait(&jobs->changed, &jobs->lock, &deadline);
    bool stopping = jobs->stopping;
    pthread_mutex_unlock(&jobs->lock);
    return !stopping;
}

// Cancelled jobs wait for the next start, others say why they ended. On a full disk this is tried
// until there is room: a job that stays marked as running would run never again.
static bool write_end(struct work *work, const struct err *why, const char *reason, struct err *err)
{
    struct store *store = work->jobs->config.store;
    do {
        bool requeues = why->code == ERR_CANCELLED && is_stopping(work->jobs);
        if (requeues ? store_requeue_job(store, &work->job, err)
                     : store_fail_job(store, &work->job, reason, err))
            return true;
    } while ((err->code == ERR_SPACE || err->code == ERR_IO) && wait_to_retry(work->jobs));
    return false;
}

// A job did not end well.
static void settle(struct work *work, const struct err *why)
{
    const struct job *job = &work->job;
    struct err err = {0};
    char reason[sizeof why->msg + 32];
    if (why->pos == ERR_NO_POS)
        snprintf(reason, sizeof reason, "%s", why->msg);
    else
        snprintf(reason, sizeof reason, "%s (byte %llu)", why->msg, (unsigned long long)why->pos);
    if (write_end(work, why, reason, &err))
        log_info("job %lld of %s: %s", (long long)job->id, job->run_id.at, reason);
    else if (err.code != ERR_NOT_FOUND)
        log_error("job %lld of %s: %s; and then: %s", (long long)job->id, job->run_id.at, reason,
                  err.msg);
    else if (job->kind == JOB_TRACE &&
             !blob_remove_trace(work->jobs->config.blobs, job->trace_id.at, &err))
        log_warn("a deleted trace's file remains: %s", err.msg);
}

static void run_job(uv_work_t *request)
{
    struct work *work = request->data;
    struct budget budget = {.limit = work->jobs->config.memory_bytes};
    struct arena arena;
    struct err err = {.pos = ERR_NO_POS};
    arena_init(&arena, &budget);
    cores_hold(&work->jobs->cores);
    bool ok = work->job.kind == JOB_TRACE ? run_trace_job(work, &arena, &err)
                                          : run_run_job(work, &arena, &err);
    arena_free(&arena);
    cores_release(&work->jobs->cores);
    if (!ok)
        settle(work, &err);
    judge_series(work);
}

// --- dispatch, on the loop's thread -------------------------------------------------------------

// Huge files leave a worker to the small ones, which would wait for minutes else. It costs little:
// cores that no job uses help the huge file's.
static bool may_take_huge(const struct jobs *jobs)
{
    unsigned huge = 0;
    for (const struct work *work = jobs->working; work; work = work->next)
        huge += work->job.bytes > STORE_SMALL_BYTES;
    return huge == 0 || huge + 1 < jobs->config.workers;
}

static bool claim(struct jobs *jobs, struct work *work, bool *found, struct err *err)
{
    struct store *store = jobs->config.store;
    return may_take_huge(jobs) ? store_claim_job(store, &work->arena, &work->job, found, err)
                               : store_claim_small_job(store, &work->arena, &work->job, found, err);
}

static void dispatch(struct jobs *jobs);

static void free_work(struct work *work)
{
    arena_free(&work->arena);
    free(work);
}

static void unlist(struct jobs *jobs, const struct work *work)
{
    pthread_mutex_lock(&jobs->lock);
    struct work **at = &jobs->working;
    while (*at != work)
        at = &(*at)->next;
    *at = work->next;
    jobs->count--;
    jobs->generation++;
    pthread_cond_broadcast(&jobs->changed);
    pthread_mutex_unlock(&jobs->lock);
}

static void close_handles(struct jobs *jobs)
{
    uv_close((uv_handle_t *)&jobs->wake, NULL);
    uv_close((uv_handle_t *)&jobs->timer, NULL);
}

static void job_ended(uv_work_t *request, int status)
{
    (void)status; // nobody cancels a request: a dispatched job always runs
    struct work *work = request->data;
    struct jobs *jobs = work->jobs;
    unlist(jobs, work);
    free_work(work);
    if (!is_stopping(jobs))
        dispatch(jobs);
    else if (!jobs->working)
        close_handles(jobs);
}

static void enlist(struct jobs *jobs, struct work *work)
{
    pthread_mutex_lock(&jobs->lock);
    work->next = jobs->working;
    jobs->working = work;
    jobs->count++;
    pthread_mutex_unlock(&jobs->lock);
}

static void retry(uv_timer_t *timer)
{
    dispatch(timer->data);
}

// Starts one job. False when there is none, or none can be had now.
static bool start_next(struct jobs *jobs)
{
    struct work *work = calloc(1, sizeof *work);
    struct err err = {0};
    bool found = false;
    if (!work)
        return false;
    work->jobs = jobs;
    work->request.data = work;
    work->progress.cores = &jobs->cores;
    arena_init(&work->arena, NULL);
    if (!claim(jobs, work, &found, &err)) {
        log_error("cannot take a job, will try again: %s", err.msg);
        uv_timer_start(&jobs->timer, retry, RETRY_MS, 0);
        found = false;
    }
    if (!found) {
        free_work(work);
        return false;
    }
    enlist(jobs, work);
    uv_queue_work(jobs->loop, &work->request, run_job, job_ended);
    return true;
}

static void dispatch(struct jobs *jobs)
{
    while (!is_stopping(jobs) && jobs->count < jobs->config.workers && start_next(jobs))
        continue;
}

static void woken(uv_async_t *async)
{
    dispatch(async->data);
}

// --- life ---------------------------------------------------------------------------------------

static struct jobs *new_jobs(uv_loop_t *loop, const struct jobs_config *config, struct err *err)
{
    struct jobs *jobs = calloc(1, sizeof *jobs);
    if (!jobs) {
        err_set(err, ERR_LIMIT, "out of memory");
        return NULL;
    }
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&jobs->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&jobs->lock, NULL);
    jobs->config = *config;
    cores_init(&jobs->cores, uv_available_parallelism());
    jobs->loop = loop;
    jobs->wake.data = jobs->timer.data = jobs;
    return jobs;
}

struct jobs *jobs_open(struct uv_loop_s *loop, const struct jobs_config *config, struct err *err)
{
    if (!store_recover_jobs(config->store, config->crashed, err))
        return NULL;
    struct jobs *jobs = new_jobs(loop, config, err);
    if (!jobs)
        return NULL;
    if (uv_async_init(loop, &jobs->wake, woken) != 0) {
        err_set(err, ERR_INTERNAL, "cannot watch for jobs");
        jobs_close(jobs);
        return NULL;
    }
    uv_timer_init(loop, &jobs->timer);
    dispatch(jobs);
    return jobs;
}

static void cancel_all(uv_timer_t *timer)
{
    struct jobs *jobs = timer->data;
    pthread_mutex_lock(&jobs->lock);
    for (struct work *work = jobs->working; work; work = work->next)
        work->progress.cancel = true;
    pthread_mutex_unlock(&jobs->lock);
}

void jobs_stop(struct jobs *jobs, uint64_t grace_ms)
{
    pthread_mutex_lock(&jobs->lock);
    bool was_stopping = jobs->stopping;
    jobs->stopping = true;
    pthread_cond_broadcast(&jobs->changed);
    pthread_mutex_unlock(&jobs->lock);
    if (was_stopping)
        return;
    if (jobs->working)
        uv_timer_start(&jobs->timer, cancel_all, grace_ms, 0);
    else
        close_handles(jobs);
}

void jobs_close(struct jobs *jobs)
{
    if (!jobs)
        return;
    pthread_mutex_destroy(&jobs->lock);
    pthread_cond_destroy(&jobs->changed);
    free(jobs);
}

// --- from any thread ----------------------------------------------------------------------------

void jobs_wake(struct jobs *jobs)
{
    pthread_mutex_lock(&jobs->lock);
    if (!jobs->stopping) // else the handle may be closed already
        uv_async_send(&jobs->wake);
    pthread_mutex_unlock(&jobs->lock);
}

bool jobs_progress(struct jobs *jobs, struct str trace_id, double *share)
{
    bool found = false;
    pthread_mutex_lock(&jobs->lock);
    for (const struct work *work = jobs->working; work && !found; work = work->next) {
        found = str_equal(work->job.trace_id, trace_id);
        double bytes = work->job.bytes > 0 ? (double)work->job.bytes : 1;
        if (found)
            *share = (double)work->progress.done_bytes / bytes;
    }
    pthread_mutex_unlock(&jobs->lock);
    if (found && *share > 0.99) // the analyses follow; only the store can say that it is done
        *share = 0.99;
    return found;
}

void jobs_cancel_trace(struct jobs *jobs, struct str trace_id)
{
    pthread_mutex_lock(&jobs->lock);
    for (struct work *work = jobs->working; work; work = work->next)
        if (str_equal(work->job.trace_id, trace_id))
            work->progress.cancel = true;
    pthread_mutex_unlock(&jobs->lock);
}

// Waits for a job to end since `seen`; false when the time is over or the service stops.
static bool wait_for_change(struct jobs *jobs, uint64_t seen, const struct timespec *deadline)
{
    int rc = 0;
    pthread_mutex_lock(&jobs->lock);
    while (jobs->generation == seen && !jobs->stopping && rc == 0)
        rc = pthread_cond_timedwait(&jobs->changed, &jobs->lock, deadline);
    bool changed = jobs->generation != seen && !jobs->stopping;
    pthread_mutex_unlock(&jobs->lock);
    return changed;
}

static uint64_t current_generation(struct jobs *jobs)
{
    pthread_mutex_lock(&jobs->lock);
    uint64_t generation = jobs->generation;
    pthread_mutex_unlock(&jobs->lock);
    return generation;
}

bool jobs_wait_upload(struct jobs *jobs, struct str upload_id, uint64_t timeout_ms)
{
    struct timespec deadline = deadline_in(timeout_ms);
    for (;;) {
        uint64_t seen = current_generation(jobs); // before looking, so that no end is missed
        bool open = true;
        struct err err;
        if (!store_upload_open(jobs->config.store, upload_id, &open, &err) || !open)
            return !open;
        if (!wait_for_change(jobs, seen, &deadline))
            return false;
    }
}
