// SPDX-License-Identifier: Apache-2.0
// A longest common subsequence of two nearly equal sequences (Myers, "An O(ND) difference algorithm
// and its variations", 1986).
#ifndef ANALYSIS_EDIT_PATH_H
#define ANALYSIS_EDIT_PATH_H

#include "ingest/base/arena.h"

#define EDIT_PATH_NONE UINT32_MAX

// Gives up beyond this many insertions and deletions.
#define EDIT_PATH_MAX 512

struct edit_symbols {
    const uint64_t *at;
    uint32_t count;
};

// Sets, for each of a's symbols, the index of the equal one in b, EDIT_PATH_NONE if there is none;
// both ascend. *found is whether EDIT_PATH_MAX edits were enough; otherwise pairs are invalid.
// Among equally long subsequences, the one that pairs earliest. Takes up to (count + edits) x edits
// steps and 2 x edits^2 bytes of scratch.
MUST_CHECK bool edit_path_find(struct edit_symbols a, struct edit_symbols b, uint32_t *pairs,
                               struct arena *scratch, bool *found, struct err *err);

#endif
