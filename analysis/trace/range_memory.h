// SPDX-License-Identifier: Apache-2.0
// Which ranges allocations and releases are in.
#ifndef ANALYSIS_RANGE_MEMORY_H
#define ANALYSIS_RANGE_MEMORY_H

#include "analysis/trace/range_tree.h"

// Per event of the trace the bits of the ranges that an allocation or release is in: those open on
// its thread, or else on the main one, as for launches. node_sets: per node of the tree. Memory is
// the tree's; NULL with ERR_LIMIT.
const uint32_t *range_memory_sets(const struct range_tree *tree, const uint32_t *node_sets,
                                  struct err *err);

#endif
