// SPDX-License-Identifier: Apache-2.0
// GPUs have a number in the machine and another, the ordinal, in each process, where a variable may
// hide some.
#ifndef INGEST_NSYS_NSYS_GPUS_H
#define INGEST_NSYS_NSYS_GPUS_H

#include "ingest/nsys/nsys.h"

enum { NSYS_MAX_GPUS = 256 };

struct nsys_gpus {
    uint32_t count;
    struct {
        int64_t gpu, ordinal;
    } at[NSYS_MAX_GPUS];
};

MUST_CHECK bool nsys_gpus_read(struct nsys *nsys, struct nsys_gpus *gpus, struct err *err);
// The ordinal of a GPU in the process; false if it is hidden. Where the file does not say, the two
// are the same.
bool nsys_gpus_ordinal(const struct nsys_gpus *gpus, int64_t gpu, int64_t *ordinal);
// Whether the process used the device of an ordinal.
bool nsys_gpus_used(const struct nsys *nsys, int64_t ordinal);

#endif
