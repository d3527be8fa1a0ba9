// SPDX-License-Identifier: Apache-2.0
// A simulated job of many ranks, call by call, with the truth next to what each rank records:
// clocks, waits, who was late. For tests and benchmarks of runs.
#ifndef TESTS_UNIT_COMM_JOB_H
#define TESTS_UNIT_COMM_JOB_H

#include "analysis/report/row.h"
#include "analysis/ranks/run_comm.h"
#include "analysis/report/tables.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define JOB_EPOCH_NS 1700000000000000000

enum job_straggler { JOB_NONE, JOB_SLOWER, JOB_MORE_WORK, JOB_DATA, JOB_HOST, JOB_COPIES };

// Ranks are numbered tensor first, then data, then pipeline.
struct job_shape {
    int tensor, data, pipeline;
    int steps, layers; // a layer is compute and an all_reduce over the tensor group
    int buckets;       // all_reduces over the data group at the end of a step
    int64_t skew_ns;   // clocks are off by up to this
    int64_t jitter_ns; // of recorded ends
    enum job_straggler cause;
    int straggler; // rank
    bool numbered; // calls have sequence numbers
    bool listed;   // groups have lists of ranks
    bool by_id;    // identified by Comms Ids only: groups have one name and no lists
    bool world;    // one more all_reduce over all ranks per step
    bool beside;   // the straggler's tensor calls start after some of the following compute
    int marked;    // rank whose steps have other marks and count from one lower; 0: none
};

struct job_call {
    int64_t begin_ns, end_ns; // true time
    int64_t recorded_end_ns;  // true time and jitter
    int64_t wait_ns;          // truth
    int64_t before_ns[BEFORE_COUNT];
    int64_t kernels, sequence, comms_id;
    int32_t op, step;
    bool dropped;
};

struct job_rank {
    int64_t now_ns, skew_ns;
    int64_t before_ns[BEFORE_COUNT];
    int64_t kernels;
    struct job_call *calls;
    int count, cap;
    int sequences[3];
};

struct job {
    struct job_shape shape;
    struct job_rank *ranks;
    int count;
    uint64_t random;
    int64_t total_wait_ns, total_transfer_ns; // of calls that were not dropped
};

// Operations of a rank: all_reduce over the tensor, data and world group, send forward, recv.
enum job_op { JOB_TENSOR, JOB_GRADIENTS, JOB_WORLD, JOB_SEND, JOB_RECV, JOB_OPS };

static inline uint64_t job_random(struct job *job)
{
    uint64_t z = job->random += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static inline int64_t job_between(struct job *job, int64_t low, int64_t high)
{
    return low + (int64_t)(job_random(job) % (uint64_t)(high - low + 1));
}

static inline void job_spend(struct job_rank *rank, enum comm_before what, int64_t ns)
{
    rank->before_ns[what] += ns;
    rank->now_ns += ns;
}

// Which group of its operation a rank is in.
static inline int job_group(const struct job_shape *shape, int r, enum job_op op)
{
    int width = shape->tensor * shape->data, stage = r / width;
    if (op == JOB_TENSOR)
        return stage * shape->data + r % width / shape->tensor;
    return op == JOB_GRADIENTS ? stage * shape->tensor + r % shape->tensor : 0;
}

static inline struct job_call *job_call(struct job *job, int r, enum job_op op, int step,
                                        int64_t end_ns)
{
    struct job_rank *rank = &job->ranks[r];
    if (rank->count == rank->cap) {
        rank->cap = rank->cap ? 2 * rank->cap : 64;
        rank->calls = realloc(rank->calls, (size_t)rank->cap * sizeof *rank->calls);
        assert(rank->calls);
    }
    struct job_call *call = &rank->calls[rank->count++];
    *call = (struct job_call){.begin_ns = rank->now_ns, .end_ns = end_ns, .op = op, .step = step};
    call->kernels = rank->kernels;
    if (job->shape.beside && r == job->shape.straggler && op == JOB_TENSOR)
        call->kernels += 2 * (rank->sequences[op] % 4);
    call->sequence = op <= JOB_WORLD ? rank->sequences[op]++ : -1;
    int64_t group = 1 + op + JOB_OPS * job_group(&job->shape, r, op);
    if (job->shape.by_id && op <= JOB_WORLD)
        call->comms_id = (group << 16 | call->sequence) * 2654435761 & UINT32_MAX;
    call->recorded_end_ns =
        end_ns + (job->shape.jitter_ns ? job_between(job, 0, job->shape.jitter_ns) : 0);
    memcpy(call->before_ns, rank->before_ns, sizeof call->before_ns);
    return call;
}

// The ranks first, first + stride, ... leave together, a given time after the last has arrived.
static inline void job_collective(struct job *job, int first, int stride, int count, enum job_op op,
                                  int step, int64_t transfer_ns)
{
    int64_t latest_ns = 0;
    for (int i = 0; i < count; i++) {
        int64_t now_ns = job->ranks[first + i * stride].now_ns;
        latest_ns = now_ns > latest_ns ? now_ns : latest_ns;
    }
    for (int i = 0; count > 1 && i < count; i++) {
        struct job_rank *rank = &job->ranks[first + i * stride];
        struct job_call *call =
            job_call(job, first + i * stride, op, step, latest_ns + transfer_ns);
        call->wait_ns = latest_ns - rank->now_ns;
        job_spend(rank, BEFORE_COMM, call->end_ns - call->begin_ns);
    }
}

static inline void job_send(struct job *job, int from, int to, int step, int64_t transfer_ns)
{
    struct job_rank *sender = &job->ranks[from], *receiver = &job->ranks[to];
    int64_t latest_ns = sender->now_ns > receiver->now_ns ? sender->now_ns : receiver->now_ns;
    job_call(job, from, JOB_SEND, step, latest_ns + transfer_ns)->wait_ns =
        latest_ns - sender->now_ns;
    job_call(job, to, JOB_RECV, step, latest_ns + transfer_ns)->wait_ns =
        latest_ns - receiver->now_ns;
    job_spend(sender, BEFORE_COMM, latest_ns + transfer_ns - sender->now_ns);
    job_spend(receiver, BEFORE_COMM, latest_ns + transfer_ns - receiver->now_ns);
}

// One layer's work; the straggler does more of whatever makes it late.
static inline void job_layer(struct job *job, int r)
{
    struct job_rank *rank = &job->ranks[r];
    bool late = job->shape.cause != JOB_NONE && job->shape.straggler == r;
    enum job_straggler cause = late ? job->shape.cause : JOB_NONE;
    int64_t compute_ns = job_between(job, 395000, 405000);
    job_spend(rank, BEFORE_COMPUTE, cause == JOB_SLOWER ? compute_ns + compute_ns / 3 : compute_ns);
    rank->kernels += 10;
    if (cause == JOB_MORE_WORK) {
        job_spend(rank, BEFORE_COMPUTE, 130000);
        rank->kernels += 3;
    }
    job_spend(rank, BEFORE_HOST, job_between(job, 1000, 5000) + (cause == JOB_HOST ? 130000 : 0));
    job_spend(rank, BEFORE_DATA_LOADING, cause == JOB_DATA ? 130000 : 0);
    job_spend(rank, BEFORE_MEMORY, cause == JOB_COPIES ? 130000 : 2000);
    job_spend(rank, BEFORE_IDLE, job_between(job, 500, 1500));
}

// Stage after stage works through its layers.
static inline void job_forward(struct job *job, int step, int stage)
{
    const struct job_shape *shape = &job->shape;
    int width = shape->tensor * shape->data, base = stage * width;
    for (int i = 0; stage > 0 && i < width; i++)
        job_send(job, base - width + i, base + i, step, 20000);
    for (int layer = 0; layer < shape->layers; layer++) {
        for (int i = 0; i < width; i++)
            job_layer(job, base + i);
        for (int d = 0; d < shape->data; d++)
            job_collective(job, base + d * shape->tensor, 1, shape->tensor, JOB_TENSOR, step,
                           job_between(job, 30000, 40000));
    }
}

static inline void job_step(struct job *job, int step)
{
    const struct job_shape *shape = &job->shape;
    for (int stage = 0; stage < shape->pipeline; stage++)
        job_forward(job, step, stage);
    for (int bucket = 0; bucket < shape->buckets; bucket++)
        for (int i = 0; i < shape->pipeline * shape->tensor; i++)
            job_collective(job, i / shape->tensor * shape->tensor * shape->data + i % shape->tensor,
                           shape->tensor, shape->data, JOB_GRADIENTS, step,
                           job_between(job, 90000, 110000));
    if (shape->world)
        job_collective(job, 0, 1, job->count, JOB_WORLD, step, 15000);
}

static inline void job_begin(struct job *job, const struct job_shape *shape)
{
    *job = (struct job){.shape = *shape, .random = 7};
    job->count = shape->tensor * shape->data * shape->pipeline;
    job->ranks = calloc((size_t)job->count, sizeof *job->ranks);
    assert(job->ranks);
    for (int r = 0; r < job->count; r++)
        job->ranks[r].skew_ns =
            shape->skew_ns ? job_between(job, -shape->skew_ns, shape->skew_ns) : 0;
    for (int step = 0; step < shape->steps; step++)
        job_step(job, step);
}

static inline void job_end(struct job *job)
{
    for (int r = 0; r < job->count; r++)
        free(job->ranks[r].calls);
    free(job->ranks);
}

// Sums of the true waits and transfers over all steps but the first, which is not steady. A call
// with a single rank left after drops counts for nothing, so callers must not drop calls that they
// sum.
static inline void job_sum(struct job *job)
{
    job->total_wait_ns = job->total_transfer_ns = 0;
    for (int r = 0; r < job->count; r++)
        for (int i = 0; i < job->ranks[r].count; i++) {
            const struct job_call *call = &job->ranks[r].calls[i];
            if (call->dropped || call->step == 0)
                continue;
            job->total_wait_ns += call->wait_ns;
            job->total_transfer_ns += call->end_ns - call->begin_ns - call->wait_ns;
        }
}

// --- what a rank's trace would hold -------------------------------------------------------------

static inline bool job_add_op(const struct job *job, int r, enum job_op op, struct report *report,
                              struct err *err)
{
    static const char *const kinds[JOB_OPS] = {"all_reduce", "all_reduce", "all_reduce", "send",
                                               "recv"};
    const struct job_shape *shape = &job->shape;
    int width = shape->tensor * shape->data, tensor = r % shape->tensor, stage = r / width;
    int number = shape->listed || shape->by_id ? 0 : job_group(shape, r, op);
    int first = 0, stride = 1, size = job->count;
    char name[64] = "world", list[8192] = "";
    if (op == JOB_TENSOR) {
        first = r - tensor, size = shape->tensor;
        snprintf(name, sizeof name, "tp%d", number);
    } else if (op == JOB_GRADIENTS) {
        first = stage * width + tensor, stride = shape->tensor, size = shape->data;
        snprintf(name, sizeof name, "dp%d", number);
    }
    size_t len = 0;
    for (int i = 0; i < size && len < sizeof list - 16; i++)
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%d%s", i ? ", " : "[",
                                first + i * stride, i + 1 < size ? "" : "]");
    struct row row = {.desc = &table_comm_ops};
    row_word(&row, COMM_OPS_PROCESS_GROUP, name);
    if (shape->listed)
        row_word(&row, COMM_OPS_GROUP_RANKS, list);
    row_i64(&row, COMM_OPS_GROUP_SIZE, size);
    row_word(&row, COMM_OPS_KIND, kinds[op]);
    row_word(&row, COMM_OPS_DTYPE, "BFloat16");
    row_i64(&row, COMM_OPS_BYTES, 1000 * (op + 1));
    if (op >= JOB_SEND)
        row_i64(&row, COMM_OPS_PEER, op == JOB_SEND ? r + width : r - width);
    return row_end(&row, report, err);
}

static inline bool job_add_call(const struct job *job, const struct job_call *call,
                                struct report *report, struct err *err)
{
    static const unsigned columns[BEFORE_COUNT] = {
        [BEFORE_COMPUTE] = COMM_CALLS_COMPUTE_NS,
        [BEFORE_MEMORY] = COMM_CALLS_MEMORY_NS,
        [BEFORE_COMM] = COMM_CALLS_COMM_NS,
        [BEFORE_DATA_LOADING] = COMM_CALLS_DATA_LOADING_NS,
        [BEFORE_HOST] = COMM_CALLS_HOST_NS,
        [BEFORE_IDLE] = COMM_CALLS_IDLE_NS,
    };
    int64_t dur_ns = call->recorded_end_ns - call->begin_ns;
    struct row row = {.desc = &table_comm_calls};
    row_i64(&row, COMM_CALLS_OP, call->op);
    row_i64_if(&row, COMM_CALLS_SEQUENCE, job->shape.numbered && call->sequence >= 0,
               call->sequence);
    row_i64_if(&row, COMM_CALLS_COMMS_ID, call->comms_id, call->comms_id);
    row_i64(&row, COMM_CALLS_STEP, call->step);
    row_i64(&row, COMM_CALLS_BEGIN_NS, call->begin_ns);
    row_i64(&row, COMM_CALLS_DUR_NS, dur_ns);
    row_i64(&row, COMM_CALLS_EXPOSED_NS, dur_ns);
    row_i64(&row, COMM_CALLS_KERNELS, call->kernels);
    for (int i = 0; i < BEFORE_COUNT; i++)
        row_i64(&row, columns[i], call->before_ns[i]);
    row_i64(&row, COMM_CALLS_UNRECORDED_NS, 0);
    row_i64(&row, COMM_CALLS_PART, 0);
    return row_end(&row, report, err);
}

// A step ends where the first call of the next one starts; the last one with its last call.
static inline int64_t job_step_end(const struct job *job, int r, int step)
{
    int64_t end_ns = 0;
    for (int i = 0; i < job->ranks[r].count; i++) {
        const struct job_call *call = &job->ranks[r].calls[i];
        if (call->step > step)
            return call->begin_ns;
        end_ns = call->recorded_end_ns > end_ns ? call->recorded_end_ns : end_ns;
    }
    return end_ns;
}

// The tables of one rank that run_comm_add reads; texts are in the report's arena.
static inline bool job_report(const struct job *job, int r, struct report *report, struct err *err)
{
    struct row row = {.desc = &table_summary};
    row_i64(&row, SUMMARY_WINDOW_BEGIN_NS, JOB_EPOCH_NS + job->ranks[r].skew_ns);
    bool ok = row_end(&row, report, err);
    int before = r && r == job->shape.marked;
    int64_t begin_ns = 0;
    for (int step = 0; ok && step < job->shape.steps; step++) {
        row = (struct row){.desc = &table_steps};
        row_i64(&row, STEPS_STEP, step - before);
        row_word(&row, STEPS_NAME, before ? "Optimizer.step#A" : "ProfilerStep#7");
        row_bool(&row, STEPS_STEADY, step > 0);
        row_i64(&row, STEPS_BEGIN_NS, begin_ns);
        row_i64(&row, STEPS_WINDOW_NS, job_step_end(job, r, step) - begin_ns);
        begin_ns = job_step_end(job, r, step);
        ok = row_end(&row, report, err);
    }
    for (int op = 0; ok && op < JOB_OPS; op++)
        ok = job_add_op(job, r, (enum job_op)op, report, err);
    for (int i = 0; ok && i < job->ranks[r].count; i++) {
        struct job_call call = job->ranks[r].calls[i];
        call.step -= before;
        if (!call.dropped)
            ok = job_add_call(job, &call, report, err);
    }
    return ok;
}

// Loads all ranks, one report after another.
static inline bool job_load(const struct job *job, struct run_comm *comm, struct budget *budget,
                            struct err *err)
{
    bool ok = run_comm_open(comm, (size_t)job->count, budget, err);
    for (int r = 0; ok && r < job->count; r++) {
        struct arena arena;
        arena_init(&arena, NULL);
        struct report report = {.arena = &arena};
        ok = job_report(job, r, &report, err) && run_comm_add(comm, r, &report, err);
        arena_free(&arena);
    }
    return ok;
}

// The same, and solves.
static inline bool job_solve(const struct job *job, struct run_comm *comm, struct budget *budget,
                             struct err *err)
{
    return job_load(job, comm, budget, err) && run_comm_solve(comm, err);
}

#endif
