// SPDX-License-Identifier: Apache-2.0
// The analyses of one trace, each in the file of its name.
#ifndef ANALYSIS_ANALYSES_H
#define ANALYSIS_ANALYSES_H

#include "analysis/facts.h"

extern const struct analysis breakdown_analysis;
extern const struct analysis step_table_analysis;
extern const struct analysis classes_analysis;
extern const struct analysis kernels_analysis;
extern const struct analysis ops_analysis;
extern const struct analysis part_rows_analysis;
extern const struct analysis collectives_analysis;
extern const struct analysis short_kernels_analysis;
extern const struct analysis launches_analysis;
extern const struct analysis environment_analysis;
extern const struct analysis quality_analysis;
extern const struct analysis findings_analysis;
extern const struct analysis summary_analysis;

#endif
