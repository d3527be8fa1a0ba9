// SPDX-License-Identifier: Apache-2.0
// One training step as a list of instructions that every rank executes, step after step.
#pragma once

#include "tests/tracegen/arguments.h"
#include "tests/tracegen/idle_cause.h"
#include "tests/tracegen/vendor.h"

#include <stddef.h>
#include <stdint.h>

enum instruction_code {
    CODE_BEGIN,      // a host row opens
    CODE_END,        // the innermost host row of the thread closes
    CODE_THREAD,     // the other host thread takes over
    CODE_LOAD_DATA,  // the host waits for its batch
    CODE_LAUNCH,     // a kernel
    CODE_GRAPH,      // one launch of several kernels
    CODE_UNLINKED,   // a kernel whose launch the trace does not have
    CODE_CALL,       // a runtime call that launches nothing
    CODE_HOLD,       // the host is busy inside the open row
    CODE_ALLOCATE,   // memory for a tensor
    CODE_RELEASE,    // and its release
    CODE_COPY,       // a batch goes to the device
    CODE_SET,        // a memset on the compute stream
    CODE_TINY,       // unfused small kernels until their planted cost is reached
    CODE_COLLECTIVE, // all ranks meet on the communication stream
    CODE_WAIT,       // the compute stream waits for a collective
    CODE_THROTTLE    // the host waits until the device has little left to do
};

enum row_kind { ROW_OP, ROW_COLLECTIVE_OP, ROW_ANNOTATION, ROW_STEP, ROW_PYTHON, ROW_OVERHEAD };

enum host_thread { THREAD_MAIN, THREAD_AUTOGRAD, THREAD_COUNT };

enum stream_choice { STREAM_COMPUTE, STREAM_COMM, STREAM_SIDE, STREAM_COUNT };

enum copy_way { COPY_HTOD, COPY_DTOH, COPY_DTOD, COPY_PTOP };

// Whose work a launch does.
enum phase { PHASE_FORWARD, PHASE_BACKWARD, PHASE_RECOMPUTE, PHASE_COUNT };

// Ranks of a job that communicate: start, start + stride, ...
struct group {
    const char *name, *description;
    int32_t size, start, stride;
};

struct collective {
    const struct group *group;
    const char *args; // JSON members shared by the kernel and record_param_comms
    const char *kind; // "all_reduce", "all_gather", ...
    bool bare;        // the kernel carries none of them
    int64_t bytes;    // message size: output of an all_gather, else input
    int64_t transfer_ns;
};

// In which steps an instruction is executed.
enum schedule { SCHEDULE_ALL, SCHEDULE_FIRST, SCHEDULE_PERIODIC, SCHEDULE_UNSTABLE };

struct instruction {
    enum instruction_code code;
    enum row_kind kind;      // BEGIN
    enum host_thread thread; // THREAD
    const char *name;        // BEGIN: escaped for JSON
    const char *args;        // BEGIN: more JSON members, or NULL
    int32_t sequence;        // BEGIN: autograd sequence number within the step, -1 for none
    bool backward;           // BEGIN: runs the backward of that sequence number
    bool links;              // BEGIN: one end of a forward to backward arrow
    bool on_comm_stream;     // BEGIN: an annotation whose device work is communication
    int32_t module;          // BEGIN: number of the Python module, -1 for none
    const struct kernel *kernel;
    const struct collective *collective;
    int64_t ns; // device time before noise
    int64_t bytes;
    uint32_t grid[3];
    int32_t slot;      // COLLECTIVE, WAIT: which one
    bool last;         // COLLECTIVE: the one the optimizer waits for
    bool pageable;     // COPY
    enum copy_way way; // COPY
    enum stream_choice stream;
    const struct vendor_api *api; // CALL
    // What the device does before and between kernels.
    enum idle_cause cause; // LAUNCH, GRAPH, UNLINKED: why the device was idle before it
    int64_t idle_ns;       // LAUNCH, CALL, HOLD: the host stays here until the device was idle this
                           // long
    int64_t delay_ns;      // LAUNCH, UNLINKED: starts this long after the stream is free; GRAPH:
                           // time between its kernels
    int32_t kernels;       // GRAPH: how many
    int64_t overrun_ns;    // LAUNCH: by how much the profiler records it too long
    int64_t late_ns;       // LAUNCH: longer by this in one step of `turns`, when it is its turn
    int32_t turn, turns;
    enum schedule schedule;
    // What a fault costs.
    enum plant plant;   // LAUNCH: the plant this is part of, if one of these is set:
    int64_t planted_ns; // this much of ns
    bool planted_gap;   // and the idle time before it
    // What the work belongs to.
    const char *path; // LAUNCH and similar: modules around it, joined by slashes
    enum phase phase;
    int64_t flops, least_bytes; // BEGIN of an operator: work of a call, 0 if not known
    const char *dims;           // BEGIN of an operator with work: shapes of its inputs
};

struct program {
    struct instruction *instructions;
    size_t count, capacity;
    int32_t slots;       // collectives per step
    int32_t sequences;   // autograd sequence numbers per step
    int32_t tensors;     // tensors allocated per step
    int64_t base_bytes;  // memory allocated before the recording
    int64_t spare_bytes; // and reserved but unused
    int64_t events;      // rows in the trace per step and rank
    int64_t slow_op_ns;  // device time per step added by a slow operator, before noise
    void **texts;        // memory owned by the program
    size_t text_count, text_capacity;
};

// The caller frees it with program_free. Layers are chosen to reach the wanted events per step
// unless the command line fixes them.
struct program *program_build(const struct arguments *arguments);
void program_free(struct program *program);
