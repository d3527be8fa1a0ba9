// SPDX-License-Identifier: Apache-2.0
// The table of analyses of one trace, and running them.
#include "analysis/trace/analyses.h"

#include "analysis/analysis.h"
#include "analysis/replay/finding_gain.h"
#include "analysis/replay/replay_rows.h"

#include "ingest/base/crew.h"

// None of these reads another's output, so they run in parallel. Their rows come in this order.
static const struct analysis *const independent[] = {
    &breakdown_analysis,     &step_table_analysis,    &classes_analysis,
    &kernels_analysis,       &part_rows_analysis,     &collectives_analysis,
    &short_kernels_analysis, &launches_analysis,      &environment_analysis,
    &trust_analysis,         &operators_analysis,     &op_shapes_analysis,
    &op_tree_analysis,       &modules_analysis,       &categories_analysis,
    &uncategorized_analysis, &idle_causes_analysis,   &idle_gaps_analysis,
    &stream_idle_analysis,   &queues_analysis,        &launch_delays_analysis,
    &roofline_analysis,      &memory_use_analysis,    &copies_analysis,
    &communication_analysis, &recording_analysis,     &counters_analysis,
    &phases_analysis,        &kernel_rates_analysis,  &ranges_analysis,
    &kernel_shapes_analysis, &device_places_analysis, &busy_series_analysis,
};

enum { INDEPENDENT = sizeof independent / sizeof *independent };

// One independent analysis with a separate report, so that threads share nothing.
struct part {
    const struct analysis *analysis;
    const struct facts *facts;
    struct arena arena;
    struct report report;
};

static bool conduct(const struct analysis *analysis, const struct facts *facts,
                    struct report *report, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, facts->budget);
    bool ok = analysis->run(facts, &scratch, report, err);
    arena_free(&scratch);
    return ok || err_wrap(err, "analysis %s", analysis->name);
}

static bool run_part(void *context, struct err *err)
{
    struct part *part = context;
    return conduct(part->analysis, part->facts, &part->report, err);
}

// The report follows the order of the table, not that of the threads.
static bool run_independent(const struct facts *facts, struct part *parts, struct report *report,
                            struct err *err)
{
    struct crew_task tasks[INDEPENDENT];
    for (int i = 0; i < INDEPENDENT; i++) {
        parts[i] = (struct part){.analysis = independent[i], .facts = facts};
        arena_init(&parts[i].arena, report->arena->budget);
        parts[i].report.arena = &parts[i].arena;
        tasks[i] = (struct crew_task){.run = run_part, .context = &parts[i]};
    }
    bool ok = crew_run(facts->options ? facts->options->cores : NULL, tasks, INDEPENDENT, err);
    for (int i = 0; ok && i < INDEPENDENT; i++)
        ok = report_join(report, &parts[i].report, err);
    for (int i = 0; i < INDEPENDENT; i++)
        arena_free(&parts[i].arena);
    return ok;
}

// The replay takes most memory, so it runs alone; findings read the tables and simulate by it.
static bool conclude(const struct facts *facts, struct report *report, struct err *err)
{
    struct arena arena, scratch;
    struct whatif whatif;
    const struct finding_simulator simulator = {finding_gain, &whatif};
    arena_init(&arena, facts->budget);
    arena_init(&scratch, facts->budget);
    bool ok =
        replay_of_trace(facts, &arena, &whatif, report, err) || err_wrap(err, "analysis replay");
    ok = ok && (findings_of_trace(facts, &simulator, &scratch, report, err) ||
                err_wrap(err, "analysis findings"));
    arena_free(&scratch);
    arena_free(&arena);
    return ok;
}

static bool run_all(const struct facts *facts, struct report *report, struct err *err)
{
    struct part *parts = arena_array(facts->arena, INDEPENDENT, sizeof *parts, err);
    bool ok = parts && run_independent(facts, parts, report, err);
    return ok && conclude(facts, report, err) && conduct(&summary_analysis, facts, report, err);
}

bool analyze_trace(const struct trace *trace, const struct analysis_options *options,
                   struct report *report, struct err *err)
{
    struct arena arena;
    arena_init(&arena, trace->budget);
    struct facts facts;
    bool ok = facts_make(trace, options, &arena, &facts, err) && run_all(&facts, report, err);
    arena_free(&arena);
    return ok;
}
