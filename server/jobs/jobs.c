// SPDX-License-Identifier: Apache-2.0
// Takes jobs from the store's queue, runs them on libuv's pool and stores their results.
#include "server/jobs/jobs.h"

#include "server/base/cond.h"
#include "server/base/metrics.h"
#include "server/db/db_notice.h"
#include "server/jobs/job_evidence.h"
#include "server/jobs/job_run.h"
#include "server/jobs/job_unpack.h"
#include "server/store/store_tracking.h"

#include "ingest/base/clock.h"
#include "ingest/base/log.h"

#include <pthread.h>
#include <stdlib.h>
#include <uv.h>

enum {
    RETRY_MS = 2000, // wait after the queue could not be read or written, or a process could not be
                     // started
    LEASE_CHECK_MS = STORE_LEASE_NS / 4000000,
    POLL_MS = 1500, // on a shared store, in case a notice from another service is lost
    MAX_WORKING = 256,
};

// One running job. Owned by the loop's thread; a pool thread runs it.
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
    struct cores cores; // each running job holds one; the others may help any of them
    struct cores_page *cores_page;
    struct job_site site;
    uv_loop_t *loop;
    uv_async_t wake;
    uv_timer_t timer; // to try again; while stopping: to cancel
    uv_timer_t leases, poll;
    struct db_notice *notice; // NULL: no other service shares the store

    pthread_mutex_t lock; // guards the members below; work->job and arena never change while listed
    pthread_cond_t changed;
    struct work *working;
    unsigned count;      // of working
    uint64_t generation; // counts jobs that ended, or will never start
    unsigned waiting;    // in jobs_wait_upload
    bool stopping;
};

// --- one job, on a pool thread ------------------------------------------------------------------

// Updates the judgement of the run's series. Failures are ignored: the next run that ends, or a
// look at the series, catches up.
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

static int64_t deadline_in(uint64_t ms)
{
    return clock_mono_ns() + (int64_t)ms * 1000000;
}

// Returns false at once if the service stops.
static bool wait_to_retry(struct jobs *jobs)
{
    int64_t deadline_ns = deadline_in(RETRY_MS);
    pthread_mutex_lock(&jobs->lock);
    while (!jobs->stopping && cond_wait_until(&jobs->changed, &jobs->lock, deadline_ns))
        ;
    bool stopping = jobs->stopping;
    pthread_mutex_unlock(&jobs->lock);
    return !stopping;
}

// Whether the job waits for the next start or its next turn, rather than having been cancelled.
static bool is_put_back(struct work *work, const struct err *why)
{
    return why->code == ERR_BUSY || (why->code == ERR_CANCELLED && is_stopping(work->jobs));
}

// Interrupted jobs wait for the next start, others record why they ended. On a full disk this is
// retried until there is room: a job that stays marked as running would never run again.
static bool write_end(struct work *work, const struct err *why, const char *reason, struct err *err)
{
    struct store *store = work->jobs->config.store;
    if (why->code == ERR_BUSY) // what was lacking takes a moment to become free
        (void)wait_to_retry(work->jobs);
    do {
        if (is_put_back(work, why) ? store_requeue_job(store, &work->job, err)
                                   : store_fail_job(store, &work->job, reason, err))
            return true;
    } while ((err->code == ERR_SPACE || err->code == ERR_IO) && wait_to_retry(work->jobs));
    return false;
}

// The trace, or its run, was deleted meanwhile: then its file, or the run's, is removed too.
static void drop_trace_file(const struct work *work)
{
    const struct jobs_config *config = &work->jobs->config;
    const struct job *job = &work->job;
    const char *id = job->kind == JOB_RUN ? job->run_id.at : job->trace_id.at;
    struct err err;
    bool named = true;
    if ((job->kind == JOB_TRACE || job->kind == JOB_RUN) &&
        (!store_names_trace(config->store, id, &named, &err) ||
         (!named && !blob_remove_trace(config->blobs, id, &err))))
        log_warn("a deleted trace's file remains: %s", err.msg);
}

static void tell_end(const struct work *work, bool written, const char *reason,
                     const struct err *err)
{
    const struct job *job = &work->job;
    if (written)
        log_info("job %lld of %s: %s", (long long)job->id, job->run_id.at, reason);
    else if (err->code != ERR_NOT_FOUND)
        log_error("job %lld of %s: %s; and then: %s", (long long)job->id, job->run_id.at, reason,
                  err->msg);
    else
        drop_trace_file(work);
}

// Ends a job that failed.
static void settle(struct work *work, const struct err *why)
{
    struct err err = {0};
    char reason[sizeof why->msg + 32];
    if (why->pos == ERR_NO_POS)
        snprintf(reason, sizeof reason, "%s", why->msg);
    else
        snprintf(reason, sizeof reason, "%s (byte %llu)", why->msg, (unsigned long long)why->pos);
    if (why->code == ERR_BUSY)
        wait_to_retry(work->jobs);
    tell_end(work, write_end(work, why, reason, &err), reason, &err);
}

// A job's process died: this file caused it.
static void settle_death(struct work *work, const struct job_death *death)
{
    struct store *store = work->jobs->config.store;
    struct job_strike why = {death->verb, death->detail};
    struct err err = {0};
    char reason[200];
    bool again = true, written;
    metrics_add(work->jobs->config.metrics, METRIC_JOBS_CRASHED, 1);
    snprintf(reason, sizeof reason, "its process %s (%s)", death->verb, death->detail);
    do
        written = store_strike_job(store, &work->job, &why, &again, &err);
    while (!written && (err.code == ERR_SPACE || err.code == ERR_IO) && wait_to_retry(work->jobs));
    tell_end(work, written, reason, &err);
}

static bool do_job(struct work *work, struct job_death *death, struct err *err)
{
    struct jobs *jobs = work->jobs;
    switch (work->job.kind) {
    case JOB_TRACE: return job_trace_run(&jobs->site, &work->job, &work->progress, death, err);
    case JOB_UNPACK: return job_unpack_run(&jobs->site, &work->job, &work->progress, death, err);
    case JOB_EVIDENCE:
        return job_evidence_run(&jobs->site, &work->job, &work->progress, death, err);
    case JOB_RUN: break;
    }
    return job_run_join(&jobs->site, &work->job, &work->progress, death, err);
}

static void count_end(const struct work *work, bool ok, const struct err *err, int64_t took_ns)
{
    struct metrics *metrics = work->jobs->config.metrics;
    static const enum metric_time times[] = {[JOB_TRACE] = METRIC_TIME_TRACE_JOB,
                                             [JOB_RUN] = METRIC_TIME_RUN_JOB,
                                             [JOB_UNPACK] = METRIC_TIME_UNPACK_JOB,
                                             [JOB_EVIDENCE] = METRIC_TIME_EVIDENCE_JOB};
    metrics_time(metrics, times[work->job.kind], took_ns);
    metrics_add(metrics,
                ok                           ? METRIC_JOBS_DONE
                : err->code == ERR_CANCELLED ? METRIC_JOBS_CANCELLED
                                             : METRIC_JOBS_FAILED,
                1);
}

static void run_job(uv_work_t *request)
{
    struct work *work = request->data;
    struct cores *cores = &work->jobs->cores;
    struct job_death death = {0};
    struct err err = {.pos = ERR_NO_POS};
    int64_t begin_ns = clock_mono_ns();
    cores_hold(cores);
    bool ok = do_job(work, &death, &err);
    cores_release(cores);
    if (death.verb)
        settle_death(work, &death);
    else if (!ok)
        settle(work, &err);
    if (!death.verb && err.code != ERR_BUSY)
        count_end(work, ok, &err, clock_mono_ns() - begin_ns);
    judge_series(work);
    const struct jobs_config *config = &work->jobs->config;
    if (work->job.kind == JOB_RUN && config->after_run)
        config->after_run(config->context);
}

// --- dispatch, on the loop's thread -------------------------------------------------------------

// One worker is kept free of huge files, or small ones would wait for minutes. It costs little:
// idle cores help with the huge file.
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
    if (!work)
        return;
    arena_free(&work->arena);
    free(work);
}

// Wakes the waiters. Call it under the lock.
static void tell_change(struct jobs *jobs)
{
    jobs->generation++;
    pthread_cond_broadcast(&jobs->changed);
}

static void unlist(struct jobs *jobs, const struct work *work)
{
    pthread_mutex_lock(&jobs->lock);
    struct work **at = &jobs->working;
    while (*at != work)
        at = &(*at)->next;
    *at = work->next;
    jobs->count--;
    tell_change(jobs);
    pthread_mutex_unlock(&jobs->lock);
}

static void close_handles(struct jobs *jobs)
{
    uv_close((uv_handle_t *)&jobs->wake, NULL);
    uv_close((uv_handle_t *)&jobs->timer, NULL);
    uv_close((uv_handle_t *)&jobs->leases, NULL);
    uv_close((uv_handle_t *)&jobs->poll, NULL);
}

// Processes that died may have left a wrong count; if none is running the count is known.
static void recount_cores(struct jobs *jobs)
{
    if (!jobs->working)
        atomic_store(&jobs->cores_page->free, (int)jobs->config.cores);
}

static void job_ended(uv_work_t *request, int status)
{
    (void)status; // requests are never cancelled: a dispatched job always runs
    struct work *work = request->data;
    struct jobs *jobs = work->jobs;
    unlist(jobs, work);
    free_work(work);
    recount_cores(jobs);
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

static struct work *new_work(struct jobs *jobs)
{
    struct work *work = calloc(1, sizeof *work);
    if (!work)
        return NULL;
    work->jobs = jobs;
    work->request.data = work;
    work->progress.cores = &jobs->cores;
    arena_init(&work->arena, NULL);
    return work;
}

// Starts one job. False if there is none, or none can be taken now.
static bool start_next(struct jobs *jobs)
{
    struct work *work = new_work(jobs);
    struct err err = {.code = ERR_MEMORY, .msg = "out of memory"};
    bool found = false;
    if (!work || !claim(jobs, work, &found, &err)) {
        log_error("cannot take a job, will retry: %s", err.msg);
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

// Cancels jobs that another service ended or took over: their results would be refused.
static void cancel_lost(struct jobs *jobs, const int64_t *ids, size_t count)
{
    size_t i = 0;
    pthread_mutex_lock(&jobs->lock);
    for (struct work *work = jobs->working; work && i < count; work = work->next)
        if (ids[i++] == 0)
            work->progress.cancel = true;
    pthread_mutex_unlock(&jobs->lock);
}

// Renews the leases of running jobs; jobs whose worker is gone go back to the queue.
static void keep_leases(uv_timer_t *timer)
{
    struct jobs *jobs = timer->data;
    int64_t ids[MAX_WORKING];
    size_t count = 0, lost = 0;
    struct err err;
    for (const struct work *work = jobs->working; work && count < MAX_WORKING; work = work->next)
        ids[count++] = work->job.id;
    if (!store_keep_leases(jobs->config.store, ids, count, &lost, &err))
        log_warn("leases of jobs are not renewed: %s", err.msg);
    else
        cancel_lost(jobs, ids, count);
    if (lost)
        log_warn("jobs without a worker: %zu, requeued", lost);
    dispatch(jobs);
}

// --- life ---------------------------------------------------------------------------------------

static struct jobs *new_jobs(uv_loop_t *loop, const struct jobs_config *config, struct err *err)
{
    struct jobs *jobs = calloc(1, sizeof *jobs);
    if (!jobs) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    jobs->config = *config;
    if (!config->cores)
        jobs->config.cores = uv_available_parallelism();
    jobs->cores_page = shared_page_new(&jobs->site.cores_fd, err);
    if (!jobs->cores_page) {
        free(jobs);
        return NULL;
    }
    cores_share(&jobs->cores, &jobs->cores_page->free, NULL);
    recount_cores(jobs);
    jobs->site.config = &jobs->config;
    jobs->site.jobs = jobs;
    jobs->site.cores = &jobs->cores;
    cond_init(&jobs->changed);
    pthread_mutex_init(&jobs->lock, NULL);
    jobs->loop = loop;
    jobs->wake.data = jobs->timer.data = jobs->leases.data = jobs->poll.data = jobs;
    return jobs;
}

static void wake_here(void *context)
{
    struct jobs *jobs = context;
    pthread_mutex_lock(&jobs->lock);
    if (!jobs->stopping) // otherwise the handle may be closed already
        uv_async_send(&jobs->wake);
    pthread_mutex_unlock(&jobs->lock);
}

// Without it jobs are found a little later.
static void open_notice(struct jobs *jobs)
{
    struct err err;
    const char *place = jobs->config.place;
    jobs->notice = place ? db_notice_open(place, wake_here, jobs, &err) : NULL;
    if (place && !jobs->notice)
        log_warn("not listening to other services: %s", err.msg);
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
    uint64_t check_ms = config->lease_check_ms ? config->lease_check_ms : LEASE_CHECK_MS;
    uv_timer_init(loop, &jobs->timer);
    uv_timer_init(loop, &jobs->leases);
    uv_timer_start(&jobs->leases, keep_leases, check_ms, check_ms);
    uv_timer_init(loop, &jobs->poll);
    if (store_is_shared(config->store) && config->workers)
        uv_timer_start(&jobs->poll, retry, POLL_MS, POLL_MS);
    open_notice(jobs);
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
    db_notice_close(jobs->notice);
    pthread_mutex_destroy(&jobs->lock);
    pthread_cond_destroy(&jobs->changed);
    shared_page_close(jobs->cores_page, jobs->site.cores_fd);
    free(jobs);
}

// --- from any thread ----------------------------------------------------------------------------

void jobs_wake(struct jobs *jobs)
{
    wake_here(jobs);
    db_notice_tell(jobs->notice);
}

bool jobs_progress(struct jobs *jobs, struct str id, double *share)
{
    bool found = false;
    pthread_mutex_lock(&jobs->lock);
    for (const struct work *work = jobs->working; work && !found; work = work->next) {
        found = str_equal(work->job.trace_id, id) || str_equal(work->job.input_id, id);
        double bytes = work->job.bytes > 0 ? (double)work->job.bytes : 1;
        if (found)
            *share = (double)work->progress.done_bytes / bytes;
    }
    pthread_mutex_unlock(&jobs->lock);
    if (found && *share > 0.99) // analysis follows; only the store knows when it is done
        *share = 0.99;
    return found;
}

void jobs_cancel_trace(struct jobs *jobs, struct str trace_id)
{
    pthread_mutex_lock(&jobs->lock);
    for (struct work *work = jobs->working; work; work = work->next)
        if (str_equal(work->job.trace_id, trace_id))
            work->progress.cancel = true;
    tell_change(jobs); // its job may still have been queued
    pthread_mutex_unlock(&jobs->lock);
}

// The running jobs of a run.
static size_t list_work(struct jobs *jobs, struct str run_id, int64_t ids[MAX_WORKING])
{
    size_t count = 0;
    pthread_mutex_lock(&jobs->lock);
    for (const struct work *work = jobs->working; work && count < MAX_WORKING; work = work->next)
        if (str_equal(work->job.run_id, run_id))
            ids[count++] = work->job.id;
    pthread_mutex_unlock(&jobs->lock);
    return count;
}

static bool is_listed(const int64_t *ids, size_t count, int64_t id)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

static void cancel_work(struct jobs *jobs, const int64_t *ids, size_t count)
{
    pthread_mutex_lock(&jobs->lock);
    for (struct work *work = jobs->working; work; work = work->next)
        if (is_listed(ids, count, work->job.id))
            work->progress.cancel = true;
    tell_change(jobs); // queued jobs ended, too
    pthread_mutex_unlock(&jobs->lock);
}

bool jobs_cancel_run(struct jobs *jobs, struct str run_id, struct err *err)
{
    // Listed before the store ends them: a job queued for the run after that is a different one,
    // which may be running by the time the processes are ended.
    int64_t ids[MAX_WORKING];
    size_t count = list_work(jobs, run_id, ids);
    if (!store_cancel_run(jobs->config.store, run_id, err))
        return false;
    cancel_work(jobs, ids, count);
    return true;
}

void jobs_stop_run(struct jobs *jobs, struct str run_id)
{
    int64_t ids[MAX_WORKING];
    cancel_work(jobs, ids, list_work(jobs, run_id, ids));
}

// Waits for a job to end since `seen`; false on timeout or if the service stops.
static bool wait_for_change(struct jobs *jobs, uint64_t seen, int64_t deadline_ns)
{
    pthread_mutex_lock(&jobs->lock);
    while (jobs->generation == seen && !jobs->stopping &&
           cond_wait_until(&jobs->changed, &jobs->lock, deadline_ns))
        ;
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

static bool begin_waiting(struct jobs *jobs)
{
    pthread_mutex_lock(&jobs->lock);
    bool has_room = jobs->waiting < JOBS_MAX_WAITING;
    jobs->waiting += has_room;
    pthread_mutex_unlock(&jobs->lock);
    return has_room;
}

static void end_waiting(struct jobs *jobs)
{
    pthread_mutex_lock(&jobs->lock);
    jobs->waiting--;
    pthread_mutex_unlock(&jobs->lock);
}

// Its jobs may end in other services, too, which do not tell.
static bool wait_upload(struct jobs *jobs, struct str upload_id, uint64_t timeout_ms)
{
    bool asks = store_is_shared(jobs->config.store);
    int64_t deadline_ns = deadline_in(timeout_ms);
    for (;;) {
        uint64_t seen = current_generation(jobs); // before the check, so that no end is missed
        bool open = true;
        struct err err;
        if (!store_upload_open(jobs->config.store, upload_id, &open, &err) || !open)
            return !open;
        int64_t soon_ns = deadline_in(POLL_MS);
        bool polls = asks && clock_mono_ns() < deadline_ns;
        if (!wait_for_change(jobs, seen, polls ? soon_ns : deadline_ns) &&
            (!asks || is_stopping(jobs) || clock_mono_ns() >= deadline_ns))
            return false;
    }
}

bool jobs_wait_upload(struct jobs *jobs, struct str upload_id, uint64_t timeout_ms)
{
    if (!begin_waiting(jobs))
        return false;
    bool settled = wait_upload(jobs, upload_id, timeout_ms);
    end_waiting(jobs);
    return settled;
}
