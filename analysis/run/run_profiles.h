// SPDX-License-Identifier: Apache-2.0
// Launches that a profiler of single kernels measured, beside the same kernels in the run's trace.
#ifndef ANALYSIS_RUN_PROFILES_H
#define ANALYSIS_RUN_PROFILES_H

#include "analysis/report/rank_source.h"

// Finds each launch of kernel_profiles among the kernels of the headline rank, and fills the last
// columns of kernel_profiles and the group profiled of kernels. Nothing for a report without
// kernel_profiles.
MUST_CHECK bool run_join_profiles(const struct rank_source *source, struct report *report,
                                  struct err *err);

#endif
