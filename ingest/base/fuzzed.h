// SPDX-License-Identifier: Apache-2.0
// What fuzzing builds do otherwise.
#ifndef INGEST_BASE_FUZZED_H
#define INGEST_BASE_FUZZED_H

#include <stdbool.h>
#include <stdint.h>

// Smaller sizes: short inputs stay cheap and still reach the block boundaries that otherwise only
// large inputs hit.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define FUZZED_SIZE(usual, fuzzed) (fuzzed)
#else
#define FUZZED_SIZE(usual, fuzzed) (usual)
#endif

// Whether checksums match, as those of a changed input never would.
static inline bool fuzzed_same(uint64_t stored, uint64_t found)
{
    return FUZZED_SIZE(false, true) || stored == found;
}

#endif
