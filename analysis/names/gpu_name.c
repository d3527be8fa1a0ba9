// SPDX-License-Identifier: Apache-2.0
// The table of devices recognized by compute units and memory, the first of equals. Some ROCm
// versions record an empty name, or that of the driver's generic device, for all of them.
#include "analysis/names/gpu_name.h"

#define GIB            ((int64_t)1 << 30)
#define MEMORY_PERCENT 5   // reserved by firmware and virtualization, at most
#define MI250_UNITS    104 // an MI250X has 110

static const struct {
    int64_t compute_units, memory_gib;
    const char *name;
} devices[] = {
    {304, 192, "AMD Instinct MI300X"},           {304, 256, "AMD Instinct MI325X"},
    {228, 128, "AMD Instinct MI300A"},           {80, 192, "AMD Instinct MI308X"},
    {256, 288, "AMD Instinct MI350X or MI355X"}, {110, 64, "AMD Instinct MI250X"},
    {104, 64, "AMD Instinct MI210 or MI250"},    {120, 32, "AMD Instinct MI100"},
    {256, 288, "AMD Instinct MI350X"},           {256, 288, "AMD Instinct MI355X"},
};

static bool is_generic(struct str name)
{
    return name.len == 0 || str_equal(name, STR("AMD Radeon Graphics"));
}

struct str gpu_name(struct str recorded, int64_t compute_units, int64_t memory_bytes)
{
    if (str_equal(recorded, STR("AMD Instinct MI250X / MI250")) && compute_units == MI250_UNITS)
        return STR("AMD Instinct MI250");
    if (!is_generic(recorded))
        return recorded;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        int64_t most = devices[i].memory_gib * GIB, least = most / 100 * (100 - MEMORY_PERCENT);
        if (compute_units == devices[i].compute_units && memory_bytes >= least &&
            memory_bytes <= most)
            return str_of(devices[i].name);
    }
    return recorded;
}

bool gpu_name_is_part(struct str name, int64_t compute_units)
{
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (str_starts_with(name, str_of(devices[i].name)) && compute_units > 0 &&
            compute_units < devices[i].compute_units)
            return true;
    return false;
}

// The size of memory: digits and "GB", with or without a blank between.
static bool starts_with_memory(struct str text)
{
    size_t digits = str_digits_end(text, 0);
    size_t unit = digits + (digits < text.len && text.at[digits] == ' ');
    return digits && str_starts_with((struct str){text.at + unit, text.len - unit}, STR("GB"));
}

static bool starts_with_variant(struct str text)
{
    static const char *const variants[] = {"SXM", "PCIe", "PCIE", "HBM", "VF", "OAM"};
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        if (str_starts_with(text, str_of(variants[i])))
            return true;
    return starts_with_memory(text);
}

struct str gpu_name_short(struct str name)
{
    static const char *const makers[] = {"NVIDIA ", "AMD ", "Instinct ", "GeForce ", "Tesla "};
    static const char end[] = " GPU";
    struct str shorter = name;
    if (shorter.len > sizeof end && memcmp(shorter.at + shorter.len - 4, end, 4) == 0)
        shorter.len -= sizeof end - 1;
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (str_starts_with(shorter, str_of(makers[i])))
            shorter = (struct str){shorter.at + strlen(makers[i]), shorter.len - strlen(makers[i])};
    for (size_t i = 1; i + 1 < shorter.len; i++)
        if ((shorter.at[i] == ' ' || shorter.at[i] == '-') &&
            starts_with_variant((struct str){shorter.at + i + 1, shorter.len - i - 1}))
            return (struct str){shorter.at, i};
    return shorter.len ? shorter : name;
}
