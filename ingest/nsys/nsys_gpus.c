// SPDX-License-Identifier: Apache-2.0
#include "ingest/nsys/nsys_gpus.h"

static void add(struct nsys_gpus *gpus, int64_t gpu, int64_t ordinal)
{
    for (uint32_t i = 0; i < gpus->count; i++)
        if (gpus->at[i].gpu == gpu)
            return;
    if (gpus->count < NSYS_MAX_GPUS) {
        gpus->at[gpus->count].gpu = gpu;
        gpus->at[gpus->count++].ordinal = ordinal;
    }
}

// Newer versions list the devices of each process.
static bool read_process(struct nsys *nsys, struct nsys_gpus *gpus, struct err *err)
{
    struct rows rows;
    int64_t gpu, ordinal;
    bool ok = rows_open(nsys->database, "TARGET_INFO_CUDA_DEVICE", "gpuId cudaId pid", &rows, err);
    while (ok && rows_next(&rows)) {
        int64_t pid = rows_i64_or(&rows, 2, 0);
        if ((nsys->process == FORMAT_WHOLE || pid == nsys_pid(nsys->process)) &&
            rows_i64(&rows, 0, &gpu) && rows_i64(&rows, 1, &ordinal))
            add(gpus, gpu, ordinal);
    }
    return rows_close(&rows, ok ? err : NULL) && ok;
}

static bool read_machine(struct nsys *nsys, struct nsys_gpus *gpus, struct err *err)
{
    struct rows rows;
    int64_t gpu, ordinal;
    bool ok = rows_open(nsys->database, "TARGET_INFO_GPU", "id cuDevice", &rows, err);
    while (ok && rows_next(&rows))
        if (rows_i64(&rows, 0, &gpu) && rows_i64(&rows, 1, &ordinal))
            add(gpus, gpu, ordinal);
    return rows_close(&rows, ok ? err : NULL) && ok;
}

bool nsys_gpus_read(struct nsys *nsys, struct nsys_gpus *gpus, struct err *err)
{
    gpus->count = 0;
    return read_process(nsys, gpus, err) && (gpus->count || read_machine(nsys, gpus, err));
}

bool nsys_gpus_ordinal(const struct nsys_gpus *gpus, int64_t gpu, int64_t *ordinal)
{
    *ordinal = gpu;
    for (uint32_t i = 0; i < gpus->count; i++)
        if (gpus->at[i].gpu == gpu) {
            *ordinal = gpus->at[i].ordinal;
            return true;
        }
    return gpus->count == 0;
}

bool nsys_gpus_used(const struct nsys *nsys, int64_t ordinal)
{
    return ordinal >= 0 && ordinal < 64 && nsys->used_devices >> ordinal & 1;
}
