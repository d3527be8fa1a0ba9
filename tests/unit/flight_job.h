// SPDX-License-Identifier: Apache-2.0
// Jobs that hang, with the truth known: every rank runs the same program of tensor, pipeline and
// data parallelism, the host ahead of the device, until nothing moves any more. What is then in the
// rings of the ranks becomes their dumps.
#ifndef TESTS_UNIT_FLIGHT_JOB_H
#define TESTS_UNIT_FLIGHT_JOB_H

#include "tests/unit/flight_hand.h"

#include <stdio.h>
#include <stdlib.h>

enum { JOB_MOST_RANKS = 64, JOB_MOST_OPS = 600, JOB_GROUPS = 4 };

enum job_fault {
    FAULT_NONE,
    FAULT_HOST,     // stops entering operations
    FAULT_DEVICE,   // takes part in a collective and never finishes it
    FAULT_MISMATCH, // calls another operation
    FAULT_SKIP,     // leaves out a collective
    FAULT_SWAP,     // enters the collectives of two groups in another order
    FAULT_PASS,     // sends or receives another number of elements
    FAULT_GONE,     // as FAULT_HOST, and leaves no dump
    FAULTS
};

enum job_group { JOB_TP, JOB_PP, JOB_DP, JOB_ALL };

struct job_op {
    enum job_group group;
    int peer; // rank; -1: a collective
    bool sends;
    int seq; // in its group, of collectives or of what passes to and from the peer
    int elements;
    const char *name;
    bool done;
};

struct job_rank {
    struct job_op ops[JOB_MOST_OPS];
    int count, entered, head, seqs[JOB_GROUPS];
    int stop; // the host enters no operation from here on
    int dead; // the device never finishes this one
    bool undumped;
};

struct job {
    int pp, dp, tp, ranks, ring;
    bool all_entries; // the ring has finished operations, too
    bool statuses;
    struct job_rank at[JOB_MOST_RANKS];
};

// --- the program --------------------------------------------------------------------------------

// Ranks of a tensor group are neighbors, those of a pipeline furthest apart.
static inline int job_stage(const struct job *job, int rank)
{
    return rank / (job->tp * job->dp);
}

static inline bool job_share(const struct job *job, enum job_group group, int a, int b)
{
    int stride = job->tp * job->dp;
    switch (group) {
    case JOB_TP: return a / job->tp == b / job->tp;
    case JOB_PP: return a % stride == b % stride;
    case JOB_DP: return a / stride == b / stride && a % job->tp == b % job->tp;
    case JOB_ALL: break;
    }
    return true;
}

static inline struct job_op *job_add(struct job_rank *rank, enum job_group group, const char *name,
                                     int elements)
{
    struct job_op *op = &rank->ops[rank->count++];
    *op = (struct job_op){group, -1, false, ++rank->seqs[group], elements, name, false};
    return op;
}

static inline void job_pass(struct job *job, int rank, int to, bool sends)
{
    struct job_op *op = job_add(&job->at[rank], JOB_PP, sends ? "send" : "recv", 4096);
    op->peer = to;
    op->sends = sends;
    op->seq = 0; // those between two ranks are matched in their order
}

static inline void job_layers(struct job *job, int rank)
{
    if (job->tp == 1)
        return;
    for (int i = 0; i < 3; i++) {
        job_add(&job->at[rank], JOB_TP, "_all_gather_base", 4096 + i);
        job_add(&job->at[rank], JOB_TP, "_reduce_scatter_base", 8192);
    }
}

// One micro-batch forward, or back.
static inline void job_pass_batch(struct job *job, int rank, bool back)
{
    int stride = job->tp * job->dp, stage = job_stage(job, rank), last = job->pp - 1;
    bool from_next = back && stage < last, from_previous = !back && stage > 0;
    if (from_next || from_previous)
        job_pass(job, rank, back ? rank + stride : rank - stride, false);
    job_layers(job, rank);
    if (back ? stage > 0 : stage < last)
        job_pass(job, rank, back ? rank - stride : rank + stride, true);
}

static inline void job_update(struct job *job, int rank)
{
    for (int bucket = 0; job->dp > 1 && bucket < 2; bucket++)
        job_add(&job->at[rank], JOB_DP, "allreduce", 1 << (20 + bucket));
    job_add(&job->at[rank], JOB_ALL, "all_reduce", 1);
}

static inline void job_program(struct job *job)
{
    enum { STEPS = 3, BATCHES = 3 };
    for (int rank = 0; rank < job->ranks; rank++)
        for (int i = 1; i <= STEPS * BATCHES; i++) {
            job_pass_batch(job, rank, false);
            job_pass_batch(job, rank, true);
            if (i % BATCHES == 0)
                job_update(job, rank);
        }
}

// --- running it ---------------------------------------------------------------------------------

static inline struct job_op *job_head(struct job *job, int rank)
{
    struct job_rank *one = &job->at[rank];
    return one->head < one->entered ? &one->ops[one->head] : NULL;
}

static inline bool job_fits(const struct job_op *a, const struct job_op *b)
{
    return b && a->group == b->group && a->peer < 0 && b->peer < 0 && a->seq == b->seq &&
           a->elements == b->elements && strcmp(a->name, b->name) == 0;
}

// Whether all that take part in what the rank is at are there.
static inline bool job_ready(struct job *job, int rank)
{
    const struct job_op *op = job_head(job, rank);
    if (!op)
        return false;
    if (op->peer >= 0) {
        const struct job_op *other = job_head(job, op->peer);
        return other && other->peer == rank && other->sends != op->sends &&
               other->elements == op->elements;
    }
    for (int i = 0; i < job->ranks; i++)
        if (job_share(job, op->group, rank, i) && !job_fits(op, job_head(job, i)))
            return false;
    return true;
}

static inline void job_finish(struct job *job, int rank)
{
    struct job_rank *one = &job->at[rank];
    if (one->head == one->dead)
        return; // it took part, and stays there
    one->ops[one->head++].done = true;
}

static inline bool job_step(struct job *job, int rank)
{
    if (!job_ready(job, rank))
        return false;
    const struct job_op op = *job_head(job, rank);
    for (int i = 0; i < job->ranks; i++)
        if (op.peer >= 0 ? i == rank || i == op.peer : job_share(job, op.group, rank, i))
            job_finish(job, i);
    return true;
}

static inline void job_run(struct job *job, int ahead)
{
    bool moved = true;
    while (moved) {
        moved = false;
        for (int rank = 0; rank < job->ranks; rank++) {
            struct job_rank *one = &job->at[rank];
            int most = one->head + ahead < one->stop ? one->head + ahead : one->stop;
            most = most < one->count ? most : one->count;
            moved |= one->entered < most;
            one->entered = one->entered < most ? most : one->entered;
        }
        for (int rank = 0; rank < job->ranks; rank++)
            moved |= job_step(job, rank);
    }
}

// --- faults -------------------------------------------------------------------------------------

// The first collective from an operation on; -1: none.
static inline int job_collective(const struct job_rank *rank, int from)
{
    for (; from < rank->count; from++)
        if (rank->ops[from].peer < 0)
            return from;
    return -1;
}

static inline void job_skip(struct job_rank *rank, int at)
{
    enum job_group group = rank->ops[at].group;
    memmove(&rank->ops[at], &rank->ops[at + 1], (size_t)(--rank->count - at) * sizeof *rank->ops);
    for (int i = at; i < rank->count; i++)
        rank->ops[i].seq -= rank->ops[i].peer < 0 && rank->ops[i].group == group;
}

// The last reduction of a step and what all do after it.
static inline void job_swap(struct job_rank *rank, int at)
{
    while (rank->ops[at].group != JOB_DP || rank->ops[at + 1].group != JOB_ALL)
        at++;
    struct job_op first = rank->ops[at];
    rank->ops[at] = rank->ops[at + 1];
    rank->ops[at + 1] = first;
}

static inline void job_break(struct job *job, enum job_fault fault, int rank, int at)
{
    struct job_rank *one = &job->at[rank];
    int collective = job_collective(one, at);
    if (fault == FAULT_HOST || fault == FAULT_GONE)
        one->stop = at;
    if (fault == FAULT_DEVICE)
        one->dead = collective;
    if (fault == FAULT_MISMATCH)
        one->ops[collective].name = "broadcast";
    if (fault == FAULT_SKIP)
        job_skip(one, collective);
    if (fault == FAULT_SWAP)
        job_swap(one, at);
    while (fault == FAULT_PASS && one->ops[at].peer < 0)
        at++;
    if (fault == FAULT_PASS)
        one->ops[at].elements = 7;
    one->undumped = fault == FAULT_GONE;
}

static inline void job_start(struct job *job)
{
    job->ranks = job->pp * job->dp * job->tp;
    for (int i = 0; i < job->ranks; i++) {
        job->at[i].count = job->at[i].entered = job->at[i].head = 0;
        memset(job->at[i].seqs, 0, sizeof job->at[i].seqs);
        job->at[i].stop = INT32_MAX;
        job->at[i].dead = -1;
        job->at[i].undumped = false;
    }
    job_program(job);
}

// --- dumps --------------------------------------------------------------------------------------

static inline void job_put_groups(const struct job *job, int rank, struct buf *out)
{
    static const char *const descs[JOB_GROUPS] = {"TENSOR_MODEL_PARALLEL_GROUP",
                                                  "PIPELINE_MODEL_PARALLEL_GROUP",
                                                  "DATA_PARALLEL_GROUP", "default_pg"};
    buf_puts(out, "\"pg_config\": {");
    for (int group = 0; group < JOB_GROUPS; group++) {
        const char *comma = "";
        buf_printf(out, "%s\"%d\": {\"name\": \"%d\", \"desc\": \"%s\", \"ranks\": \"[",
                   group ? ", " : "", 10 * group + rank % 7, 10 * group + rank % 7, descs[group]);
        for (int i = 0; i < job->ranks; i++)
            if (job_share(job, (enum job_group)group, rank, i)) {
                buf_printf(out, "%s%d", comma, i);
                comma = rank % 3 ? "," : ", ";
            }
        buf_puts(out, "]\"}");
    }
    buf_putc(out, '}');
}

static inline int job_place(const struct job *job, enum job_group group, int rank)
{
    int place = 0;
    for (int i = 0; i < rank; i++)
        place += job_share(job, group, rank, i);
    return place;
}

static inline void job_put_entry(const struct job *job, int rank, int at, struct buf *out)
{
    const struct job_op *op = &job->at[rank].ops[at];
    buf_printf(out,
               "{\"pg_id\": %d, \"process_group\": [\"%d\", \"\"], \"collective_seq_id\": %d, "
               "\"p2p_seq_id\": %d, \"is_p2p\": %s, \"time_created_ns\": %d, \"state\": \"%s\", "
               "\"input_sizes\": [[%d]], \"input_dtypes\": [\"Float\"], ",
               op->group, 10 * op->group + rank % 7, op->seq, op->peer < 0 ? 0 : at,
               op->peer < 0 ? "false" : "true", 1000 + at, op->done ? "completed" : "scheduled",
               op->elements);
    if (op->peer < 0)
        buf_printf(out, "\"profiling_name\": \"nccl:%s\"}", op->name);
    else
        buf_printf(out, "\"profiling_name\": \"nccl:%s %d%s%d\"}", op->name,
                   job_place(job, JOB_PP, rank), op->sends ? "->" : "<-",
                   job_place(job, JOB_PP, op->peer));
}

static inline void job_put_entries(const struct job *job, int rank, struct buf *out)
{
    const struct job_rank *one = &job->at[rank];
    const char *comma = "";
    buf_puts(out, ", \"entries\": [");
    for (int i = one->entered > job->ring ? one->entered - job->ring : 0; i < one->entered; i++) {
        if (one->ops[i].done && !job->all_entries)
            continue;
        buf_puts(out, comma);
        job_put_entry(job, rank, i, out);
        comma = ", ";
    }
    buf_puts(out, "]");
}

// Without timing, nothing is known to have started.
static inline void job_put_statuses(const struct job *job, int rank, struct buf *out)
{
    const struct job_rank *one = &job->at[rank];
    buf_puts(out, ", \"pg_status\": {");
    for (int group = 0; group < JOB_GROUPS; group++) {
        int entered = -1, done = -1;
        for (int i = 0; i < one->entered; i++)
            if (one->ops[i].group == (enum job_group)group) {
                int seq = one->ops[i].peer < 0 ? one->ops[i].seq : i;
                entered = seq;
                done = one->ops[i].done ? seq : done;
            }
        buf_printf(out,
                   "%s\"%d\": {\"last_enqueued_collective\": %d, \"last_started_collective\": -1, "
                   "\"last_completed_collective\": %d}",
                   group ? ", " : "", group, entered, done);
    }
    buf_puts(out, "}");
}

static inline void job_put_dump(const struct job *job, int rank, struct buf *out)
{
    buf_puts(out, "{\"version\": \"2.9\", ");
    job_put_groups(job, rank, out);
    if (job->statuses)
        job_put_statuses(job, rank, out);
    job_put_entries(job, rank, out);
    buf_puts(out, "}");
}

#endif
