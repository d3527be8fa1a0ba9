// SPDX-License-Identifier: Apache-2.0
// Which time a finding explains, so that no time is counted twice.
#include "analysis/findings/findings.h"
#include "analysis/trace/step_gaps.h"

bool findings_costs(const struct finding_case *the_case, int64_t cost_ns, double share)
{
    return cost_ns > 0 && (double)cost_ns >= share * (double)the_case->step_ns;
}

int64_t findings_wait(const struct atom *atom)
{
    if (!atom->gap || idle_cause_bar((enum idle_cause)atom->gap->cause) != BAR_IDLE_HOST_WAIT)
        return 0;
    return atom->ns < FINDING_WAIT_NS ? atom->ns : FINDING_WAIT_NS;
}

bool findings_has_backward(const struct facts *facts)
{
    for (uint32_t l = 0; l < facts->launch_count; l++)
        if (facts->launches[l].backward)
            return true;
    return false;
}

struct gap_times {
    const struct facts *facts;
    int64_t *gap_ns;
};

static void add_gap(void *context, const struct gap *gap, int64_t length_ns)
{
    struct gap_times *times = context;
    times->gap_ns[gap - times->facts->gaps.gaps] += length_ns; // a step may start within a gap
}

static bool typical_step(const struct facts *facts, struct arena *arena, int64_t *step_ns,
                         struct err *err)
{
    const bool *odd = NULL;
    int64_t *all_ns = arena_room(arena, (size_t)facts->step_count + 1, sizeof *all_ns, err);
    if (!all_ns)
        return false;
    for (uint32_t s = 0; s < facts->step_count; s++)
        all_ns[s] = parts_recorded_ns(&facts->step_parts[s]);
    if (facts->steady_count >= FINDING_ODD_STEPS &&
        !findings_odd_steps(facts, all_ns, arena, &odd, err))
        return false;
    *step_ns = findings_typical(facts, all_ns, odd);
    if (*step_ns <= 0) // odd steps have no time
        *step_ns = parts_recorded_ns(&facts->steady) / facts->steady_count;
    return true;
}

bool findings_case_make(const struct facts *facts, const struct report *report, struct arena *arena,
                        struct finding_case *the_case, struct err *err)
{
    struct gap_times times = {
        facts, arena_array(arena, (size_t)facts->gaps.count + 1, sizeof *times.gap_ns, err)};
    if (!times.gap_ns)
        return false;
    step_gaps_visit(facts, add_gap, &times);
    int64_t step_ns;
    if (!typical_step(facts, arena, &step_ns, err))
        return false;
    *the_case = (struct finding_case){
        .facts = facts,
        .report = report,
        .arena = arena,
        .steps = facts->steady_count,
        .step_ns = step_ns,
        .mean_ns = parts_recorded_ns(&facts->steady) / facts->steady_count,
        .per = facts->marked ? "per step" : "in the recording",
        .gap_ns = times.gap_ns,
    };
    return true;
}

void findings_visit(const struct finding_case *the_case, atom_fn *visit, void *context)
{
    const struct facts *facts = the_case->facts;
    for (uint32_t i = 0; i < facts->device_count; i++) {
        struct atom atom = {.device = i, .ns = facts->steady_owned_ns[i]};
        if (atom.ns > 0)
            visit(context, &atom);
    }
    findings_visit_gaps(the_case, visit, context);
}

void findings_visit_gaps(const struct finding_case *the_case, atom_fn *visit, void *context)
{
    const struct facts *facts = the_case->facts;
    for (uint32_t i = 0; i < facts->gaps.count; i++) {
        struct atom atom = {FACTS_NONE, &facts->gaps.gaps[i], the_case->gap_ns[i]};
        if (atom.ns > 0)
            visit(context, &atom);
    }
}

void findings_order(const struct finding *findings, size_t count, uint32_t *order)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        for (; at > 0 && findings[order[at - 1]].cost_ns < findings[i].cost_ns; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

#define MAX_FINDINGS 64

struct sharing {
    const struct finding_case *the_case;
    const struct finding *finding;
    uint8_t number;   // of the finding, from 1
    int64_t *left_ns; // per atom, devices before gaps: not explained yet
    uint8_t *taker;   // per atom: the first finding that explains some of it, 0 for none
    struct step_cursor cursor;
    int64_t *step_ns; // per step: what only this finding explains
    int64_t spare_ns; // of the typical step: not explained by earlier findings
    uint32_t first;   // that explains some of it; FACTS_NONE: none yet
    int64_t shared_ns[MAX_FINDINGS + 1];
};

static void share_atom(void *context, const struct atom *atom)
{
    struct sharing *sharing = context;
    const struct facts *facts = sharing->the_case->facts;
    size_t at =
        atom->gap ? facts->device_count + (size_t)(atom->gap - facts->gaps.gaps) : atom->device;
    int64_t want_ns = sharing->finding->claim(sharing->the_case, sharing->finding->context, atom);
    if (sharing->taker[at] == 0)
        sharing->left_ns[at] = atom->ns;
    if (want_ns <= 0)
        return;
    int64_t got_ns = want_ns < sharing->left_ns[at] ? want_ns : sharing->left_ns[at];
    sharing->left_ns[at] -= got_ns;
    findings_add_to_steps(sharing->the_case, &sharing->cursor, atom, got_ns, sharing->step_ns);
    sharing->shared_ns[sharing->taker[at]] += want_ns - got_ns;
    if (sharing->taker[at] == 0)
        sharing->taker[at] = sharing->number;
}

// The earlier finding with most of what this one shares; FACTS_NONE if none.
static uint32_t find_overlap(const struct sharing *sharing)
{
    uint32_t overlaps = FACTS_NONE;
    int64_t most_ns = 0;
    for (uint32_t f = 1; f < sharing->number; f++) {
        if (sharing->shared_ns[f] <= most_ns)
            continue;
        most_ns = sharing->shared_ns[f];
        overlaps = f - 1;
    }
    return overlaps;
}

// Whether the time a finding explains is in the typical step: that of odd steps is not.
static bool is_typical(const struct finding_case *the_case, const struct finding *finding)
{
    return !finding->of_all || the_case->mean_ns == the_case->step_ns;
}

// Takes own time off the typical step and returns how much of it there was.
static int64_t take_spare(struct sharing *sharing, int64_t own_ns, uint32_t *overlaps)
{
    if (own_ns > sharing->spare_ns) {
        own_ns = sharing->spare_ns;
        *overlaps = *overlaps == FACTS_NONE ? sharing->first : *overlaps;
    }
    if (sharing->first == FACTS_NONE)
        sharing->first = sharing->number - 1u;
    sharing->spare_ns -= own_ns;
    return own_ns;
}

// Means over different steps need not sum to one step, so the last ones get what is left of it.
static void share_one(struct sharing *sharing, int64_t *own_ns, uint32_t *overlaps)
{
    const struct facts *facts = sharing->the_case->facts;
    int64_t cost_ns = sharing->finding->cost_ns;
    sharing->cursor = (struct step_cursor){.at = {0}};
    memset(sharing->step_ns, 0, facts->step_count * sizeof *sharing->step_ns);
    memset(sharing->shared_ns, 0, sizeof sharing->shared_ns);
    findings_visit(sharing->the_case, share_atom, sharing);
    *overlaps = find_overlap(sharing);
    int64_t left_ns = findings_typical(facts, sharing->step_ns, sharing->finding->odd);
    left_ns = *overlaps == FACTS_NONE || left_ns > cost_ns ? cost_ns : left_ns;
    if (is_typical(sharing->the_case, sharing->finding))
        left_ns = take_spare(sharing, left_ns, overlaps);
    if (left_ns == cost_ns)
        *overlaps = FACTS_NONE;
    *own_ns = left_ns;
}

bool findings_share_out(const struct finding_case *the_case, const struct finding *const *findings,
                        size_t count, int64_t *own_ns, uint32_t *overlaps, struct err *err)
{
    const struct facts *facts = the_case->facts;
    size_t atoms = (size_t)facts->device_count + facts->gaps.count;
    struct sharing sharing = {
        .the_case = the_case, .spare_ns = the_case->step_ns, .first = FACTS_NONE};
    if (count > MAX_FINDINGS)
        return err_set(err, ERR_LIMIT, "%zu findings are more than %d", count, MAX_FINDINGS);
    sharing.left_ns = arena_room(the_case->arena, atoms + 1, sizeof *sharing.left_ns, err);
    sharing.taker = arena_array(the_case->arena, atoms + 1, sizeof *sharing.taker, err);
    sharing.step_ns =
        arena_room(the_case->arena, (size_t)facts->step_count + 1, sizeof *sharing.step_ns, err);
    if (!sharing.left_ns || !sharing.taker || !sharing.step_ns)
        return false;
    for (size_t f = 0; f < count; f++) {
        own_ns[f] = findings[f]->cost_ns;
        overlaps[f] = FACTS_NONE;
        sharing.finding = findings[f];
        sharing.number = (uint8_t)(f + 1);
        if (findings[f]->claim)
            share_one(&sharing, &own_ns[f], &overlaps[f]);
    }
    return true;
}
