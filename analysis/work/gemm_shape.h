// SPDX-License-Identifier: Apache-2.0
// Why a matrix product of some shape cannot fill a device.
#ifndef ANALYSIS_GEMM_SHAPE_H
#define ANALYSIS_GEMM_SHAPE_H

#include "analysis/work/work_model.h"

struct gemm_reason {
    char text[160]; // one sentence without a full stop
};

// False if the shape is not the reason, or unknown. The kernel's name gives the size of its tiles
// ("MT64x32x256", "128x256_64x4"); otherwise 128 x 128 is assumed. multiprocessors 0: unknown.
bool gemm_shape_reason(const struct work *work, struct str kernel, int64_t multiprocessors,
                       struct gemm_reason *reason);

#endif
