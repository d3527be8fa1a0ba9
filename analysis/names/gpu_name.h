// SPDX-License-Identifier: Apache-2.0
// Names of devices that the driver does not name, or not exactly.
#ifndef ANALYSIS_GPU_NAME_H
#define ANALYSIS_GPU_NAME_H

#include "ingest/base/str.h"

// Between the name of a device and the number of compute units of a part of it.
#define GPU_NAME_PARTITION " partition of "

// The recorded name; if that is empty or generic ("AMD Radeon Graphics"), the one recognized by the
// number of compute units and the memory, if the table has it. ROCm's "AMD Instinct MI250X / MI250"
// is an MI250 if it has that one's compute units.
struct str gpu_name(struct str recorded, int64_t compute_units, int64_t memory_bytes);

// Whether a device has fewer compute units than one of its name: the partitions of an AMD GPU have
// the name of the whole. 0 units: unknown.
bool gpu_name_is_part(struct str name, int64_t compute_units);

// Its name as people say it: "H100" of "NVIDIA H100 80GB HBM3", "MI300X" of "AMD Instinct MI300X".
struct str gpu_name_short(struct str name);

#endif
