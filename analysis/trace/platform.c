// SPDX-License-Identifier: Apache-2.0
// Which vendor's platform a trace ran on.
#include "analysis/trace/platform.h"

static const char *flavour_of_call(struct str name)
{
    if (str_starts_with(name, STR("hip")))
        return "rocm";
    return str_starts_with(name, STR("cu")) ? "cuda" : NULL; // cudaLaunchKernel, cuLaunchKernel
}

static const char *flavour_of_key(struct str key)
{
    static const char *const rocm[] = {"hip_", "roctracer_", "rocprofiler"};
    static const char *const cuda[] = {"cuda_", "cupti_"};
    for (size_t i = 0; i < sizeof rocm / sizeof *rocm; i++)
        if (str_starts_with(key, str_of(rocm[i])))
            return "rocm";
    for (size_t i = 0; i < sizeof cuda / sizeof *cuda; i++)
        if (str_starts_with(key, str_of(cuda[i])))
            return "cuda";
    return NULL;
}

// By the calls that launched its work, else by what the profiler says about itself.
const char *platform_flavour(const struct facts *facts)
{
    const struct trace *trace = facts->trace;
    const char *flavour = NULL;
    for (uint32_t l = 0; !flavour && l < facts->launch_count; l++)
        flavour = flavour_of_call(facts_short_name(trace, trace->name[facts->launches[l].event]));
    for (uint32_t s = 0; !flavour && s < trace->setting_count; s++)
        flavour = flavour_of_key(trace_text(trace, trace->settings[s].key));
    return flavour;
}
