// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocm/rocm_agents.h"

bool rocm_agents_add(struct rocm_agents *agents, const struct rocm_agent *agent,
                     struct trace_builder *builder, struct err *err)
{
    if (agents->count == ROCM_MOST_AGENTS)
        return true;
    agents->at[agents->count++] = *agent;
    struct trace_device device = {.id = agent->device,
                                  .name = agent->name,
                                  .memory_bytes = VALUE_ABSENT,
                                  .multiprocessors = agent->units,
                                  .compute_major = VALUE_ABSENT,
                                  .compute_minor = VALUE_ABSENT};
    return !agent->is_gpu || trace_builder_device(builder, &device, err);
}

const struct rocm_agent *rocm_agents_find(const struct rocm_agents *agents, int64_t id)
{
    for (unsigned i = 0; i < agents->count; i++)
        if (agents->at[i].id == id)
            return &agents->at[i];
    return NULL;
}
