// SPDX-License-Identifier: Apache-2.0
// Sizes of GPUs' memory from their vendors' data sheets, newest first.
#include "analysis/names/gpu_memory.h"

#define GB ((int64_t)1000000000)

const struct gpu_memory gpu_memories[] = {
    {"GB300", 288 * GB, "NVIDIA GB300 NVL72 data sheet, per GPU"},
    {"B300", 288 * GB, "NVIDIA HGX B300 data sheet: 2.3 TB of 8 GPUs"},
    {"GB200", 186 * GB, "NVIDIA GB200 NVL72 data sheet: 13.4 TB of 72 GPUs"},
    {"B200", 180 * GB, "NVIDIA DGX B200 data sheet: 1,440 GB of 8 GPUs"},
    {"GH200 HBM3e", 144 * GB, "NVIDIA GH200 Grace Hopper Superchip data sheet, HBM3e"},
    {"GH200", 96 * GB, "NVIDIA GH200 Grace Hopper Superchip data sheet, HBM3"},
    {"H200", 141 * GB, "NVIDIA H200 data sheet"},
    {"H100 SXM", 80 * GB, "NVIDIA H100 data sheet, SXM5"},
    {"H100 PCIe", 80 * GB, "NVIDIA H100 data sheet, PCIe"},
    {"H100 NVL", 94 * GB, "NVIDIA H100 data sheet, NVL, per GPU"},
    {"H20", 96 * GB, "NVIDIA H20 data sheet"},
    {"A100 80GB", 80 * GB, "NVIDIA A100 data sheet, 80 GB"},
    {"A100 40GB", 40 * GB, "NVIDIA A100 data sheet, 40 GB"},
    {"A40", 48 * GB, "NVIDIA A40 data sheet"},
    {"A30", 24 * GB, "NVIDIA A30 data sheet"},
    {"A10", 24 * GB, "NVIDIA A10 data sheet"},
    {"L40S", 48 * GB, "NVIDIA L40S data sheet"},
    {"L40", 48 * GB, "NVIDIA L40 data sheet"},
    {"L4", 24 * GB, "NVIDIA L4 data sheet"},
    {"V100 32GB", 32 * GB, "NVIDIA V100 data sheet, 32 GB"},
    {"V100 16GB", 16 * GB, "NVIDIA V100 data sheet, 16 GB"},
    {"T4", 16 * GB, "NVIDIA T4 data sheet; ECC keeps about 2 % of it"},
    {"MI355X", 288 * GB, "AMD Instinct MI355X data sheet"},
    {"MI350X", 288 * GB, "AMD Instinct MI350X data sheet"},
    {"MI325X", 256 * GB, "AMD Instinct MI325X data sheet"},
    {"MI300X", 192 * GB, "AMD Instinct MI300X data sheet"},
    {"MI300A", 128 * GB, "AMD Instinct MI300A data sheet, shared with the CPU"},
    {"MI250X", 64 * GB, "AMD Instinct MI250X data sheet, half of the card, which is two devices"},
    {"MI250", 64 * GB, "AMD Instinct MI250 data sheet, half of the card, which is two devices"},
    {"MI210", 64 * GB, "AMD Instinct MI210 data sheet"},
    {"MI100", 32 * GB, "AMD Instinct MI100 data sheet"},
};
const size_t gpu_memory_count = sizeof gpu_memories / sizeof *gpu_memories;

static struct str without_vendor(struct str name)
{
    static const char *const vendors[] = {"NVIDIA ", "AMD Instinct ", "Tesla "};
    for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++) {
        size_t len = strlen(vendors[i]);
        if (name.len > len && str_equal_nocase((struct str){name.at, len}, str_of(vendors[i])))
            name = (struct str){name.at + len, name.len - len};
    }
    return name;
}

const struct gpu_memory *gpu_memory_find(struct str name)
{
    name = without_vendor(name);
    for (size_t i = 0; i < gpu_memory_count; i++)
        if (str_equal_nocase(name, str_of(gpu_memories[i].name)))
            return &gpu_memories[i];
    return NULL;
}
