// SPDX-License-Identifier: Apache-2.0
// The table of analyses of one trace, and running them.
#include "analysis/trace/analyses.h"

#include "analysis/analysis.h"
#include "analysis/replay/finding_gain.h"
#include "analysis/replay/replay_rows.h"

#include "ingest/base/crew.h"

// None of these reads another's output, so they run in parallel. Their rows come in this order.
static const struct analysis *const independent[] = {
    &breakdown_analysis,     &step_table_analysis,   &classes_analysis,
    &kernels_analysis,       &part_rows_analysis,    &collectives_analysis,
    &short_kernels_analysis, &launches_analysis,     &environment_analysis,
    &trust_analysis,         &operators_analysis,    &op_shapes_analysis,
    &op_tree_analysis,       &modules_analysis,      &categories_analysis,
    &uncategorized_analysis, &idle_causes_analysis,  &idle_gaps_analysis,
    &stream_idle_analysis,   &queues_analysis,       &launch_delays_analysis,
    &roofline_analysis,      &memory_use_analysis,   &copies_analysis,
    &communication_analysis, &recording_analysis,    &counters_analysis,
    &phases_analysis,        &kernel_rates_analysis, &kernel_shapes_analysis,
    &device_places_analysis, &busy_series_analysis,
};

enum { INDEPENDENT = sizeof independent / sizeof *independent };

// The one that reads its rows, and so runs after it, in the same report; NULL: none.
static const struct analysis *reader_of(const struct analysis *analysis)
{
    return analysis == &communication_analysis ? &ranges_analysis : NULL;
}

// The analyses that take most time, with their readers; they start first.
static bool is_long(const struct analysis *analysis)
{
    return analysis == &communication_analysis || analysis == &kernels_analysis ||
           analysis == &roofline_analysis;
}

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
    const struct analysis *reader = reader_of(part->analysis);
    return conduct(part->analysis, part->facts, &part->report, err) &&
           (!reader || conduct(reader, part->facts, &part->report, err));
}

// The what-if figures of a trace, and the replay with which the findings simulate afterwards.
struct replay {
    const struct facts *facts;
    struct whatif whatif;
    struct arena arena; // of the replay
    struct arena rows;
    struct report report;
};

static void open_replay(struct replay *replay, const struct facts *facts)
{
    *replay = (struct replay){.facts = facts};
    arena_init(&replay->arena, facts->budget);
    arena_init(&replay->rows, facts->budget);
    replay->report.arena = &replay->rows;
}

static void close_replay(struct replay *replay)
{
    arena_free(&replay->arena);
    arena_free(&replay->rows);
}

static bool run_replay(void *context, struct err *err)
{
    struct replay *replay = context;
    return replay_of_trace(replay->facts, &replay->arena, &replay->whatif, &replay->report, err) ||
           err_wrap(err, "analysis replay");
}

static size_t add_parts(struct crew_task *tasks, struct part *parts, bool longest)
{
    size_t count = 0;
    for (int i = 0; i < INDEPENDENT; i++)
        if (is_long(independent[i]) == longest)
            tasks[count++] = (struct crew_task){.run = run_part, .context = &parts[i]};
    return count;
}

// The longest tasks start first; but while there is no helper yet, one could not come before such a
// task is done. Without cores the replay, which is refused where memory is short, leaves it to the
// others. The report follows the order of the table.
static bool run_tasks(struct part *parts, struct replay *replay, struct cores *cores,
                      struct err *err)
{
    struct crew_task tasks[INDEPENDENT + 1];
    bool has_helper = cores_free(cores) > 0;
    size_t count = has_helper ? 0 : add_parts(tasks, parts, false);
    if (cores)
        tasks[count++] = (struct crew_task){.run = run_replay, .context = replay};
    count += add_parts(tasks + count, parts, true);
    count += has_helper ? add_parts(tasks + count, parts, false) : 0;
    if (!cores)
        tasks[count++] = (struct crew_task){.run = run_replay, .context = replay};
    return crew_run(cores, tasks, count, err);
}

static void open_parts(struct part *parts, const struct facts *facts)
{
    for (int i = 0; i < INDEPENDENT; i++) {
        parts[i] = (struct part){.analysis = independent[i], .facts = facts};
        arena_init(&parts[i].arena, facts->budget);
        parts[i].report.arena = &parts[i].arena;
    }
}

static bool join_parts(struct part *parts, struct report *report, struct err *err)
{
    bool ok = true;
    for (int i = 0; ok && i < INDEPENDENT; i++)
        ok = report_join(report, &parts[i].report, err);
    return ok;
}

static void close_parts(struct part *parts)
{
    for (int i = 0; i < INDEPENDENT; i++)
        arena_free(&parts[i].arena);
}

// Findings read the tables and simulate by the replay.
static bool conclude(const struct facts *facts, struct replay *replay, struct report *report,
                     struct err *err)
{
    const struct finding_simulator simulator = {finding_gain, &replay->whatif};
    struct arena scratch;
    arena_init(&scratch, facts->budget);
    bool ok = report_join(report, &replay->report, err) &&
              (findings_of_trace(facts, &simulator, &scratch, report, err) ||
               err_wrap(err, "analysis findings"));
    arena_free(&scratch);
    return ok && conduct(&summary_analysis, facts, report, err);
}

// Starts over, one task after the other on the calling thread.
static bool run_again(struct part *parts, struct replay *replay, const struct facts *alone,
                      struct err *err)
{
    close_parts(parts);
    close_replay(replay);
    open_parts(parts, alone);
    open_replay(replay, alone);
    return run_tasks(parts, replay, NULL, err);
}

// What a trace's budget allows must not depend on how many cores happen to be free.
static bool run_all(const struct facts *facts, struct report *report, struct err *err)
{
    struct analysis_options options =
        facts->options ? *facts->options : (struct analysis_options){0};
    struct facts alone = *facts;
    struct replay replay;
    struct part *parts = arena_array(facts->arena, INDEPENDENT, sizeof *parts, err);
    if (!parts)
        return false;
    options.cores = NULL;
    alone.options = facts->options ? &options : NULL;
    open_parts(parts, facts);
    open_replay(&replay, facts);
    bool ok = run_tasks(parts, &replay, facts_cores(facts), err);
    bool is_short = ok ? replay.whatif.refused != NULL : err->code == ERR_LIMIT;
    if (is_short && facts->budget && facts->budget->refused && facts_cores(facts))
        ok = run_again(parts, &replay, &alone, err);
    ok = ok && join_parts(parts, report, err) && conclude(facts, &replay, report, err);
    close_parts(parts);
    close_replay(&replay);
    return ok;
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
