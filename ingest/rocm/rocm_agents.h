// SPDX-License-Identifier: Apache-2.0
// The agents of a process, which are its CPUs and GPUs.
#ifndef INGEST_ROCM_ROCM_AGENTS_H
#define INGEST_ROCM_ROCM_AGENTS_H

#include "ingest/trace/trace_builder.h"

enum { ROCM_MOST_AGENTS = 1024 };

struct rocm_agent {
    int64_t id, device; // device: its place among GPUs
    bool is_gpu;
    int64_t units; // compute units; VALUE_ABSENT if unknown
    str_id name;
};

struct rocm_agents {
    unsigned count;
    struct rocm_agent at[ROCM_MOST_AGENTS];
};

// Also adds a GPU to the trace. Agents past the most are left out.
MUST_CHECK bool rocm_agents_add(struct rocm_agents *agents, const struct rocm_agent *agent,
                                struct trace_builder *builder, struct err *err);

// NULL if there is none of that id.
const struct rocm_agent *rocm_agents_find(const struct rocm_agents *agents, int64_t id);

#endif
