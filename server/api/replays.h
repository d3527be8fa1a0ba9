// SPDX-License-Identifier: Apache-2.0
// The runs that were asked about last, ready to be replayed with other changes: reading their
// traces takes far longer than an answer.
#ifndef SERVER_REPLAYS_H
#define SERVER_REPLAYS_H

#include "analysis/replay/whatif_job.h"

struct replays;

// Keeps jobs of together at most a quarter of the memory that an analysis may use (0: any). NULL
// without memory.
struct replays *replays_open(uint64_t job_memory_bytes, struct err *err);
void replays_close(struct replays *replays);

// Which ranks of which state of a run.
struct replay_key {
    struct str run_id;
    int64_t revision;
    int64_t rank; // -1: all
};

// Fills a job that is opened for that many ranks.
struct replay_source {
    struct replay_key key;
    uint32_t ranks;
    bool (*fill)(void *context, struct whatif_job *job, struct budget *budget, struct err *err);
    void *context;
};

// The job, for the caller alone. One job is read at a time, and a few are asked. A few callers wait
// for their turn, some seconds: ERR_BUSY for all others. ERR_LIMIT if the job takes more memory
// than all may. Pair with replays_leave when not NULL.
MUST_CHECK const struct whatif_job *
replays_enter(struct replays *replays, const struct replay_source *source, struct err *err);
void replays_leave(struct replays *replays, const struct whatif_job *job);

// After an answer failed with ERR_LIMIT: whether it lacked memory, and jobs that nobody asks now
// made room, so that it is worth another try.
bool replays_make_room(struct replays *replays);

#endif
