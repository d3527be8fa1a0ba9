// SPDX-License-Identifier: Apache-2.0
// The usual order of table rows: longest time first, then by name.
#ifndef ANALYSIS_RANKED_H
#define ANALYSIS_RANKED_H

#include "ingest/base/str.h"

struct ranked {
    int64_t total_ns;
    struct str name;
    uint32_t index; // of the row; breaks ties
};

void ranked_sort(struct ranked *ranked, size_t count);

#endif
