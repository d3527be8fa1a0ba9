// SPDX-License-Identifier: Apache-2.0
// Operators that launch one kernel each, for tests of work and its limits.
#ifndef TESTS_UNIT_WORK_HAND_H
#define TESTS_UNIT_WORK_HAND_H

#include "tests/unit/hand_trace.h"

#define BF16 "\"c10::BFloat16\""
#define FP32 "\"float\""
#define H100 "[{\"name\":\"NVIDIA H100 80GB HBM3\",\"numSms\":132,\"totalGlobalMem\":85018279936}]"

#define MM_1024 "[[1024,1024],[1024,1024]]", .types = "[" BF16 "," BF16 "]"

// An operator of 20 us that launches one kernel, which runs during it.
static inline void launch(struct hand *hand, struct hand_event op, const char *kernel,
                          int64_t dur_ns)
{
    op.kind = EVENT_CPU_OP;
    op.row = 1;
    op.pid = 1;
    op.dur_ns = op.dur_ns ? op.dur_ns : 20000;
    hand_add(hand, op);
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = "cudaLaunchKernel",
                                       .pid = 1,
                                       .row = 1,
                                       .begin_ns = op.begin_ns + 1000,
                                       .dur_ns = 1000,
                                       .correlation = op.correlation});
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = kernel,
                                       .row = 7,
                                       .begin_ns = op.begin_ns + 5000,
                                       .dur_ns = dur_ns,
                                       .correlation = op.correlation});
}

// Starts a trace on these devices with a product of 1024 x 1024 x 1024 in bf16 that takes 10 us.
static inline void begin_product(struct hand *hand, const char *devices, const char *kernel)
{
    hand_begin(hand);
    hand_member(hand, "deviceProperties", devices);
    launch(hand, (struct hand_event){.name = "aten::mm", .correlation = 1, .dims = MM_1024}, kernel,
           10000);
}

#endif
