// SPDX-License-Identifier: Apache-2.0
// A job of many ranks that work together along several dimensions: what was asked for, who talks to
// whom, one step of a rank as a list of instructions, and what became of it.
#pragma once

#include "tests/tracegen/outfile.h"
#include "tests/tracegen/splitmix.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mesh_data { MESH_DDP, MESH_FSDP, MESH_ZERO1, MESH_ZERO2 };

// Why one rank is late.
enum mesh_cause {
    CAUSE_COMPUTE_SLOWER,
    CAUSE_MORE_WORK,
    CAUSE_DATA_LOADING,
    CAUSE_HOST,
    CAUSE_COPIES,
    CAUSE_COUNT
};
const char *mesh_cause_name(enum mesh_cause cause);

struct mesh_options {
    uint64_t seed;
    int32_t tp, pp, dp, ep; // ranks along each dimension; ep divides dp
    int32_t steps, layers;  // layers of a stage
    int32_t micro_batches;  // of a step
    int32_t node_gpus;
    bool gpipe; // all forwards before all backwards, else one forward, one backward
    enum mesh_data data;
    int64_t noise_ppm;
    int64_t skew_ns, jitter_ns; // clocks are off by up to skew; ends are recorded so much late
    int32_t straggler;          // -1 for none
    enum mesh_cause cause;
    int64_t delay_ns;      // per step
    int32_t slow_nodes[2]; // a link between nodes, -1 for none; the second -1: all of the first's
    int32_t slow_percent;  // what crosses it takes so much of the usual time
    int32_t drop_rank, drop_count; // a trace that lacks so many communications
    int32_t without;               // a rank whose trace is not written, -1 for none
    bool no_sequence, no_metadata;
    bool sequence_parallel; // activations are gathered and scattered instead of reduced
    enum outfile_format format;
    const char *out;
};

// False after a message on stderr. Options are those behind "mesh".
bool mesh_options_parse(int argc, char **argv, struct mesh_options *options);

// --- who talks to whom --------------------------------------------------------------------------

enum mesh_dimension { MESH_WORLD, MESH_TENSOR, MESH_DATA, MESH_EXPERT, MESH_PIPELINE, DIMENSIONS };

struct mesh_group {
    enum mesh_dimension dimension;
    int32_t name; // its number as torch counts them
    int32_t size, *ranks;
    bool spans_nodes, slow;
};

struct mesh {
    const struct mesh_options *options;
    int32_t world;
    struct mesh_group *groups;
    int32_t group_count;
    int32_t *group_of[DIMENSIONS]; // per rank; -1 where the dimension has one rank
};

void mesh_open(struct mesh *mesh, const struct mesh_options *options);
void mesh_close(struct mesh *mesh);
int32_t mesh_stage_of(const struct mesh *mesh, int32_t rank);
int32_t mesh_node_of(const struct mesh *mesh, int32_t rank);
// Whether what one node sends to the other, a different one, crosses the slow link.
bool mesh_is_slow(const struct mesh *mesh, int32_t node, int32_t other);

// --- one step -----------------------------------------------------------------------------------

enum mesh_phase { MESH_FORWARD, MESH_BACKWARD, MESH_OPTIMIZER };

enum mesh_kind {
    MESH_ALL_REDUCE,
    MESH_ALL_GATHER,
    MESH_REDUCE_SCATTER,
    MESH_ALL_TO_ALL,
    MESH_SEND,
    MESH_RECV,
    MESH_COMPUTE, // no communication
    MESH_COPY
};

enum mesh_code { MESH_DO_RUN, MESH_DO_CALL, MESH_DO_AWAIT, MESH_DO_STALL, MESH_DO_PAGEABLE };

struct mesh_instruction {
    enum mesh_code code;
    enum mesh_phase phase;
    enum mesh_kind kind;
    enum mesh_dimension dimension;
    int64_t ns;    // of a kernel, stall or copy
    int64_t bytes; // of a communication
    int32_t slot;  // of what is awaited later, -1: compute goes on when it is done
    int32_t peer;  // stage that is sent to or received from
};

struct mesh_program {
    struct mesh_instruction *at;
    size_t count, capacity;
    int32_t slots;
};

// The step of a rank; the same for all ranks of a stage but for the straggler.
void mesh_program_build(const struct mesh *mesh, int32_t rank, struct mesh_program *program);

// --- what became of it --------------------------------------------------------------------------

struct mesh_event {
    int64_t begin_ns, end_ns, launch_ns; // true time since the job's begin
    int64_t wait_ns, exposed_ns;         // of a communication, among those that traces have
    int64_t bytes;
    int32_t group, step;
    uint32_t sequence;
    int32_t peer; // rank
    uint8_t kind, phase;
    bool last;    // no other rank of the group that is in a trace began later
    bool dropped; // no trace has it
    bool matched; // another trace has its part of the same communication
};

struct mesh_rank {
    struct mesh_event *events; // in order of launch
    size_t count, capacity;
    int64_t *step_begin_ns, *step_end_ns; // on the host
    int64_t clock_ns;                     // its clock minus the true time
};

struct mesh_job {
    const struct mesh *mesh;
    struct mesh_rank *ranks;
    int64_t *caused_wait_ns; // per step: what others waited for the straggler
};

void mesh_run(const struct mesh *mesh, struct mesh_job *job);
void mesh_job_free(struct mesh_job *job);

// Writes the trace of a rank; returns the bytes of text.
uint64_t mesh_write(const struct mesh_job *job, int32_t rank);

void mesh_truth(const struct mesh_job *job, const uint64_t *bytes);

// The whole of `tracegen mesh`; returns the program's exit code.
int mesh_main(int argc, char **argv);
