// SPDX-License-Identifier: Apache-2.0
// Sorts device events into the rows of the table of parts, with as much detail as there is room
// for.
#ifndef ANALYSIS_PART_KEYS_H
#define ANALYSIS_PART_KEYS_H

#include "analysis/facts/facts.h"
#include "analysis/stats/groups.h"

// What distinguishes rows, besides bar, category, operator and kernel.
enum part_detail { PART_SHAPES_AND_MODULES, PART_SHAPES, PART_OPERATORS };

#define PART_OTHER_SHAPES UINT32_MAX // dims of operators whose shapes are merged

struct part {
    str_id op, dims, types;  // 0: none
    uint32_t module;         // index into facts.modules, 0 outside all
    uint32_t device;         // one of its device events
    int64_t calls, owned_ns; // in steady steps
};

struct part_keys {
    struct groups inputs; // (dims, types)
    struct groups calls;  // (operator's name, inputs)
    struct groups places; // (call, module)
    struct groups rows;   // (place, category and name)
    struct part *parts;   // per row, including those without anything in a steady step
    uint32_t used;        // rows with something in a steady step
};

// Linear in launches and device events. Rows live in arena; free the rest with part_keys_free, even
// after a failure.
MUST_CHECK bool part_keys_make(const struct facts *facts, enum part_detail detail,
                               struct arena *arena, struct part_keys *keys, struct err *err);

void part_keys_free(struct part_keys *keys);

#endif
