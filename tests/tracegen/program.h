// SPDX-License-Identifier: Apache-2.0
// One training step as a list of instructions that every rank executes, step after step.
#pragma once

#include "tests/tracegen/arguments.h"
#include "tests/tracegen/vendor.h"

#include <stddef.h>
#include <stdint.h>

enum instruction_code {
    CODE_BEGIN,      // a host row opens
    CODE_END,        // the innermost host row of the thread closes
    CODE_THREAD,     // the other host thread takes over
    CODE_LOAD_DATA,  // the host waits for its batch
    CODE_LAUNCH,     // a kernel on the compute stream
    CODE_COPY,       // a batch goes to the device
    CODE_SET,        // a memset on the compute stream
    CODE_TINY,       // unfused small kernels until their planted cost is reached
    CODE_COLLECTIVE, // all ranks meet on the communication stream
    CODE_WAIT,       // the compute stream waits for a collective
    CODE_THROTTLE    // the host waits until the device has little left to do
};

enum row_kind { ROW_OP, ROW_COLLECTIVE_OP, ROW_ANNOTATION, ROW_STEP, ROW_PYTHON };

enum host_thread { THREAD_MAIN, THREAD_AUTOGRAD, THREAD_COUNT };

struct collective {
    const char *args; // JSON members that kernel and record_param_comms share
    int64_t transfer_ns;
};

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
    int32_t slot;  // COLLECTIVE, WAIT: which one
    bool last;     // COLLECTIVE: the one that the optimizer waits for
    bool pageable; // COPY
};

struct program {
    struct instruction *instructions;
    size_t count, capacity;
    int32_t slots;     // collectives per step
    int32_t sequences; // autograd sequence numbers per step
    int64_t events;    // rows of the trace that one step makes on one rank
    void **texts;      // memory owned by the program
    size_t text_count, text_capacity;
};

// The caller frees it with program_free. Layers are chosen to reach the wanted events per step
// when the command line does not fix them.
struct program *program_build(const struct arguments *arguments);
void program_free(struct program *program);
