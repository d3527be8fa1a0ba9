// SPDX-License-Identifier: Apache-2.0
// The table of analyses of one trace, and running them.
#include "analysis/analyses.h"

// In this order; findings read the tables before them, the summary reads all.
static const struct analysis *const analyses[] = {
    &breakdown_analysis,     &step_table_analysis,
    &classes_analysis,       &kernels_analysis,
    &ops_analysis,           &part_rows_analysis,
    &collectives_analysis,   &short_kernels_analysis,
    &launches_analysis,      &environment_analysis,
    &quality_analysis,       &operators_analysis,
    &op_shapes_analysis,     &op_tree_analysis,
    &modules_analysis,       &categories_analysis,
    &uncategorized_analysis, &idle_causes_analysis,
    &idle_gaps_analysis,     &stream_idle_analysis,
    &queues_analysis,        &launch_delays_analysis,
    &work_analysis,          &memory_use_analysis,
    &copies_analysis,        &process_groups_analysis,
    &comm_sizes_analysis,    &recording_analysis,
    &findings_analysis,      &summary_analysis,
};

bool analyse_trace(const struct trace *trace, const struct analysis_options *options,
                   struct report *report, struct err *err)
{
    struct arena arena;
    arena_init(&arena, trace->budget);
    struct facts facts;
    bool ok = facts_make(trace, options, &arena, &facts, err);
    for (size_t i = 0; ok && i < sizeof analyses / sizeof *analyses; i++)
        ok = analyses[i]->run(&facts, report, err) ||
             err_wrap(err, "analysis %s", analyses[i]->name);
    arena_free(&arena);
    return ok;
}
