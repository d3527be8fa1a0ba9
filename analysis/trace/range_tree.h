// SPDX-License-Identifier: Apache-2.0
// Named ranges (NVTX, roctx, record_function) as a tree, with the device time launched within each.
#ifndef ANALYSIS_RANGE_TREE_H
#define ANALYSIS_RANGE_TREE_H

#include "analysis/facts/facts.h"
#include "analysis/stats/groups.h"

// A call of a range.
struct range_call {
    uint32_t node;
    uint32_t parent; // the call around it, or FACTS_NONE
    uint32_t step;   // index into facts.steps of the one that it starts in, or FACTS_NONE
    int64_t host_ns, owned_ns;
    int64_t first_ns, last_ns; // of its device events
};

// Ranges with the same names down to it. 0 is the root: all device work.
struct range_node {
    uint32_t parent, depth, name; // index into the names
    int64_t children, calls, steps, host_ns;
    int64_t class_ns[DEVICE_CLASS_COUNT], idle_ns; // of its calls, nested ones included
    uint32_t last_step;
};

// A name, or the start that several have in common: "ProfilerStep#".
struct range_name {
    struct str text;
    bool numbered;
};

struct range_tree {
    const struct facts *facts;
    struct arena *arena;
    struct groups by_name;  // (hash, length) of a name
    struct groups by_place; // (parent node, name), node - 1
    struct groups by_step;  // (node, step) that it was entered in
    struct range_name *names;
    size_t name_cap;
    struct range_node *nodes;
    size_t node_cap;
    uint32_t node_count;
    struct range_call *calls;
    size_t call_cap;
    uint32_t call_count;
    uint32_t *call_of;     // per event of the trace, of annotations
    uint32_t *device_call; // per device event: its innermost call, or FACTS_NONE
    int64_t *gap_sum;      // idle time of the gaps before each
    uint32_t main_track;
    uint32_t helpers;   // other threads whose collectives were looked up on it
    struct keyed *left; // launches of threads without an open range, by time
    uint32_t left_count;
};

// Device time of a node's calls, nested ones included.
int64_t range_node_ns(const struct range_node *node);

// Whether there is any range.
bool range_tree_has_ranges(const struct trace *trace);

// What is not in arena is freed by range_tree_free, also on failure.
MUST_CHECK bool range_tree_make(const struct facts *facts, struct arena *arena,
                                struct range_tree *tree, struct err *err);
void range_tree_free(struct range_tree *tree);

// The name of a node, with a star for the numbers that were left out; NULL with ERR_LIMIT.
char *range_tree_name(const struct range_tree *tree, const struct range_node *node,
                      struct arena *arena, struct err *err);

// The texts of all names, by name; NULL with ERR_LIMIT.
const char **range_tree_names(const struct range_tree *tree, struct err *err);

// Per node: whether it is within another of its name. NULL with ERR_LIMIT.
const bool *range_tree_nested(const struct range_tree *tree, struct err *err);

// Idle time between the first and the last device event of a call.
int64_t range_tree_idle(const struct range_tree *tree, const struct range_call *call);

// Index of the first gap that starts at a moment or later.
uint32_t range_tree_gap(const struct facts *facts, int64_t now_ns);

#endif
