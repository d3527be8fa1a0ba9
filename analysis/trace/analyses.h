// SPDX-License-Identifier: Apache-2.0
// The analyses of one trace, each in the file of its name.
#ifndef ANALYSIS_ANALYSES_H
#define ANALYSIS_ANALYSES_H

#include "analysis/facts/facts.h"

// One analysis of one trace. It reads the trace and the facts and adds rows to the report; scratch
// is freed after it.
struct analysis {
    const char *name;
    bool (*run)(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err);
};

extern const struct analysis breakdown_analysis;
extern const struct analysis step_table_analysis;
extern const struct analysis classes_analysis;
extern const struct analysis kernels_analysis;
extern const struct analysis kernel_rates_analysis;
extern const struct analysis kernel_shapes_analysis;
extern const struct analysis part_rows_analysis;
extern const struct analysis collectives_analysis;
extern const struct analysis short_kernels_analysis;
extern const struct analysis launches_analysis;
extern const struct analysis environment_analysis;
extern const struct analysis device_places_analysis;
extern const struct analysis busy_series_analysis;
extern const struct analysis trust_analysis;
extern const struct analysis operators_analysis;
extern const struct analysis op_shapes_analysis;
extern const struct analysis op_tree_analysis;
extern const struct analysis modules_analysis;
extern const struct analysis ranges_analysis; // reads the rows of communication in the report
extern const struct analysis categories_analysis;
extern const struct analysis uncategorized_analysis;
extern const struct analysis idle_causes_analysis;
extern const struct analysis idle_gaps_analysis;
extern const struct analysis idle_gap_list_analysis; // every gap of all devices merged
extern const struct analysis stream_idle_analysis;
extern const struct analysis queues_analysis;
extern const struct analysis launch_delays_analysis;
extern const struct analysis roofline_analysis;
extern const struct analysis memory_use_analysis;
extern const struct analysis copies_analysis;
extern const struct analysis communication_analysis;
extern const struct analysis comm_sizes_analysis; // of these only the sizes
extern const struct analysis phases_analysis;
extern const struct analysis recording_analysis;
extern const struct analysis counters_analysis;
extern const struct analysis summary_analysis;

#endif
