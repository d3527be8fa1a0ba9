// SPDX-License-Identifier: Apache-2.0
// Sizes in the builds that fuzz: there a small input costs little, and meets the borders of blocks
// that elsewhere only large ones reach.
#ifndef INGEST_BASE_FUZZED_H
#define INGEST_BASE_FUZZED_H

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define FUZZED_SIZE(usual, fuzzed) (fuzzed)
#else
#define FUZZED_SIZE(usual, fuzzed) (usual)
#endif

#endif
