// SPDX-License-Identifier: Apache-2.0
// Statements that make an export of Nsight Systems.
#ifndef TESTS_UNIT_NSYS_HAND_H
#define TESTS_UNIT_NSYS_HAND_H

#include "tests/unit/foreign_database.h"

// globalPid and globalTid of process 100 + n and its thread 7.
#define P0 "1677721600"
#define T0 "1677721607"
#define P1 "1694498816"
#define T1 "1694498823"

#define STRINGS                                                                           \
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL);"                \
    "INSERT INTO StringIds VALUES(1, 'gemm'), (2, 'cudaLaunchKernel_v7000_ptsz'),"        \
    "(3, 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL'), (4, 'ncclAllReduce'), (5, 'poll')," \
    "(6, 'registered'), (7, 'ncclDevKernel_SendRecv'), (8, 'MPI_Barrier');"
#define KERNELS                                                                         \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, "          \
    "correlationId, globalPid, demangledName, shortName, gridX, gridY, gridZ, blockX, " \
    "blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory);"
#define KERNEL(start, end, correlation, process, name)                                    \
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(" start "," end ", 0, 7, " correlation \
    "," process "," name "," name ", 4, 2, 1, 128, 1, 1, 40, 1000, 24);"
#define CALLS                                                                      \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, " \
    "correlationId, nameId);"
#define CALL(start, end, thread, correlation)                                                     \
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(" start "," end ", 0," thread "," correlation \
    ", 2);"
#define RANGES                                                                                \
    "CREATE TABLE NVTX_EVENTS(start, end, eventType, text, textId, globalTid, endGlobalTid, " \
    "domainId, binaryData);"
#define RANGE(start, end, type, text)                                               \
    "INSERT INTO NVTX_EVENTS VALUES(" start "," end "," type "," text ", NULL, " T0 \
    ", NULL, 0, NULL);"

static inline struct trace *open_one(struct foreign_file *file, const char *sql)
{
    foreign_open(file, sql);
    if (file->count != 1)
        fail_msg("found %u traces: %s", file->count, file->err.msg);
    return file->traces[0];
}

static inline struct str name_of(const struct trace *trace, uint32_t event)
{
    return trace_text(trace, trace->name[event]);
}

static inline const struct device_args *device_of(const struct trace *trace, uint32_t event)
{
    return &trace->device_args[trace->args[event]];
}

#endif
