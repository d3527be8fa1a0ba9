// SPDX-License-Identifier: Apache-2.0
// Names of devices that the driver does not name.
#ifndef ANALYSIS_GPU_NAME_H
#define ANALYSIS_GPU_NAME_H

#include "ingest/base/str.h"

// The recorded name; if that is empty or generic ("AMD Radeon Graphics"), the one recognized by the
// number of compute units and the memory, if the table has it.
struct str gpu_name(struct str recorded, int64_t compute_units, int64_t memory_bytes);

// Its name as people say it: "H100" of "NVIDIA H100 80GB HBM3", "MI300X" of "AMD Instinct MI300X".
struct str gpu_name_short(struct str name);

#endif
