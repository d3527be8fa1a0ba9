// SPDX-License-Identifier: Apache-2.0
// Groups of a run whose collectives transfer data more slowly than the same ones in other groups.
#ifndef ANALYSIS_RUN_LINKS_H
#define ANALYSIS_RUN_LINKS_H

#include "analysis/ranks/run_comm.h"

// One kind and size of collective in a slow group. Transfer times are medians.
struct slow_link {
    const struct comm_group *group;
    enum collective_kind kind;
    int64_t bytes;
    int64_t transfer_ns, usual_ns; // here, and in the median group
    int64_t excess_ns;             // per call and rank, exposed beyond the usual transfer; total
};

struct run_links {
    struct slow_link *links;     // the one with most excess first
    uint32_t count, group_count; // group_count: number of different groups among them
    int64_t cost_ns;             // excess per steady step on the rank most affected
    const char *list;            // ranks of the first link's group, "" without one
};

// comm must be solved, with dimensions and spans of its groups known. Arrays live in arena. Linear
// in calls.
MUST_CHECK bool run_links_find(const struct run_comm *comm, double slow_ratio, struct arena *arena,
                               struct run_links *links, struct err *err);

#endif
