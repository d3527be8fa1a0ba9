// SPDX-License-Identifier: Apache-2.0
// Runs the store's queue on libuv's thread pool: dispatch, progress, cancellation, recovery. A
// separate process reads each file (job_child.h), watched by a pool thread; small joins of ranks
// run on such a thread directly.
#ifndef SERVER_JOBS_H
#define SERVER_JOBS_H

#include "server/base/principal.h"
#include "server/files/blob.h"
#include "server/store/store.h"

struct jobs;
struct metrics;
struct uv_loop_s;

struct jobs_config {
    struct store *store;
    struct blobs *blobs;
    struct metrics *metrics;   // NULL: nothing is counted; must outlive the jobs
    const struct peaks *peaks; // of devices that the user added, NULL none; must outlive the jobs
    uint64_t memory_bytes;     // budget of one job, 0 none
    uint64_t tables_bytes;     // most that the tables of a trace or a run take, 0: any
    uint64_t min_free_bytes;   // free disk space, of which joining a run leaves half
    struct quota_limits quota; // of whoever has none of their own
    int64_t job_seconds;       // time limit for reading one file; 0: from its size
    unsigned cores;            // of the machine; 0: detected
    uint64_t lease_check_ms;   // how often leases are renewed, 0: well before they end
    bool crashed;              // the previous process crashed by itself
    unsigned workers;          // jobs at a time; at most the size of libuv's pool
    const char *place;         // of the store, if other services share it: they hear of new jobs
    void (*after_run)(void *context); // NULL, or called from a pool thread: a run was analyzed
    void *context;
};

// Recovers jobs left by an earlier process and starts dispatching on the loop. Call it on the
// loop's thread.
MUST_CHECK struct jobs *jobs_open(struct uv_loop_s *loop, const struct jobs_config *config,
                                  struct err *err);

// Stops dispatching, cancels running jobs after grace_ms and closes the loop's handles; once the
// loop has ended, call jobs_close to free. Call it on the loop's thread. Interrupted jobs are
// queued again.
void jobs_stop(struct jobs *jobs, uint64_t grace_ms);
void jobs_close(struct jobs *jobs); // NULL is allowed

// From any thread:

// Something new was queued.
void jobs_wake(struct jobs *jobs);

// How far the job of a trace or an archive is, 0..1. False when it is not working now.
bool jobs_progress(struct jobs *jobs, struct str id, double *share);

// Asks a trace's job to stop if it is running; the trace's row is gone.
void jobs_cancel_trace(struct jobs *jobs, struct str trace_id);

// Ends all jobs of a run: queued ones, and running ones with their processes. Jobs queued for the
// run afterwards are untouched. A job that a worker takes at this very moment ends too, but its
// process runs on and its result is ignored.
MUST_CHECK bool jobs_cancel_run(struct jobs *jobs, struct str run_id, struct err *err);

// Asks all running jobs of a run to stop; their rows are gone.
void jobs_stop_run(struct jobs *jobs, struct str run_id);

// Waits until all jobs of an upload have ended, at most timeout_ms; false on timeout, if the
// service stops, or if the maximum number of callers is already waiting: each of them holds a
// thread of the dashboard.
#define JOBS_MAX_WAITING 64
bool jobs_wait_upload(struct jobs *jobs, struct str upload_id, uint64_t timeout_ms);

#endif
