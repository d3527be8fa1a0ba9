// SPDX-License-Identifier: Apache-2.0
// The rule about optimizers that go over all parameters many times instead of once.
#include "analysis/findings/findings.h"
#include "analysis/stats/groups.h"
#include "ingest/base/search.h"

struct optimizer {
    const struct facts *facts;
    uint8_t *inside;      // per launch: inside Optimizer.step, and not fused
    uint8_t *known_names; // per string: 1 not fused, 2 fused, 0 not looked at
    struct groups names;  // of operators
    int64_t *name_ns;     // per name: owned by its kernels in steady steps
    int64_t kernels, kernel_ns, fused_ns, wait_ns;
    int64_t heaviest_ns; // of one operator
    double saved;        // share of kernel_ns
};

static bool is_fused_name(struct str name)
{
    return str_contains_nocase(name, STR("fused")) ||
           str_contains_nocase(name, STR("AdamFunctor")) ||
           str_contains_nocase(name, STR("SGDFunctor"));
}

// Names may be long and frequent, so each is looked at once.
static bool is_fused(const struct optimizer *optimizer, str_id name)
{
    uint8_t *known = &optimizer->known_names[name];
    if (*known == 0)
        *known = is_fused_name(trace_text(optimizer->facts->trace, name)) ? 2 : 1;
    return *known == 2;
}

// First launch whose event comes after that one.
static uint32_t launch_after(const struct facts *facts, uint32_t event)
{
    return count_upto_u32(FIRST_OF(facts->launches, event), facts->launch_count,
                          sizeof *facts->launches, event);
}

// Launches inside one annotation; events of a row ascend by begin.
static void mark_step(struct optimizer *optimizer, const struct track *track, uint32_t note)
{
    const struct facts *facts = optimizer->facts;
    int64_t end_ns = facts_event_end(facts->trace, note);
    uint32_t past = track->first + track->count;
    for (uint32_t l = launch_after(facts, note); l < facts->launch_count; l++) {
        const struct launch *launch = &facts->launches[l];
        if (launch->event >= past || facts->trace->begin_ns[launch->event] >= end_ns)
            return;
        // Fusing saves passes over memory, not matrix products.
        optimizer->inside[l] = facts->devices[launch->first].bar == BAR_OTHER_COMPUTE;
    }
}

static void mark_steps(struct optimizer *optimizer)
{
    const struct trace *trace = optimizer->facts->trace;
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        int64_t until_ns = INT64_MIN;
        for (uint32_t e = track->first; e < track->first + track->count; e++) {
            if (trace->kind[e] != EVENT_ANNOTATION || trace->begin_ns[e] < until_ns ||
                !str_starts_with(trace_text(trace, trace->name[e]), STR("Optimizer.step#")))
                continue;
            until_ns = facts_event_end(trace, e); // nested ones count once
            mark_step(optimizer, track, e);
        }
    }
}

static bool is_inside(const struct optimizer *optimizer, uint32_t device)
{
    uint32_t launch = optimizer->facts->devices[device].launch;
    return launch != FACTS_NONE && optimizer->inside[launch];
}

static int64_t claim_optimizer(const struct finding_case *the_case, const void *context,
                               const struct atom *atom)
{
    const struct optimizer *optimizer = context;
    (void)the_case;
    if (!atom->gap)
        return is_inside(optimizer, atom->device) ? (int64_t)((double)atom->ns * optimizer->saved)
                                                  : 0;
    bool before = atom->gap->next != FACTS_NONE && is_inside(optimizer, atom->gap->next);
    return before ? findings_wait(atom) : 0;
}

// Sums up the kernels by operator and leaves out fused ones.
static bool sum_kernels(struct optimizer *optimizer, struct err *err)
{
    const struct facts *facts = optimizer->facts;
    for (uint32_t d = 0; d < facts->device_count; d++) {
        uint32_t name;
        int64_t owned_ns = facts->steady_owned_ns[d];
        if (!is_inside(optimizer, d) || !facts_is_steady(facts, d))
            continue;
        if (is_fused(optimizer, facts_device_op(facts, d)) ||
            is_fused(optimizer, facts_device_name(facts, d))) {
            optimizer->fused_ns += owned_ns;
            optimizer->inside[facts->devices[d].launch] = 0;
            continue;
        }
        if (!groups_index(&optimizer->names, facts_device_op(facts, d), 0, &name, err))
            return false;
        optimizer->name_ns[name] += owned_ns;
        if (optimizer->name_ns[name] > optimizer->heaviest_ns)
            optimizer->heaviest_ns = optimizer->name_ns[name];
        optimizer->kernel_ns += owned_ns;
        optimizer->kernels++;
    }
    double once_ns = FINDING_OPTIMIZER_PASSES * (double)optimizer->heaviest_ns;
    if (optimizer->kernel_ns > 0)
        optimizer->saved = 1 - once_ns / (double)optimizer->kernel_ns;
    if (optimizer->saved < 0)
        optimizer->saved = 0;
    return true;
}

static bool measure(const struct finding_case *the_case, struct optimizer *optimizer,
                    struct err *err)
{
    const struct facts *facts = optimizer->facts = the_case->facts;
    optimizer->inside = arena_array(the_case->arena, (size_t)facts->launch_count + 1, 1, err);
    optimizer->known_names =
        arena_array(the_case->arena, (size_t)facts->trace->strings.count + 1, 1, err);
    optimizer->name_ns = arena_array(the_case->arena, (size_t)facts->device_count + 1,
                                     sizeof *optimizer->name_ns, err);
    if (!optimizer->inside || !optimizer->known_names || !optimizer->name_ns)
        return false;
    mark_steps(optimizer);
    groups_init(&optimizer->names, facts->budget);
    bool ok = sum_kernels(optimizer, err);
    groups_free(&optimizer->names);
    return ok;
}

static bool check(const struct finding_case *the_case, bool *fires, struct finding *finding,
                  struct err *err)
{
    struct optimizer *all = arena_array(the_case->arena, 1, sizeof *all, err);
    if (!all || !measure(the_case, all, err))
        return false;
    if (all->kernels < FINDING_OPTIMIZER_KERNELS * the_case->steps ||
        all->fused_ns > all->kernel_ns)
        return true;
    if (!findings_cost(the_case, finding, claim_optimizer, all, err))
        return false;
    *fires = findings_costs(the_case, finding->cost_ns, FINDING_OPTIMIZER_SHARE);
    if (!*fires)
        return true;
    char count[32];
    finding->confidence = "medium";
    finding->title = arena_printf(the_case->arena, err,
                                  "the optimizer runs %s kernels %s; a fused one would save %s "
                                  "(%.1f %%)",
                                  findings_per_step(the_case, all->kernels, count), the_case->per,
                                  time_text(finding->cost_ns).text,
                                  findings_percent(the_case, finding->cost_ns));
    finding->evidence = findings_fact(
        the_case, "kernels?category=elementwise", err,
        "they run %s %s, of which one pass over the parameters needs about %.0f %%",
        time_text(all->kernel_ns / the_case->steps).text, the_case->per, 100 * (1 - all->saved));
    return finding->title && finding->evidence;
}

const struct finding_rule finding_unfused_optimizer = {
    .name = "unfused_optimizer",
    .why = "Each operator of the optimizer reads its tensors from memory and writes them back, "
           "with a launch per parameter or parameter list; a fused optimizer makes one pass over "
           "parameters, gradients and moments.",
    .advice = "fused=True for Adam, AdamW or SGD, Apex's or Transformer Engine's fused optimizers, "
              "or torch.compile around optimizer.step().",
    .method = "Owned time of the unfused kernels launched within Optimizer.step, without "
              "matrix products, minus 7/4 of the time of its most expensive operator (the estimate "
              "for one fused pass), plus the waits for the host before them (at most 100 us "
              "each), per steady step; reported when there are 20 per step, costing 2 % of it.",
    .false_alarms = "Other optimizers may have no fused version.",
    .check = check,
};
