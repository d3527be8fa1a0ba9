// SPDX-License-Identifier: Apache-2.0
// A job of many ranks that work together along several dimensions: its options, who talks to whom,
// one step of a rank as a list of instructions, and the outcome.
#pragma once

#include "tests/tracegen/outfile.h"
#include "tests/tracegen/splitmix.h"
#include "tests/tracegen/vendor.h"

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

enum { MESH_CLOCK_FAULTS = 8 };

// A rank's clock that runs fast by some ppm, or jumps by some ns.
struct mesh_clock_fault {
    int32_t rank;
    int64_t amount;
};

// How the trace shows what a send or recv transfers.
enum mesh_passing {
    PASSING_OWN,  // in the kernel
    PASSING_LENT, // in the operator around the kernel's launch, also for collectives
    // batch_isend_irecv: operators that end before the launch; one kernel sends to a neighbor and
    // receives from it, and compute waits for it
    PASSING_BATCHED
};

// What some ranks have more of, by a percentage: the time of longer sequences, layers, or tokens
// for their experts (grouped products, whose shapes do not show it).
enum mesh_more { MORE_LONGER, MORE_LAYERS, MORE_EXPERTS };

// Ranks first to last, and percent; 0: none.
struct mesh_some {
    int32_t first, last, percent;
};

struct mesh_options {
    struct mesh_some slow; // slow devices
    struct mesh_some more;
    enum mesh_more more_of;
    int64_t later_ns; // all start this much later
    uint64_t seed;
    int32_t tp, pp, dp, ep; // ranks along each dimension; ep divides dp
    int32_t steps, layers;  // layers per stage
    int32_t micro_batches;  // per step
    int32_t node_gpus;
    bool gpipe; // all forwards before all backwards; otherwise one forward, one backward
    enum mesh_data data;
    int64_t noise_ppm;
    int64_t skew_ns, jitter_ns; // clocks are off by up to skew; ends are recorded up to jitter late
    int32_t straggler;          // -1 for none
    enum mesh_cause cause;
    int64_t delay_ns;      // per step
    int32_t slow_nodes[2]; // a link between nodes, -1 for none; the second -1: all links of the
                           // first
    int32_t slow_percent;  // what crosses it takes this percentage of the usual time
    int32_t drop_rank, drop_count; // a trace that lacks this many communications
    int32_t without;               // a rank whose trace is not written, -1 for none
    bool no_sequence, no_metadata;
    enum mesh_passing passing;
    bool sends_only;        // no group of all ranks
    int32_t metadata_ranks; // only this many first ranks have metadata; -1: all
    enum vendor_flavour flavour;
    struct mesh_clock_fault drifts[MESH_CLOCK_FAULTS], jumps[MESH_CLOCK_FAULTS];
    int32_t drift_count, jump_count;
    bool sequence_parallel; // activations are gathered and scattered instead of reduced
    enum outfile_format format;
    const char *out;
};

// False after a message on stderr. Options are those after "mesh".
bool mesh_options_parse(int argc, char **argv, struct mesh_options *options);

// --- who talks to whom --------------------------------------------------------------------------

enum mesh_dimension { MESH_WORLD, MESH_TENSOR, MESH_DATA, MESH_EXPERT, MESH_PIPELINE, DIMENSIONS };

struct mesh_group {
    enum mesh_dimension dimension;
    int32_t name; // its number, as in torch
    int32_t size, *ranks;
    bool spans_nodes, slow;
};

struct mesh {
    const struct mesh_options *options;
    int32_t world;
    struct mesh_group *groups;
    int32_t group_count;
    int32_t *group_of[DIMENSIONS]; // per rank; -1 if the dimension has one rank
};

void mesh_open(struct mesh *mesh, const struct mesh_options *options);
void mesh_close(struct mesh *mesh);
int32_t mesh_stage_of(const struct mesh *mesh, int32_t rank);
int32_t mesh_node_of(const struct mesh *mesh, int32_t rank);
// Whether traffic between two different nodes crosses the slow link.
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

// Compute kernels by purpose.
enum mesh_kernel { MESH_MIXER, MESH_MLP, MESH_DGRAD, MESH_WGRAD, MESH_EXTRA, MESH_ADAM };

struct mesh_instruction {
    enum mesh_kernel kernel;
    int32_t rows; // of a product
    enum mesh_code code;
    enum mesh_phase phase;
    enum mesh_kind kind;
    enum mesh_dimension dimension;
    int64_t ns;         // of a kernel, stall or copy
    int64_t bytes;      // of a communication
    int32_t slot;       // of what is awaited later; -1: compute waits for it
    bool joins, joined; // one kernel with the next call, with the previous one
    int32_t peer;       // stage sent to or received from
};

struct mesh_program {
    struct mesh_instruction *at;
    size_t count, capacity;
    int32_t slots;
    int64_t planted_ns; // per step, by slow devices or extra work
};

// The step of a rank; the same for all ranks of a stage except the straggler.
void mesh_program_build(const struct mesh *mesh, int32_t rank, struct mesh_program *program);

// --- the outcome ---------------------------------------------------------------------------------

struct mesh_event {
    int64_t begin_ns, end_ns, launch_ns; // true time since the start of the job
    int64_t wait_ns, exposed_ns;         // of a communication, counting only those in traces
    int64_t exposed_wait_ns;             // the part of the exposed time before the wait's end
    int64_t bytes;
    int32_t group, step;
    uint32_t sequence;
    int32_t peer; // rank
    uint8_t kind, phase, kernel;
    int32_t rows;
    bool last;          // no other rank of the group that is in a trace started later
    bool dropped;       // no trace has it
    bool matched;       // another trace has its part of the same communication
    bool joins, joined; // one kernel with the next event, with the previous one
};

// Communication during a step on the device: from the end of the previous step's compute to the end
// of its own.
struct mesh_parts {
    int64_t done_ns; // the end of its compute
    int64_t wait_ns, transfer_ns, exposed_wait_ns, exposed_transfer_ns;
};

struct mesh_rank {
    struct mesh_event *events; // in order of launch
    struct mesh_parts *parts;  // per step
    int32_t step_count;
    size_t count, capacity;
    int64_t *step_begin_ns, *step_end_ns; // on the host
    int64_t clock_ns;                     // its clock minus the true time at the start of the job
    int64_t drift_ppm;                    // how fast its clock runs
    int64_t jump_ns, jump_at_ns;          // and jumps by this much at this true time
};

// How far the rank's clock is ahead of the true time at that time.
int64_t mesh_clock_at(const struct mesh_rank *rank, int64_t true_ns);

struct mesh_job {
    const struct mesh *mesh;
    struct mesh_rank *ranks;
    int64_t *caused_wait_ns; // per step: how long others waited for the straggler
};

void mesh_run(const struct mesh *mesh, struct mesh_job *job);
void mesh_job_free(struct mesh_job *job);

// Writes the trace of a rank; returns its text size in bytes.
uint64_t mesh_write(const struct mesh_job *job, int32_t rank);

void mesh_truth(const struct mesh_job *job, const uint64_t *bytes);

// All of `tracegen mesh`; returns the program's exit code.
int mesh_main(int argc, char **argv);
