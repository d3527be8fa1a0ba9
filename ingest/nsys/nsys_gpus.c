// SPDX-License-Identifier: Apache-2.0
#include "ingest/nsys/nsys_gpus.h"

struct gpu_walk {
    const struct nsys *nsys;
    struct nsys_gpus *gpus;
};

// Columns: GPU, ordinal and, if the table lists GPUs by process, the process.
static bool take_gpu(void *context, const struct rows *rows, struct err *err)
{
    const struct gpu_walk *walk = context;
    struct nsys_gpus *gpus = walk->gpus;
    int64_t gpu, ordinal, pid;
    (void)err;
    if (!rows_i64(rows, 0, &gpu) || !rows_i64(rows, 1, &ordinal) ||
        (walk->nsys->process != FORMAT_WHOLE && rows->count > 2 &&
         (!rows_i64(rows, 2, &pid) || pid != nsys_pid(walk->nsys->process))))
        return true;
    for (uint32_t i = 0; i < gpus->count; i++)
        if (gpus->at[i].gpu == gpu)
            return true;
    if (gpus->count < NSYS_MAX_GPUS) {
        gpus->at[gpus->count].gpu = gpu;
        gpus->at[gpus->count++].ordinal = ordinal;
    }
    return true;
}

// Newer versions list the devices of each process.
bool nsys_gpus_read(struct nsys *nsys, struct nsys_gpus *gpus, struct err *err)
{
    struct database *database = nsys->tables.database;
    struct gpu_walk walk = {nsys, gpus};
    gpus->count = 0;
    return rows_each(database, "TARGET_INFO_CUDA_DEVICE", "gpuId cudaId pid", take_gpu, &walk,
                     err) &&
           (gpus->count ||
            rows_each(database, "TARGET_INFO_GPU", "id cuDevice", take_gpu, &walk, err));
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
