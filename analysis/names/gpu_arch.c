// SPDX-License-Identifier: Apache-2.0
// The table of devices and their architectures.
#include "analysis/names/gpu_arch.h"

static const struct {
    const char *word; // a part of the name; the first that fits decides
    int32_t sm;
} devices[] = {
    {"GB300", 103},    {"B300", 103},    {"GB200", 100}, {"B200", 100},      {"B100", 100},
    {"GH200", 90},     {"H200", 90},     {"H100", 90},   {"H800", 90},       {"H20", 90},
    {"A100", 80},      {"A800", 80},     {"A30", 80},    {"A10", 80},        {"A40", 80},
    {"L40", 80},       {"L4", 80},       {"RTX 40", 80}, {"RTX 30", 80},     {"RTX 50", 120},
    {"PRO 6000", 120}, {"Tesla T4", 75}, {"RTX 20", 75}, {"Tesla V100", 70},
};

int32_t gpu_arch_sm(struct str gpu)
{
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (str_find(gpu, str_of(devices[i].word)) != SIZE_MAX)
            return devices[i].sm;
    return 0;
}
