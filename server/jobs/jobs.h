// SPDX-License-Identifier: Apache-2.0
// Runs the store's queue on libuv's thread pool: dispatch, progress, cancellation, recovery. A file
// is read by a process of its own (job_child.h), which a thread of the pool watches; ranks are
// joined by such a thread itself.
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
    struct metrics *metrics;   // NULL: nothing is counted; outlives the jobs
    const struct peaks *peaks; // of devices that the user added, NULL none; outlives the jobs
    uint64_t memory_bytes;     // budget of one job, 0 none
    uint64_t tables_bytes;     // most that the tables of a trace or a run take, 0: any
    uint64_t min_free_bytes;   // disk space of which joining a run leaves half
    struct quota_limits quota; // of whoever has none of their own
    int64_t job_seconds;       // that reading one file may take; 0: as its size lets expect
    unsigned cores;            // of the machine; 0: found out
    uint64_t lease_check_ms;   // how often leases are renewed, 0: well before they end
    bool crashed;              // the process before this one fell over by itself
    unsigned workers;          // jobs at a time; at most the size of libuv's pool
};

// Recovers what an earlier process left and begins to dispatch on the loop. On the loop's thread.
MUST_CHECK struct jobs *jobs_open(struct uv_loop_s *loop, const struct jobs_config *config,
                                  struct err *err);

// Stops dispatching, cancels what works after grace_ms and closes the loop's handles; once the loop
// has run out, jobs_close frees. On the loop's thread. Work that was cut short is queued again.
void jobs_stop(struct jobs *jobs, uint64_t grace_ms);
void jobs_close(struct jobs *jobs); // NULL is allowed

// From any thread:

// There is something new in the queue.
void jobs_wake(struct jobs *jobs);

// How far the job of a trace or an archive is, 0..1. False when it is not working now.
bool jobs_progress(struct jobs *jobs, struct str id, double *share);

// Asks a trace's job to stop if it works now; the trace's row is gone.
void jobs_cancel_trace(struct jobs *jobs, struct str trace_id);

// Ends all of a run's jobs: those that wait, and those that work, with their processes. What is
// queued for the run afterwards is untouched. A job that a worker takes in this very moment ends
// too, but its process works on unheard.
MUST_CHECK bool jobs_cancel_run(struct jobs *jobs, struct str run_id, struct err *err);

// Asks all jobs of a run that work now to stop; their rows are gone.
void jobs_stop_run(struct jobs *jobs, struct str run_id);

// Waits until an upload has nothing left to do, at most timeout_ms; false when that passed first,
// the service stops, or as many wait already as may: each of them holds a thread of the dashboard.
#define JOBS_MAX_WAITING 64
bool jobs_wait_upload(struct jobs *jobs, struct str upload_id, uint64_t timeout_ms);

#endif
