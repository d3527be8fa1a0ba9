// SPDX-License-Identifier: Apache-2.0
// The identity of a trace: rank, world size, device name.
#include "analysis/facts/identity.h"
#include "analysis/names/gpu_name.h"

static int64_t known(int64_t number)
{
    return number == VALUE_ABSENT ? 0 : number;
}

// Name of the first device that has one or can be recognized.
static struct str name_of(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct trace_device *device = &trace->devices[i];
        struct str name = gpu_name(trace_text(trace, device->name), known(device->multiprocessors),
                                   known(device->memory_bytes));
        if (name.len)
            return name;
    }
    return STR("");
}

static int64_t from(int64_t number, int64_t least)
{
    return number >= least && number <= INT32_MAX ? number : -1;
}

bool identity_of(const struct trace *trace, struct arena *arena, struct identity *identity,
                 struct err *err)
{
    struct str gpu = name_of(trace);
    *identity = (struct identity){.rank = from(trace->job.rank, 0),
                                  .world_size = from(trace->job.world_size, 1),
                                  .gpu = {arena_strdup(arena, gpu, err), gpu.len}};
    return identity->gpu.at != NULL;
}
