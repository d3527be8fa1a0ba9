// SPDX-License-Identifier: Apache-2.0
#include "ingest/ncu/ncu_says.h"

#include <stddef.h>

const char *ncu_refusal_of(struct str text)
{
    static const struct {
        const char *has, *message;
    } known[] = {
        {"ERR_NVGPUCTRPERM",
         "found an error of Nsight Compute, ERR_NVGPUCTRPERM: the user has no permission to read "
         "the GPU's performance counters, which the host's administrator can grant"},
        {"No kernels were profiled",
         "found what Nsight Compute prints where no kernels were profiled: use --target-processes "
         "all for kernels of processes that the program starts, and check the filters (-k, -s, "
         "-c, --nvtx)"},
        {"==ERROR== ", "found an error of Nsight Compute and no table: record again once ncu ends "
                       "without one"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_find(text, str_of(known[i].has)) != SIZE_MAX)
            return known[i].message;
    return NULL;
}
