// SPDX-License-Identifier: Apache-2.0
// Smaller sizes for fuzzing builds: short inputs stay cheap and still reach the block boundaries
// that otherwise only large inputs hit.
#ifndef INGEST_BASE_FUZZED_H
#define INGEST_BASE_FUZZED_H

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define FUZZED_SIZE(usual, fuzzed) (fuzzed)
#else
#define FUZZED_SIZE(usual, fuzzed) (usual)
#endif

#endif
