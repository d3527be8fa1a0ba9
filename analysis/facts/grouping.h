// SPDX-License-Identifier: Apache-2.0
// Sorts device events into groups by a key, with the durations of each group in order.
#ifndef ANALYSIS_GROUPING_H
#define ANALYSIS_GROUPING_H

#include "analysis/facts/facts.h"
#include "analysis/stats/groups.h"

struct grouping {
    struct groups groups;
    uint32_t *group_of; // per device event: its group, or FACTS_NONE if left out
    uint32_t *first;    // per group, plus one: where its durations start
    int64_t *dur_ns;    // ascending within each group
};

// Gives the key of a device event; false leaves it out.
typedef bool grouping_key(const struct facts *facts, uint32_t device, struct group_key *key);

// Fills only group_of. Arrays live in arena; free the rest with grouping_free.
MUST_CHECK bool grouping_make(const struct facts *facts, grouping_key *key, struct arena *arena,
                              struct grouping *grouping, struct err *err);

// Fills first and dur_ns.
MUST_CHECK bool grouping_sort(const struct facts *facts, struct arena *arena,
                              struct grouping *grouping, struct err *err);

void grouping_free(struct grouping *grouping);

#endif
