// SPDX-License-Identifier: Apache-2.0
// What a profiler of single kernels (Nsight Compute) measured of each launch. Figures are in base
// units: ns, bytes, Hz, percent.
#ifndef INGEST_EVIDENCE_KERNEL_PROFILES_H
#define INGEST_EVIDENCE_KERNEL_PROFILES_H

#include "ingest/base/str.h"

#include <stdint.h>

// What is kept of a launch.
enum profile_figure {
    PROFILE_DURATION_NS,
    PROFILE_SM_PERCENT,     // of the peak of the busiest unit of the SMs
    PROFILE_MEMORY_PERCENT, // of the busiest part of the memory system
    PROFILE_DRAM_PERCENT,   // of the peak bandwidth of DRAM
    PROFILE_DRAM_BYTES,     // read and written
    PROFILE_DRAM_READ_BYTES,
    PROFILE_DRAM_WRITE_BYTES,
    PROFILE_DRAM_BPS,
    PROFILE_TENSOR_PERCENT, // of the peak of the tensor pipe
    PROFILE_OCCUPANCY_PERCENT,
    PROFILE_OCCUPANCY_LIMIT_PERCENT,
    PROFILE_L1_HIT_PERCENT,
    PROFILE_L2_HIT_PERCENT,
    PROFILE_WAVES,
    PROFILE_REGISTERS,
    PROFILE_CYCLES_HZ,       // of the SMs, elapsed
    PROFILE_FLOPS_PER_CYCLE, // of the other pipes; a fused multiply-add counts twice
    PROFILE_FLOPS,
    PROFILE_TENSOR_PER_CYCLE, // operations of the tensor pipe
    PROFILE_TENSOR_FLOPS,
    PROFILE_FIGURES
};

// Why warps waited. Families of metrics count this in different ways; their values are never mixed.
enum profile_stall_family {
    PROFILE_STALLS_NONE,
    PROFILE_STALLS_PER_ISSUE,  // warps per issued instruction
    PROFILE_STALLS_PER_ACTIVE, // percent of active warps
    PROFILE_STALLS_SAMPLED,    // samples
    PROFILE_STALLS_NOT_ISSUED, // samples of cycles without an instruction
};

enum { PROFILE_STALLS = 28 };

// The name of a stall, such as "long_scoreboard"; NULL from the last on.
const char *profile_stall_word(unsigned stall);

// The number of a stall by the name; PROFILE_STALLS: unknown.
unsigned profile_stall_of(struct str name);

struct kernel_profile {
    struct str kernel; // as printed
    int64_t launch;    // number in the file; -1 unknown
    int64_t process, device;
    int32_t grid[3], block[3];       // 0: not printed
    struct str capability;           // "9.0"; "" unknown
    double figures[PROFILE_FIGURES]; // NAN: not measured
    double stalls[PROFILE_STALLS];   // NAN: not measured
    enum profile_stall_family family;
};

struct kernel_profiles {
    struct kernel_profile *items;
    size_t count, cap;
    uint64_t left_out;    // launches beyond the limit
    uint64_t metrics;     // values of the details page
    uint64_t not_numbers; // values of which no number could be read
    bool details, comma;  // page and decimal mark
    bool cut;             // the file ends within a row, whose last value is left out
};

enum { PROFILE_MOST_LAUNCHES = 20000 };

struct evidence;
struct budget;
struct err;

// Adds a launch without figures, to be filled in place; NULL past PROFILE_MOST_LAUNCHES, or with
// ERR_LIMIT past the budget.
struct kernel_profile *kernel_profiles_add(struct evidence *evidence, struct err *err);

void kernel_profiles_free(struct kernel_profiles *profiles, struct budget *budget);

#endif
