// SPDX-License-Identifier: Apache-2.0
// The command line: what to generate, how to write it, where.
#pragma once

#include "tests/tracegen/idle_cause.h"
#include "tests/tracegen/outfile.h"
#include "tests/tracegen/shape.h"
#include "tests/tracegen/vendor.h"

#include <stdbool.h>
#include <stdint.h>

enum strategy { STRATEGY_DDP, STRATEGY_FSDP };

enum job { JOB_TRANSFORMER, JOB_PROBE };

enum plant {
    PLANT_EXPOSED_COMM,
    PLANT_STARVATION,
    PLANT_TINY_KERNELS,
    PLANT_LOW_OVERLAP,
    PLANT_PAGEABLE_COPIES,
    PLANT_FP32_GEMM,
    PLANT_FP8_UNUSED,
    PLANT_BAD_GEMM,
    PLANT_BAD_ATTENTION,
    PLANT_UNFUSED_ATTENTION,
    PLANT_UNFUSED_OPTIMIZER,
    PLANT_LAUNCH_BOUND,
    PLANT_PERIODIC_STEPS,
    PLANT_UNSTABLE_STEPS,
    PLANT_SLOW_CALLS,
    PLANT_OVERRUN,
    PLANT_PREFETCH,
    PLANT_UNEVEN_LAYERS,
    PLANT_GENERATOR,
    PLANT_PREPROCESSING,
    PLANT_SMALL_COLLECTIVES,
    PLANT_BACKLOG,
    PLANT_COUNT
};

struct arguments {
    uint64_t seed;
    int32_t ranks, world, steps, layers;
    int64_t events;    // wanted events per step and rank, or in a shape; 0 for however many there
                       // are
    uint64_t size;     // wanted bytes of JSON per rank, 0 for --steps
    int64_t noise_ppm; // jitter of step and kernel times
    int64_t run_noise_ppm; // of the run as a whole, and of each operator's times in it
    enum vendor_flavour flavour;
    enum strategy strategy;
    enum job job;
    int64_t plant_ns[PLANT_COUNT]; // wanted cost per step, 0: not planted
    int64_t idle_ns[IDLE_COUNT];   // wanted idle time per step by cause, 0: not planted
    int64_t slow_percent[CATEGORY_COUNT];
    const char *slow_op; // operator whose kernels take slow_op_percent, NULL for none
    int64_t slow_op_percent;
    int64_t leak_bytes;     // per step
    int64_t held_bytes;     // allocated before the recording, besides the model's
    int64_t spare_bytes;    // reserved but never allocated
    int32_t straggler_rank; // -1 for none
    int64_t straggler_percent;
    bool stacks, memory, checkpoint, sync_events, list_events, one_line, counters;
    enum spacing spacing;
    enum outfile_format format;
    const struct shape *shape; // --shape: synthetic rows instead of a job
    const char *out;           // borrowed from argv
};

// False, after a message on stderr, if the command line is invalid.
bool arguments_parse(int argc, char **argv, struct arguments *arguments);

// The word --plant uses.
const char *arguments_plant_name(enum plant plant);
