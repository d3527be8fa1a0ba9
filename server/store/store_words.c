// SPDX-License-Identifier: Apache-2.0
// What states and parts are called, here and in the API.
#include "server/store/store_inputs.h"

const char *const run_part_columns[PART_COUNT] = {
    "gemm_ns",           "attention_ns",      "other_compute_ns", "exposed_comm_ns",
    "exposed_memory_ns", "idle_host_wait_ns", "idle_other_ns",    "unrecorded_ns",
};

const char *run_status_word(enum run_status status)
{
    static const char *const words[] = {"empty", "pending", "running", "done", "failed", "partial"};
    return words[status];
}

const char *trace_state_word(enum trace_state state)
{
    static const char *const words[] = {"queued", "running", "done", "failed"};
    return words[state];
}

const char *input_kind_word(enum input_kind kind)
{
    static const char *const words[] = {"archive", "trace", "attachment", "skipped"};
    return words[kind];
}
