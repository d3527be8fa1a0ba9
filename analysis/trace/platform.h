// SPDX-License-Identifier: Apache-2.0
// What a trace ran on, in words with the same meaning for every vendor.
#ifndef ANALYSIS_PLATFORM_H
#define ANALYSIS_PLATFORM_H

#include "analysis/facts/facts.h"

struct platform {
    const char *flavour;  // "cuda" or "rocm", NULL if nothing shows it
    struct str framework; // "PyTorch 2.6.0+cu124"; all "" if not recorded
    struct str driver;    // "575.51.03", or what it supports: "CUDA 12.9", "HIP 6.4.43483"
    struct str runtime;   // "CUDA 12.4"
};

// Texts live in arena.
MUST_CHECK bool platform_of(const struct facts *facts, struct arena *arena,
                            struct platform *platform, struct err *err);

#endif
