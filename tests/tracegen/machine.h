// SPDX-License-Identifier: Apache-2.0
// The simulated job: each rank's host threads, its two streams, and the collectives between ranks.
#pragma once

#include "tests/tracegen/heap.h"
#include "tests/tracegen/program.h"
#include "tests/tracegen/splitmix.h"
#include "tests/tracegen/logbook.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MACHINE_DEPTH = 64, MACHINE_QUEUE = 1024 };

// Every rank's trace starts about here, in nanoseconds after the base time.
#define MACHINE_START_NS INT64_C(3743411222000000)

// One operator, annotation or Python function.
struct host_row {
    const struct instruction *begin;
    int64_t begin_ns, end_ns;
    int64_t gpu_begin_ns, gpu_end_ns; // work launched inside an annotation; end 0 for none
    uint32_t external_id;             // the Python id of a Python function
    uint32_t parent_id;               // Python functions only
    uint32_t call_number;             // the collective's sequence number
    enum host_thread thread;
};

// One runtime call, and the device work it launched if any.
struct device_row {
    const struct vendor_api *api;   // NULL: launched by the previous row, or not in the trace
    const struct instruction *work; // NULL: the call launched nothing
    int64_t api_begin_ns, api_end_ns, begin_ns, end_ns;
    const struct instruction *op; // the enclosing operator, NULL outside operators
    uint32_t external_id;         // the operator's, 0 outside operators
    uint32_t correlation, call_number;
    enum host_thread thread;
};

// An allocation or release.
struct memory_row {
    int64_t at_ns, bytes, allocated_bytes, reserved_bytes;
    uint64_t address;
    enum host_thread thread;
};

struct stream {
    int64_t begin_ns; // of the last work queued
    int64_t free_ns;  // end of the last work queued
    int64_t ready_ns; // end of what it waits for
};

struct rank {
    int32_t index;
    struct splitmix rng;
    int64_t now_ns;   // of the running host thread
    int64_t clock_ns; // added to every time in the rank's trace
    enum host_thread thread;
    struct stream streams[STREAM_COUNT];
    int64_t idle_from_ns;                  // end of the previous step on the device
    int64_t *collective_end_ns;            // per slot
    int64_t queue_begin_ns[MACHINE_QUEUE]; // starts of the last kernels on the compute stream
    uint64_t launches;
    uint32_t next_external, next_correlation, next_python, next_call;
    size_t open[THREAD_COUNT][MACHINE_DEPTH]; // indices of open rows
    size_t depth[THREAD_COUNT];
    struct host_row *rows; // of the current step
    size_t row_count, row_capacity;
    struct device_row *calls; // of the current step
    size_t call_count, call_capacity;
    struct memory_row *memory; // of the current step
    size_t memory_count, memory_capacity;
    struct heap heap;
    int64_t sequence_base;
    struct logbook logbook;
};

struct machine {
    const struct arguments *arguments;
    const struct vendor *vendor;
    const struct program *program;
    struct rank *ranks;
    struct splitmix rng;        // for randomness shared by all ranks
    struct instruction tiny[3]; // the kernels of CODE_TINY
    int64_t run_ppm;            // speed of all steps
    int64_t step_ppm;           // this step's speed, including the run's
    int64_t kernel_gap_ns;      // between two kernels of a stream
    int32_t step;               // N of ProfilerStep#N
};

// The caller frees it with machine_free; arguments and program are borrowed.
struct machine *machine_new(const struct arguments *arguments, const struct program *program);
void machine_free(struct machine *machine);

// Runs the next step on every rank: fills rows and calls, closes the step in the logbooks.
void machine_step(struct machine *machine);

// The host waits for the device one last time: clears rows, leaves one call.
void machine_finish(struct machine *machine);
