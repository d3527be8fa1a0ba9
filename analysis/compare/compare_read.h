// SPDX-License-Identifier: Apache-2.0
// How the runs of a comparison are read: which rank represents each; and the words about it.
#ifndef ANALYSIS_COMPARE_READ_H
#define ANALYSIS_COMPARE_READ_H

#include "analysis/compare/compare.h"
#include "analysis/compare/words.h"

// The slowest rank, else the headline rank. Where all ranks wait for
// each other, chance chooses the headline rank, and the parts of a straggler's step are others than
// those of a rank that waits for it. So `like`, the rank of the base's first run (-1: this is that
// run), is preferred to the headline rank where their median steps are within 1 %.
struct compare_rank compare_rank_of(const struct report *run, bool slowest, int64_t like);

// "; on rank 1 of both sides", if a run has several ranks; and how many runs are copies. Needs no
// tables.
void compare_read_say(const struct compare_side *base, const struct compare_side *cand,
                      struct words *words);

#endif
