// SPDX-License-Identifier: Apache-2.0
// Ranks as people read them: 0-7, or 0,8,16.
#ifndef ANALYSIS_RANK_LIST_H
#define ANALYSIS_RANK_LIST_H

#include "ingest/base/buf.h"

// Appends ascending ranks; consecutive ones as first-last.
void rank_list_add(struct buf *out, const int64_t *ranks, size_t count);

#endif
