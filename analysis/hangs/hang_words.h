// SPDX-License-Identifier: Apache-2.0
// Ranks, operations and groups as sentences and tables name them.
#ifndef ANALYSIS_HANGS_HANG_WORDS_H
#define ANALYSIS_HANGS_HANG_WORDS_H

#include "analysis/hangs/hang_judge.h"
#include "ingest/base/buf.h"

// "0-7,9"; of more than 64 the first, and how many there are.
void hang_add_ranks(struct buf *out, const int64_t *ranks, size_t count);
// With "rank" or "ranks" before.
void hang_add_named_ranks(struct buf *out, const int64_t *ranks, size_t count);

// The members of a case in some roles (bits 1 << enum hang_role), ascending, for as long as the
// arena lives. NULL without memory.
MUST_CHECK const int64_t *hang_members(const struct hang_case *one, unsigned roles,
                                       struct arena *arena, size_t *count, struct err *err);

// "all_reduce of [[4, 2]] BFloat16".
void hang_add_call(struct buf *out, const struct flight *flight, const struct flight_entry *entry);
// "all_reduce number 41 of TENSOR_MODEL_PARALLEL_GROUP".
void hang_add_place(struct buf *out, const struct flight *flight, const struct flight_entry *entry);

#endif
