// SPDX-License-Identifier: Apache-2.0
// Results for people: the table of one trace, or one line of it.
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include "tests/bench/resident.h"
#include "tests/bench/stages.h"

struct results {
    int64_t best_ns[STAGES_MAX]; // 0: not run
    struct lap last;             // what the last lap counted
    struct resident resident;    // the best of all laps; 0: not run
};

// The best time of the row for this yardstick, 0 if it was not run.
int64_t results_best(const struct results *results, enum yardstick yardstick);

void table_print(const char *path, const struct results *results);

// The head of the lines, and one line.
void table_print_line_head(void);
void table_print_line(const char *path, const struct results *results);

#endif
