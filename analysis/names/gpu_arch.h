// SPDX-License-Identifier: Apache-2.0
// The architecture that a device runs natively, by its name.
#ifndef ANALYSIS_GPU_ARCH_H
#define ANALYSIS_GPU_ARCH_H

#include "ingest/base/str.h"

#include <stdint.h>

// 90 for "NVIDIA H100 80GB HBM3"; 80 for all of the Ampere and Ada generations, whose libraries
// share kernels; 0 for devices that are not in the table, and for those of AMD, which only run code
// built for them.
int32_t gpu_arch_sm(struct str gpu);

#endif
