// SPDX-License-Identifier: Apache-2.0
// A longest common subsequence of two sequences that are nearly the same (Myers, "An O(ND)
// difference algorithm and its variations", 1986).
#ifndef ANALYSIS_EDIT_PATH_H
#define ANALYSIS_EDIT_PATH_H

#include "ingest/base/arena.h"

#define EDIT_PATH_NONE UINT32_MAX

// More insertions and deletions than this are not looked for.
#define EDIT_PATH_MAX 512

struct edit_symbols {
    const uint64_t *at;
    uint32_t count;
};

// Finds for each of a's symbols the index of the equal one of b, EDIT_PATH_NONE where there is
// none, both ascending. *found tells whether EDIT_PATH_MAX edits were enough; pairs hold nothing if
// not. Of equally long ones the subsequence that pairs the earliest. Takes up to (count + edits) x
// edits steps and 2 x edits^2 bytes of scratch.
MUST_CHECK bool edit_path_find(struct edit_symbols a, struct edit_symbols b, uint32_t *pairs,
                               struct arena *scratch, bool *found, struct err *err);

#endif
