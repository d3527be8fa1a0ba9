// SPDX-License-Identifier: Apache-2.0
// The tables that the analyses write: their names, columns, units and definitions.
#ifndef ANALYSIS_TABLES_H
#define ANALYSIS_TABLES_H

#include "analysis/report/report.h"

// Tables of one trace (tables_trace.c).
extern const struct table_desc table_summary;
extern const struct table_desc table_breakdown;
extern const struct table_desc table_steps;
extern const struct table_desc table_step_stats;
extern const struct table_desc table_classes;
extern const struct table_desc table_kernels;
extern const struct table_desc table_kernel_rates;
extern const struct table_desc table_step_rates;
extern const struct table_desc table_ops;
extern const struct table_desc table_collectives;
extern const struct table_desc table_short_kernels;
extern const struct table_desc table_launches;
extern const struct table_desc table_parts;
extern const struct table_desc table_quality;
extern const struct table_desc table_findings;
extern const struct table_desc table_environment;

// Details of one trace (tables_ops.c).
extern const struct table_desc table_operators;
extern const struct table_desc table_op_shapes;
extern const struct table_desc table_op_tree;
extern const struct table_desc table_modules;
extern const struct table_desc table_categories;
extern const struct table_desc table_phases;
extern const struct table_desc table_uncategorized;

// Details of one trace (tables_idle.c).
extern const struct table_desc table_idle_causes;
extern const struct table_desc table_idle_gaps;
extern const struct table_desc table_stream_idle;
extern const struct table_desc table_queues;
extern const struct table_desc table_launch_delays;

// Details of one trace (tables_work.c).
extern const struct table_desc table_work;
extern const struct table_desc table_metrics;

// Details of one trace (tables_memory.c).
extern const struct table_desc table_memory;
extern const struct table_desc table_memory_timeline;
extern const struct table_desc table_memory_peak;
extern const struct table_desc table_copies;

// Details of one trace (tables_counters.c).
extern const struct table_desc table_counters;
extern const struct table_desc table_counter_steps;
extern const struct table_desc table_counter_series;

// Details of one trace (tables_comm.c).
extern const struct table_desc table_process_groups;
extern const struct table_desc table_comm_sizes;
extern const struct table_desc table_comm_ops;
extern const struct table_desc table_comm_calls;
#define COMM_TABLE_MAX_CALLS 100000u // later ones are left out, as the trust report says
extern const struct table_desc table_passes;
extern const struct table_desc table_recording;

// Tables of a run (tables_run.c).
extern const struct table_desc table_run_summary;
extern const struct table_desc table_run_ranks;
extern const struct table_desc table_run_breakdown;
extern const struct table_desc table_run_steps;
extern const struct table_desc table_run_step_stats;
extern const struct table_desc table_run_classes;
extern const struct table_desc table_run_kernels;
extern const struct table_desc table_run_ops;
extern const struct table_desc table_run_collectives;
extern const struct table_desc table_run_short_kernels;
extern const struct table_desc table_run_launches;
extern const struct table_desc table_run_quality;
extern const struct table_desc table_run_findings;
extern const struct table_desc table_run_environment;

// Tables of a run that stand on all ranks' collectives (tables_run_comm.c).
extern const struct table_desc table_run_clocks;
extern const struct table_desc table_run_comm_waits;
extern const struct table_desc table_run_lateness;
extern const struct table_desc table_run_rank_steps;
extern const struct table_desc table_run_efficiency;
extern const struct table_desc table_run_strategy;
extern const struct table_desc table_run_pipeline;

// Tables of a comparison (tables_compare.c).
extern const struct table_desc table_compare_summary;
extern const struct table_desc table_compare_runs;
extern const struct table_desc table_compare_settings;
extern const struct table_desc table_compare_waterfall;
extern const struct table_desc table_compare_modules;
extern const struct table_desc table_compare_collectives;
extern const struct table_desc table_compare_ranks;
extern const struct table_desc table_compare_memory;
extern const struct table_desc table_compare_findings;

// NULL-terminated lists of the tables that analyse_trace and analyse_run may write.
extern const struct table_desc *const trace_tables[];
extern const struct table_desc *const run_tables[];

// Those of the ranks' tables that analyse_run loads.
extern const struct table_desc *const run_rank_tables[];

// The tables that analyse_compare must have of each run and its rank, and those that it writes.
extern const struct table_desc *const compare_run_tables[], *const compare_rank_tables[];
extern const struct table_desc *const compare_tables[];

#endif
