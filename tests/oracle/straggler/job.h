// SPDX-License-Identifier: Apache-2.0
// A training job as operations, each recorded by one worker in one step: the traces of
// "Understanding Stragglers in Large Model Training Using What-if Analysis" (OSDI 2025).
#ifndef TESTS_ORACLE_JOB_H
#define TESTS_ORACLE_JOB_H

#include "ingest/base/arena.h"

#include <stddef.h>

#define JOB_NONE UINT32_MAX

enum op_type {
    OP_FORWARD,
    OP_BACKWARD,
    OP_FORWARD_SEND,
    OP_FORWARD_RECV,
    OP_BACKWARD_SEND,
    OP_BACKWARD_RECV,
    OP_PARAMS_GATHER,
    OP_GRADS_SCATTER,
    OP_SEPARATE_REDUCE,
    OP_LAYERNORM_REDUCE,
    OP_EMBEDDING_REDUCE,
    OP_CLIP,
    OP_OPTIMIZER,
    OP_GC,
    OP_TYPES
};

extern const char *const op_type_name[OP_TYPES];

struct op_time {
    double begin_s, end_s; // as recorded: whole digits of the recording's precision
    float dur_s;
    float transfer_s; // of communication: its end minus the latest start among its members
    bool known;
};

// An operation that every worker of a stage does once in every step.
struct op {
    uint32_t stage, type, seq;  // by which they are sorted; seq counts those of a type
    int64_t chunk, whole_chunk; // the model chunk within the stage and within the model
    struct op_time first;       // of the first worker in the first step, which give the order
};

struct worker {
    uint32_t data_rank, stage;
    int64_t rank;
};

struct job {
    struct arena *arena;
    bool is_single;        // times are recorded, and differences taken, in single precision
    int64_t sequence_size; // dsp_size of the metadata
    struct op *ops;
    uint32_t op_count;
    uint32_t data_ranks, stages; // of the rows
    int64_t *steps;              // their numbers, ascending
    uint32_t step_count;
    struct op_time
        *times; // of op o of data rank d in step s: [(s * data_ranks + d) * op_count + o]
    struct worker *workers; // by rank
    uint32_t worker_count;
};

// JOB_NONE without such an operation.
uint32_t job_find(const struct job *job, enum op_type type, uint32_t seq, uint32_t stage);

static inline struct op_time *job_time(const struct job *job, uint32_t step, uint32_t data_rank,
                                       uint32_t op)
{
    return &job->times[((size_t)step * job->data_ranks + data_rank) * job->op_count + op];
}

// Reads the operations (CSV, also compressed with zstd) and what the metadata says about the job.
MUST_CHECK bool job_read(const char *csv_path, const char *meta_path, struct arena *arena,
                         struct job *job, struct err *err);

#endif
