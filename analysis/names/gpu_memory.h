// SPDX-License-Identifier: Apache-2.0
// How much memory GPUs have, for plans made before there is a trace to show it.
#ifndef ANALYSIS_GPU_MEMORY_H
#define ANALYSIS_GPU_MEMORY_H

#include "ingest/base/str.h"

struct gpu_memory {
    const char *name;   // the common name: "H100 SXM"
    int64_t bytes;      // the data sheet's GB as 1e9; devices report up to 7 % more (GiB)
    const char *source; // the data sheet
};

extern const struct gpu_memory gpu_memories[];
extern const size_t gpu_memory_count;

// By name, ignoring case; also with "NVIDIA" or "AMD Instinct" before it. NULL if not listed.
const struct gpu_memory *gpu_memory_find(struct str name);

#endif
