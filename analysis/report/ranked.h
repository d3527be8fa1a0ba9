// SPDX-License-Identifier: Apache-2.0
// The common order of table rows: by time, the most first, then by name.
#ifndef ANALYSIS_RANKED_H
#define ANALYSIS_RANKED_H

#include "ingest/base/str.h"

struct ranked {
    int64_t total_ns;
    struct str name;
    uint32_t index; // whose it is; decides between equals
};

void ranked_sort(struct ranked *ranked, size_t count);

#endif
