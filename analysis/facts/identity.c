// SPDX-License-Identifier: Apache-2.0
// The identity of a trace: rank, world size, device name.
#include "analysis/facts/identity.h"
#include "analysis/facts/only_device.h"
#include "analysis/names/gpu_name.h"

#include <inttypes.h>

static int64_t known(int64_t number)
{
    return number == VALUE_ABSENT ? 0 : number;
}

static struct str name_of(const struct trace *trace, const struct trace_device *device)
{
    return gpu_name(trace_text(trace, device->name), known(device->multiprocessors),
                    known(device->memory_bytes));
}

// Whether the events number devices as the list does. Those of PyTorch on ROCm do not: they count
// CPUs as well, or GPUs that the process does not see.
static bool is_numbered_alike(const struct trace *trace)
{
    return trace->job.recorder == RECORDER_NSYS ||
           trace_setting_find(trace, STR("cuda_driver_version")) != NULL;
}

// The one that all work but copies ran on, if it has a name.
static const struct trace_device *device_used(const struct trace *trace)
{
    const struct track *stream = is_numbered_alike(trace) ? only_device(trace) : NULL;
    for (uint32_t i = 0; stream && !stream->pid.text && i < trace->device_count; i++)
        if (trace->devices[i].id == stream->pid.number && name_of(trace, &trace->devices[i]).len)
            return &trace->devices[i];
    return NULL;
}

const struct trace_device *identity_device(const struct trace *trace)
{
    const struct trace_device *found = device_used(trace);
    for (uint32_t i = 0; !found && i < trace->device_count; i++)
        if (name_of(trace, &trace->devices[i]).len)
            found = &trace->devices[i];
    return found || trace->device_count == 0 ? found : trace->devices;
}

// NULL with ERR_LIMIT.
static char *gpu_text(const struct trace *trace, struct arena *arena, struct err *err)
{
    const struct trace_device *device = identity_device(trace);
    if (!device)
        return arena_strdup(arena, STR(""), err);
    struct str name = name_of(trace, device);
    int64_t units = known(device->multiprocessors);
    if (!gpu_name_is_part(name, units))
        return arena_strdup(arena, name, err);
    return arena_printf(arena, err, "%.*s" GPU_NAME_PARTITION "%" PRId64 " compute units",
                        (int)name.len, name.at, units);
}

static int64_t from(int64_t number, int64_t least)
{
    return number >= least && number <= INT32_MAX ? number : -1;
}

bool identity_of(const struct trace *trace, struct arena *arena, struct identity *identity,
                 struct err *err)
{
    char *gpu = gpu_text(trace, arena, err);
    *identity = (struct identity){.rank = from(trace->job.rank, 0),
                                  .world_size = from(trace->job.world_size, 1),
                                  .gpu = str_of(gpu)};
    return gpu != NULL;
}
