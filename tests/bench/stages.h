// SPDX-License-Identifier: Apache-2.0
// The stages that are measured: one row of the table each.
#ifndef BENCH_STAGES_H
#define BENCH_STAGES_H

#include "tests/bench/lap.h"

// Rows others are compared with.
enum yardstick {
    YARD_NONE,
    YARD_ZSTD,
    YARD_SIMDJSON,
    YARD_SCAN,
    YARD_SEAL,
    YARD_ANALYZE,
    YARD_WHOLE
};

struct stage {
    const char *name;
    const char *heading; // printed above it, NULL mostly
    enum yardstick yardstick;
    // Does the work and returns how long it took; what it needs from earlier stages is not counted.
    // Leaves 0 if there is nothing to measure here.
    bool (*run)(struct lap *lap, const struct stage *stage, int64_t *took_ns, struct err *err);
    const struct analysis *analysis;     // for the row of a single analysis
    enum simdjson_fields simdjson_reads; // for rows of simdjson
    const char *variant;                 // for rows of the index: which one, NULL for the fastest
    bool has_helpers;                    // takes other cores of the machine as well
    bool needs_text;                     // of the corpus, in memory
};

extern const struct stage stages[];
extern const unsigned stage_count;

#define STAGES_MAX 64

// The run function of the facts row, which identifies that row.
bool stages_facts(struct lap *lap, const struct stage *stage, int64_t *took_ns, struct err *err);

#endif
