// SPDX-License-Identifier: Apache-2.0
// What the files of a run state of the job, under the standard names of settings.
#ifndef ANALYSIS_RUN_STATED_H
#define ANALYSIS_RUN_STATED_H

#include "analysis/report/report.h"

// The value that the first file states; "" if none does.
struct str run_stated(const struct report *report, const char *standard);

// The same as a whole number above 0, the first that is one; 0 if there is none.
int64_t run_stated_count(const struct report *report, const char *standard);

// Samples per step: as stated, else those of a GPU's pass times passes and data-parallel GPUs, if
// all that is stated; 0 unknown.
int64_t run_stated_batch(const struct report *report);

// Whether what a log calls a step is a batch of one GPU, of which several may be a step, by the
// framework that wrote it.
bool run_counts_batches(struct str framework);

#endif
