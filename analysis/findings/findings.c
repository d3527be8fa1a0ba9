// SPDX-License-Identifier: Apache-2.0
// The table of rules; applies each and orders what they find by cost.
#include "analysis/facts/unread_devices.h"
#include "analysis/findings/findings.h"

#include "analysis/findings/findings_work.h"
#include "analysis/report/tables.h"
#include "ingest/base/crew.h"

#include <math.h>

// If rules find the same cost, the first one comes first and explains it.
static const struct finding_rule *const rules[] = {
    &finding_data_loading,
    &finding_sync,
    &finding_allocator,
    &finding_host_collectives,
    &finding_launch_bound,
    &finding_no_graphs,
    &finding_exposed_communication,
    &finding_small_messages,
    &finding_tiny_kernels,
    &finding_low_overlap,
    &finding_idle_devices,
    &finding_blocking_copies,
    &finding_exposed_copies,
    &finding_frequent_syncs,
    &finding_gemm_precision,
    &finding_fp32_simt,
    &finding_misaligned_products,
    &finding_older_architecture,
    &finding_gemm_roofline,
    &finding_attention_roofline,
    &finding_unfused_attention,
    &finding_unfused_optimizer,
    &finding_recompute,
    &finding_periodic_steps,
    &finding_unstable_steps,
    &finding_slow_calls,
    &finding_unexplained_idle, // looks at what the rules above leave
    &finding_memory_leak,
    &finding_memory_full,
    &finding_memory_fragmentation,
    &finding_memory_headroom,
    &finding_bf16_unused,
    &finding_fp8_unused,
    &finding_data_quality,
};

#define RULE_COUNT (sizeof rules / sizeof *rules)

static const char *severity_of(const struct finding *finding, double share)
{
    if (finding->severity)
        return finding->severity;
    if (share >= FINDING_HIGH_SHARE)
        return "high";
    return share >= FINDING_MEDIUM_SHARE ? "medium" : "low";
}

unsigned findings_group(const struct table_desc *desc)
{
    return desc == &table_run_findings ? RUN_FINDINGS_FINDING : FINDINGS_FINDING;
}

bool findings_row(struct row *row, const struct finding_rule *rule, const struct finding *finding,
                  const struct finding_cost *cost, struct arena *arena, struct err *err)
{
    unsigned column = findings_group(row->desc);
    double share = (double)finding->cost_ns / (double)cost->step_ns;
    const char *id = rule->name;
    if (finding->subject)
        id = arena_printf(arena, err, "%s:%s", rule->name, finding->subject);
    row_word(row, column + FINDING_RULE, rule->name);
    row_word(row, column + FINDING_TITLE, finding->title);
    row_word(row, column + FINDING_SEVERITY, severity_of(finding, share));
    row_i64(row, column + FINDING_COST_NS, finding->cost_ns);
    row_f64(row, column + FINDING_COST_SHARE, share);
    row_word(row, column + FINDING_CONFIDENCE, finding->confidence);
    row_word(row, column + FINDING_EVIDENCE, finding->evidence);
    row_word(row, column + FINDING_WHY, rule->why);
    row_word(row, column + FINDING_ADVICE, finding->advice ? finding->advice : rule->advice);
    row_word(row, column + FINDING_METHOD, rule->method);
    row_word(row, column + FINDING_FALSE_ALARMS, rule->false_alarms);
    row_i64(row, column + FINDING_OWN_COST_NS, cost->own_ns);
    row_word(row, column + FINDING_OVERLAPS, cost->overlaps);
    row_word(row, column + FINDING_RANKS, finding->ranks);
    row_word(row, column + FINDING_STEPS, finding->steps);
    row_word(row, column + FINDING_ID, id);
    row_word(row, column + FINDING_CHANGE, rule->change);
    row_i64_if(row, column + FINDING_GAIN_NS, cost->gain_ns, cost->gain_ns ? *cost->gain_ns : 0);
    return id;
}

// What fired, costliest first.
struct found {
    const struct finding_rule *rule[RULE_COUNT];
    struct finding finding[RULE_COUNT];
    size_t count;
};

// One rule, which allocates in a separate arena, so that threads share nothing.
struct check {
    const struct finding_rule *rule;
    struct finding_case the_case;
    struct arena arena;
    struct finding finding;
    bool fires;
};

static bool run_check(void *context, struct err *err)
{
    struct check *check = context;
    if (!check->rule->check(&check->the_case, &check->fires, &check->finding, err))
        return false;
    if (!check->fires) {
        arena_free(&check->arena);
        return true;
    }
    if (check->rule->advice_jax && check->the_case.facts->trace->job.recorder == RECORDER_XLA)
        check->finding.advice = check->rule->advice_jax;
    return findings_tell_odd(&check->the_case, &check->finding, err);
}

static bool keep(const struct finding_case *the_case, struct check *check, struct found *found,
                 struct err *err)
{
    if (check->rule->reads_found) {
        check->the_case.found = found->finding;
        check->the_case.found_count = found->count;
        if (!run_check(check, err))
            return false;
    }
    arena_take(the_case->arena, &check->arena);
    if (!check->fires)
        return true;
    found->rule[found->count] = check->rule;
    found->finding[found->count++] = check->finding;
    return true;
}

static size_t open_checks(const struct finding_case *the_case, struct check *checks,
                          struct crew_task *tasks)
{
    size_t count = 0;
    for (size_t r = 0; r < RULE_COUNT; r++) {
        struct check *check = &checks[r];
        *check = (struct check){.rule = rules[r], .the_case = *the_case};
        arena_init(&check->arena, the_case->arena->budget);
        check->the_case.arena = &check->arena;
        if (!rules[r]->reads_found)
            tasks[count++] = (struct crew_task){.run = run_check, .context = check};
    }
    return count;
}

static void close_checks(struct check *checks)
{
    for (size_t r = 0; r < RULE_COUNT; r++)
        arena_free(&checks[r].arena);
}

static bool run_checks(const struct finding_case *the_case, struct check *checks, struct err *err)
{
    struct crew_task tasks[RULE_COUNT];
    struct cores *cores = facts_cores(the_case->facts);
    bool ok = crew_run(cores, tasks, open_checks(the_case, checks, tasks), err);
    if (ok || err->code != ERR_LIMIT || !cores)
        return ok;
    close_checks(checks); // what a budget allows must not depend on free cores
    return crew_run(NULL, tasks, open_checks(the_case, checks, tasks), err);
}

static bool check_all(const struct finding_case *the_case, struct found *found, struct err *err)
{
    struct check *checks = arena_array(the_case->arena, RULE_COUNT, sizeof *checks, err);
    if (!checks)
        return false;
    bool ok = run_checks(the_case, checks, err);
    for (size_t r = 0; ok && r < RULE_COUNT; r++)
        ok = keep(the_case, &checks[r], found, err);
    close_checks(checks);
    return ok;
}

// The gain of the rule's change, or of a step without the time that the finding claims, as far as
// the trace could be replayed.
static bool find_gain(const struct finding_case *the_case, const struct finding_rule *rule,
                      const struct finding *finding, int64_t *gain_ns)
{
    const struct table *changes = report_find(the_case->report, table_ready_changes.name);
    bool has = rule->change && finding->gain == FINDING_GAIN_OF_CHANGE;
    for (size_t i = 0; changes && has && i < changes->row_count; i++) {
        if (!table_is(changes, i, READY_CHANGES_CHANGE, str_of(rule->change)))
            continue;
        *gain_ns = llround(table_cell(changes, i, READY_CHANGES_GAIN_NS)->f);
        return true;
    }
    return false;
}

// What a step gains without what a finding claims.
struct gain {
    const struct finding_case *the_case;
    const struct finding_simulator *simulator;
    const struct finding *finding;
    bool known;
    int64_t ns;
};

static bool simulate(void *context, struct err *err)
{
    struct gain *gain = context;
    return gain->simulator->gain(gain->simulator->context, gain->the_case, gain->finding,
                                 &gain->known, &gain->ns, err);
}

static bool simulate_all(struct gain *gains, size_t count, struct cores *cores, struct err *err)
{
    struct crew_task tasks[RULE_COUNT];
    size_t task_count = 0;
    for (size_t f = 0; f < count; f++) {
        const struct finding *finding = gains[f].finding;
        if (finding->claim && !gains[f].known && finding->gain != FINDING_GAIN_UNKNOWN)
            tasks[task_count++] = (struct crew_task){.run = simulate, .context = &gains[f]};
    }
    return crew_run(cores, tasks, task_count, err);
}

static bool find_gains(const struct finding_case *the_case, const struct found *found,
                       const struct finding_simulator *simulator, struct gain *gains,
                       struct err *err)
{
    const struct budget *budget = the_case->arena->budget;
    struct cores *cores = facts_cores(the_case->facts);
    for (size_t f = 0; f < found->count; f++) {
        gains[f] = (struct gain){the_case, simulator, &found->finding[f], false, 0};
        gains[f].known = find_gain(the_case, found->rule[f], &found->finding[f], &gains[f].ns);
    }
    // What a budget allows must not depend on free cores: those it refused are tried alone.
    return simulate_all(gains, found->count, cores, err) &&
           (!cores || !budget || !budget->refused || simulate_all(gains, found->count, NULL, err));
}

static bool add_all(const struct finding_case *the_case, const struct found *found,
                    const struct finding_simulator *simulator, struct report *report,
                    struct err *err)
{
    const struct finding *ordered[RULE_COUNT];
    int64_t own_ns[RULE_COUNT];
    uint32_t order[RULE_COUNT], overlaps[RULE_COUNT];
    struct gain gains[RULE_COUNT];
    findings_order(found->finding, found->count, order);
    for (size_t f = 0; f < found->count; f++)
        ordered[f] = &found->finding[order[f]];
    if (!findings_share_out(the_case, ordered, found->count, own_ns, overlaps, err) ||
        !find_gains(the_case, found, simulator, gains, err))
        return false;
    for (size_t f = 0; f < found->count; f++) {
        bool alone = overlaps[f] == FACTS_NONE;
        const struct gain *gain = &gains[order[f]];
        const struct finding_cost cost = {
            ordered[f]->of_all ? the_case->mean_ns : the_case->step_ns, own_ns[f],
            alone ? NULL : found->rule[order[overlaps[f]]]->name, gain->known ? &gain->ns : NULL};
        struct row row = {.desc = &table_findings};
        if (!findings_row(&row, found->rule[order[f]], ordered[f], &cost, the_case->arena, err) ||
            !row_end(&row, report, err))
            return false;
    }
    return true;
}

// --- nothing to judge ----------------------------------------------------------------------------

static const struct finding_rule no_device_events = {
    .name = "no_device_events",
    .why = "The breakdown needs device events, and the recording has none; the absence of other "
           "findings does not mean that all is well.",
    .advice = "Record the device's work; the recording table says how with this profiler. If that "
              "was done: another profiler may have been using the device's counters, the process "
              "may lack permission to profile, or the recording ended before the device did any "
              "work.",
    .method = "No kernel, copy or memset is in the recording. No direct cost.",
    .false_alarms = "A job that runs only on the host.",
};

static bool add_no_device(const struct facts *facts, struct report *report, struct err *err)
{
    const struct trace *trace = facts->trace;
    struct arena scratch;
    struct finding finding = {.severity = "medium", .confidence = "high"};
    struct finding_cost cost = {.step_ns = 1};
    struct evidence evidence = {0};
    struct row row = {.desc = &table_findings};
    int64_t ops = 0;
    for (uint32_t e = 0; e < trace->event_count; e++)
        ops += trace->kind[e] == EVENT_CPU_OP;
    arena_init(&scratch, facts->budget);
    finding.title = arena_printf(&scratch, err,
                                 "no device work was recorded: %s host operators among %s events",
                                 count_text(ops).text, count_text(trace->event_count).text);
    evidence_add(&evidence, "recording", "device events are missing from the recording");
    finding.evidence = evidence_end(&evidence, &scratch, err);
    const struct unread_devices *unread = unread_devices_of(trace);
    struct finding_rule rule = no_device_events;
    rule.advice = unread ? unread->advice : rule.advice;
    bool ok = finding.title && finding.evidence &&
              findings_row(&row, &rule, &finding, &cost, &scratch, err) &&
              row_end(&row, report, err);
    arena_free(&scratch);
    return ok;
}

bool findings_of_trace(const struct facts *facts, const struct finding_simulator *simulator,
                       struct arena *scratch, struct report *report, struct err *err)
{
    if (facts->device_count == 0)
        return add_no_device(facts, report, err);
    if (facts->steady_count == 0 || parts_recorded_ns(&facts->steady) < facts->steady_count)
        return true;
    struct finding_case the_case;
    struct found found = {0};
    return findings_case_make(facts, report, scratch, &the_case, err) &&
           finding_work_share(&the_case, err) && check_all(&the_case, &found, err) &&
           add_all(&the_case, &found, simulator, report, err);
}
