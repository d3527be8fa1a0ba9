// SPDX-License-Identifier: Apache-2.0
// The table of a run's rules, joined with the findings of the headline rank's trace. Each part of
// the headline rank's step is explained once: by the costliest finding first.
#include "analysis/run/findings_run.h"

#include "analysis/report/tables.h"
#include "analysis/report/trust.h"

static const struct run_rule *const rules[] = {
    &finding_run_straggler,      &finding_run_wait,      &finding_run_slow_link,
    &finding_run_small_messages, &finding_run_transfer,  &finding_run_overlap,
    &finding_run_bubble,         &finding_run_imbalance, &finding_run_rates,
    &finding_run_missing,        &finding_run_trust,     &finding_run_jobs,
    &finding_run_throttled,      &finding_run_idle_gpus, &finding_run_loading,
};

#define RULE_COUNT (sizeof rules / sizeof *rules)

// Which parts of the step the rules of one trace explain; the others explain no time.
static const struct {
    const char *rule;
    unsigned bars;
} trace_bars[] = {
    {"starved_data_loading", RUN_BARS_IDLE},
    {"starved_sync", RUN_BARS_IDLE},
    {"starved_allocator", RUN_BARS_IDLE},
    {"launch_bound", RUN_BARS_IDLE},
    {"no_cuda_graphs", RUN_BARS_IDLE},
    {"exposed_communication", RUN_BARS_COMM},
    {"low_overlap", RUN_BARS_MOVE},
    {"small_messages", RUN_BARS_COMM},
    {"unexplained_idle", RUN_BARS_IDLE},
    {"tiny_kernels", RUN_BARS_COMPUTE | RUN_BARS_IDLE},
    {"host_collectives", RUN_BARS_IDLE},
    {"frequent_syncs", RUN_BARS_IDLE},
    {"idle_devices", RUN_BARS_COMPUTE | RUN_BARS_COMM | 1u << BAR_EXPOSED_MEMORY},
    {"blocking_copies", 1u << BAR_EXPOSED_MEMORY | RUN_BARS_IDLE},
    {"exposed_copies", 1u << BAR_EXPOSED_MEMORY},
    {"gemm_precision", 1u << BAR_GEMM},
    {"bf16_unused", 1u << BAR_GEMM},
    {"fp8_unused", 1u << BAR_GEMM},
    {"fp32_without_tensor_cores", 1u << BAR_GEMM | 1u << BAR_OTHER_COMPUTE},
    {"misaligned_products", RUN_BARS_COMPUTE},
    {"older_architecture", RUN_BARS_COMPUTE},
    {"gemm_below_roofline", 1u << BAR_GEMM},
    {"attention_below_roofline", 1u << BAR_ATTENTION},
    {"unfused_attention", RUN_BARS_COMPUTE | 1u << BAR_EXPOSED_MEMORY},
    {"unfused_optimizer", RUN_BARS_COMPUTE | RUN_BARS_IDLE},
    {"recompute", RUN_BARS_COMPUTE},
    {"periodic_slow_steps", RUN_BARS_ALL},
    {"unstable_steps", RUN_BARS_ALL},
    {"slow_calls", RUN_BARS_COMPUTE},
};

// A finding to be added to the table: from a rule of the run, or a row of the headline rank's.
struct entry {
    const struct run_rule *rule; // NULL: of the headline rank
    struct finding finding;
    size_t row;
    struct str name;
    int64_t cost_ns, want_ns; // want: what no finding of the same trace explains
    unsigned bars;
};

struct entries {
    struct entry *all;
    size_t count, cap;
    bool trust_noted;    // by a rule of the run
    int64_t transfer_ns; // exposed, of the headline rank; -1 if its waits are unknown
    unsigned slow_bars;  // what slow steps have more of
    struct str waits;    // the costliest finding of the run that explains waits, NULL: none
};

static bool check_rules(const struct run_case *the_case, struct entries *entries, struct err *err)
{
    bool several = run_has_jobs(the_case);
    for (size_t r = 0; r < RULE_COUNT; r++) {
        struct entry *entry = &entries->all[entries->count];
        bool fires = false;
        *entry = (struct entry){.rule = rules[r], .bars = rules[r]->bars};
        if (several && !rules[r]->of_data)
            continue;
        if (!rules[r]->check(the_case, &fires, &entry->finding, err))
            return false;
        if (!fires)
            continue;
        entry->name = str_of(rules[r]->about->name);
        entry->bars = entry->finding.bars ? entry->finding.bars : entry->bars;
        entry->cost_ns = entry->finding.cost_ns;
        entry->want_ns = entry->finding.explained_by ? 0 : entry->cost_ns;
        if (rules[r] == &finding_run_jobs)
            entry->cost_ns = INT64_MAX; // comes first
        entries->trust_noted |= rules[r] == &finding_run_trust;
        entries->count++;
    }
    return true;
}

static void find_waits(struct entries *entries)
{
    int64_t most_ns = 0;
    for (size_t i = 0; i < entries->count; i++) {
        const struct entry *entry = &entries->all[i];
        if (!(entry->bars & RUN_BARS_WAIT) || entry->cost_ns <= most_ns)
            continue;
        most_ns = entry->cost_ns;
        entries->waits = entry->name;
    }
}

static unsigned bars_of(struct str rule)
{
    for (size_t i = 0; i < sizeof trace_bars / sizeof *trace_bars; i++)
        if (str_equal(rule, str_of(trace_bars[i].rule)))
            return trace_bars[i].bars;
    return 0;
}

// Whether the run's rules cover better what a rule found in the headline rank's trace.
static bool is_covered(const struct entries *entries, struct str rule)
{
    static const char *const of_waits[] = {"exposed_communication", "small_messages",
                                           "low_overlap"};
    if (str_equal(rule, STR("data_quality")))
        return entries->trust_noted;
    return entries->transfer_ns >= 0 &&
           str_is_one_of(rule, of_waits, sizeof of_waits / sizeof *of_waits);
}

// What no other remaining finding of the trace explains.
static int64_t want_of(const struct entries *entries, const struct table *own, size_t row)
{
    int64_t cost_ns = table_i64(own, row, FINDINGS_COST_NS, 0);
    bool freed = table_is(own, row, FINDINGS_OVERLAPS, STR("exposed_communication"));
    return entries->transfer_ns >= 0 && freed ? cost_ns
                                              : table_i64(own, row, FINDINGS_OWN_COST_NS, cost_ns);
}

static void take_own(const struct table *own, struct entries *entries)
{
    for (size_t i = 0; own && i < own->row_count; i++) {
        struct str rule = table_cell(own, i, FINDINGS_RULE)->s;
        if (is_covered(entries, rule))
            continue;
        unsigned bars = bars_of(rule);
        entries->all[entries->count++] =
            (struct entry){.row = i,
                           .name = rule,
                           .cost_ns = table_i64(own, i, FINDINGS_COST_NS, 0),
                           .want_ns = want_of(entries, own, i),
                           .bars = bars == RUN_BARS_ALL ? entries->slow_bars : bars};
    }
}

// Sorts by cost; equal ones keep their order.
static void order(struct entries *entries)
{
    for (size_t i = 1; i < entries->count; i++) {
        struct entry entry = entries->all[i];
        size_t at = i;
        for (; at > 0 && entries->all[at - 1].cost_ns < entry.cost_ns; at--)
            entries->all[at] = entries->all[at - 1];
        entries->all[at] = entry;
    }
}

// What is left of each part of the step, and who took most of it: over all findings, and over those
// of the run's own rules.
struct sharing {
    int64_t left_ns[RUN_PART_COUNT], most_ns[RUN_PART_COUNT], rule_ns[RUN_PART_COUNT];
    struct str taker[RUN_PART_COUNT], rule[RUN_PART_COUNT];
};

// What a finding explains besides the costlier ones.
struct shared {
    int64_t own_ns;
    struct str overlaps; // the costlier one with most of the shared parts, NULL: none
};

static void take(struct sharing *sharing, int part, const struct entry *entry, int64_t got_ns)
{
    sharing->left_ns[part] -= got_ns;
    if (got_ns > sharing->most_ns[part]) {
        sharing->most_ns[part] = got_ns;
        sharing->taker[part] = entry->name;
    }
    if (entry->rule && got_ns > sharing->rule_ns[part]) {
        sharing->rule_ns[part] = got_ns;
        sharing->rule[part] = entry->name;
    }
}

// Waits come first: they are the last part. Findings of one trace have already divided their time,
// event by event, so only a rule of the run can take some of it.
static struct shared share(struct sharing *sharing, const struct entry *entry)
{
    const int64_t *had_ns = entry->rule ? sharing->most_ns : sharing->rule_ns;
    const struct str *takers = entry->rule ? sharing->taker : sharing->rule;
    int64_t want_ns = entry->want_ns, most_ns = 0;
    struct shared shared = {.own_ns = 0};
    for (int part = RUN_PART_COUNT - 1; part >= 0 && want_ns > 0; part--) {
        if (!(entry->bars >> part & 1))
            continue;
        int64_t left_ns = sharing->left_ns[part];
        int64_t got_ns = want_ns < left_ns ? want_ns : left_ns;
        if (had_ns[part] > most_ns) {
            most_ns = had_ns[part];
            shared.overlaps = takers[part];
        }
        take(sharing, part, entry, got_ns);
        want_ns -= got_ns;
    }
    shared.own_ns = entry->want_ns - want_ns;
    if (want_ns == 0 || (!entry->rule && most_ns == 0))
        shared = (struct shared){.own_ns = entry->want_ns};
    if (entry->finding.explained_by)
        shared.overlaps = str_of(entry->finding.explained_by);
    return shared;
}

static bool add_rule(const struct run_case *the_case, const struct entry *entry,
                     const struct shared *shared, struct report *report, struct err *err)
{
    struct finding_cost cost = {the_case->step_ns, shared->own_ns, shared->overlaps.at, NULL};
    struct row row = {.desc = &table_run_findings};
    return findings_row(&row, entry->rule->about, &entry->finding, &cost, the_case->arena, err) &&
           row_end(&row, report, err);
}

// The row of the headline rank's findings, with its own cost and overlap unchanged.
static void copy_own(const struct run_case *the_case, size_t own_row, struct row *row)
{
    row_i64(row, RUN_FINDINGS_RANK, the_case->headline);
    row_copy(row, RUN_FINDINGS_FINDING, the_case->own, own_row, FINDINGS_FINDING);
}

// A finding of one trace may share its time with one that the run covers better, through its waits.
static bool add_own(const struct run_case *the_case, const struct entries *entries,
                    const struct entry *entry, const struct shared *shared, struct report *report,
                    struct err *err)
{
    const struct cell *overlaps = table_cell(the_case->own, entry->row, FINDINGS_OVERLAPS);
    struct row row = {.desc = &table_run_findings};
    copy_own(the_case, entry->row, &row);
    row_i64(&row, RUN_FINDINGS_OWN_COST_NS, shared->own_ns);
    if (shared->overlaps.at)
        row_text(&row, RUN_FINDINGS_OVERLAPS, shared->overlaps);
    else if (shared->own_ns == entry->cost_ns)
        row_word(&row, RUN_FINDINGS_OVERLAPS, NULL);
    else if (!overlaps->null && is_covered(entries, overlaps->s))
        row_text_if(&row, RUN_FINDINGS_OVERLAPS, entries->waits.at != NULL, entries->waits);
    return row_end(&row, report, err);
}

static bool add_all(const struct run_case *the_case, const struct entries *entries,
                    struct report *report, struct err *err)
{
    struct sharing sharing = {.most_ns = {0}};
    memcpy(sharing.left_ns, the_case->part_ns, sizeof sharing.left_ns);
    for (size_t i = 0; i < entries->count; i++) {
        const struct entry *entry = &entries->all[i];
        struct shared shared = share(&sharing, entry);
        bool ok = entry->rule ? add_rule(the_case, entry, &shared, report, err)
                              : add_own(the_case, entries, entry, &shared, report, err);
        if (!ok)
            return false;
    }
    return true;
}

// Adds findings about what monitors recorded that cost from_ns or more and less than below_ns.
static bool add_hardware(const struct run_case *the_case, int64_t from_ns, int64_t below_ns,
                         struct report *report, struct err *err)
{
    for (size_t r = 0; r < RULE_COUNT && the_case->step_ns > 0; r++) {
        struct entry entry = {.rule = rules[r]};
        bool fires = false;
        if (!rules[r]->of_hardware)
            continue;
        if (!rules[r]->check(the_case, &fires, &entry.finding, err))
            return false;
        entry.cost_ns = entry.finding.cost_ns;
        const struct shared shared = {.own_ns = entry.cost_ns};
        if (fires && entry.cost_ns >= from_ns && entry.cost_ns < below_ns &&
            !add_rule(the_case, &entry, &shared, report, err))
            return false;
    }
    return true;
}

// A run of one trace costs what its trace does.
static bool add_alone(const struct run_case *the_case, struct report *report, struct err *err)
{
    int64_t below_ns = INT64_MAX;
    for (size_t i = 0; the_case->own && i < the_case->own->row_count; i++) {
        struct row row = {.desc = &table_run_findings};
        int64_t cost_ns = table_i64(the_case->own, i, FINDINGS_COST_NS, 0);
        if (!add_hardware(the_case, cost_ns, below_ns, report, err))
            return false;
        below_ns = cost_ns < below_ns ? cost_ns : below_ns;
        copy_own(the_case, i, &row);
        if (!row_end(&row, report, err))
            return false;
    }
    return add_hardware(the_case, INT64_MIN, below_ns, report, err);
}

static struct run_case case_of(const struct run_findings *of, const struct report *report,
                               struct arena *arena)
{
    struct run_case the_case = {
        .report = report,
        .arena = arena,
        .budget = arena->budget,
        .headline = of->headline,
        .steps = of->steps > 0 ? of->steps : 1,
        .all_steps = of->all_steps > 0 ? of->all_steps : 1,
        .per = trust_lacks_steps(report, of->headline) ? "in the recording" : "per step",
        .ranks = of->ranks,
        .own = of->own,
        .rates = of->rates,
        .links = of->links,
        .source = of->source,
        .monitors = of->monitors,
    };
    struct parts mean = parts_per_step(of->steady, the_case.steps);
    memcpy(the_case.part_ns, mean.bar_ns, sizeof mean.bar_ns);
    int64_t *comm_ns = &the_case.part_ns[BAR_EXPOSED_COMM];
    int64_t wait_ns = run_rank_i64(&the_case, RUN_RANKS_EXPOSED_WAIT_NS, of->headline);
    wait_ns = wait_ns < 0 ? 0 : wait_ns < *comm_ns ? wait_ns : *comm_ns;
    the_case.part_ns[RUN_PART_WAIT] = wait_ns;
    *comm_ns -= wait_ns;
    the_case.step_ns = parts_recorded_ns(&mean);
    return the_case;
}

static bool add_shared(const struct run_findings *of, struct run_case *the_case,
                       struct report *report, struct err *err)
{
    struct entries entries = {.cap = RULE_COUNT + (of->own ? of->own->row_count : 0),
                              .transfer_ns = -1};
    entries.all = arena_array(the_case->arena, entries.cap, sizeof *entries.all, err);
    if (!entries.all)
        return false;
    if (the_case->step_ns > 0) {
        if (!run_has_jobs(the_case))
            entries.transfer_ns =
                run_rank_i64(the_case, RUN_RANKS_EXPOSED_TRANSFER_NS, of->headline);
        if (!check_rules(the_case, &entries, err))
            return false;
        find_waits(&entries);
    }
    if (!run_slow_parts(the_case, &entries.slow_bars, err))
        return false;
    take_own(the_case->own, &entries);
    order(&entries);
    return add_all(the_case, &entries, report, err);
}

bool findings_of_run(const struct run_findings *of, struct report *report, struct err *err)
{
    struct budget uncounted = {0};
    struct arena arena;
    arena_init(&arena, report->arena->budget ? report->arena->budget : &uncounted);
    struct run_case the_case = case_of(of, report, &arena);
    bool ok =
        of->ranks > 1 ? add_shared(of, &the_case, report, err) : add_alone(&the_case, report, err);
    run_findings_order(report);
    arena_free(&arena);
    return ok;
}
