// SPDX-License-Identifier: Apache-2.0
// The cost of a claim in the typical step: the mean of the steady steps without odd ones, so that
// one unusual step does not represent all of them.
#include "analysis/findings/findings.h"
#include "analysis/stats/sort.h"
#include "analysis/stats/stats.h"

#include <math.h>

// With two steps there is no telling which is odd.
static bool can_be_odd(const struct finding_case *the_case)
{
    return the_case->steps >= FINDING_ODD_STEPS;
}

bool findings_odd_steps(const struct facts *facts, const int64_t *step_ns, struct arena *arena,
                        const bool **odd, struct err *err)
{
    size_t steps = (size_t)facts->steady_count, count = 0, most = steps / FINDING_ODD_OF;
    int64_t *values = arena_room(arena, 2 * steps + 1, sizeof *values, err);
    bool *found = arena_array(arena, (size_t)facts->step_count + 1, sizeof *found, err);
    *odd = NULL;
    if (!values || !found)
        return false;
    for (uint32_t s = 0; s < facts->step_count; s++)
        if (facts->steps[s].steady)
            values[count++] = step_ns[s];
    sort_i64(values, values + steps, count);
    int64_t median_ns = stats_median(values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = values[i] > median_ns ? values[i] - median_ns : median_ns - values[i];
    sort_i64(values, values + steps, count);
    double spread_ns = FINDING_SLOW_STEP_MADS * 1.4826 * (double)stats_median(values, count);
    double limit_ns = fmax(spread_ns, FINDING_SLOW_STEP_SHARE * (double)median_ns);
    count = 0;
    for (uint32_t s = 0; s < facts->step_count; s++) {
        found[s] =
            facts->steps[s].steady && fabs((double)step_ns[s] - (double)median_ns) > limit_ns;
        count += found[s];
    }
    // More are a pattern: what happens in every fourth step is part of the typical one.
    if (count > 0 && count <= (most > 1 ? most : 1))
        *odd = found;
    return true;
}

int64_t findings_typical(const struct facts *facts, const int64_t *step_ns, const bool *odd)
{
    int64_t sum_ns = 0, count = 0;
    for (uint32_t s = 0; s < facts->step_count; s++) {
        if (!facts->steps[s].steady || (odd && odd[s]))
            continue;
        sum_ns += step_ns[s];
        count++;
    }
    return count ? sum_ns / count : 0;
}

// --- from atoms to steps -------------------------------------------------------------------------

// How much of [begin_ns, end_ns) is in a steady step.
static int64_t overlap_ns(const struct step *step, int64_t begin_ns, int64_t end_ns)
{
    int64_t from_ns = step->begin_ns > begin_ns ? step->begin_ns : begin_ns;
    int64_t to_ns = step->end_ns < end_ns ? step->end_ns : end_ns;
    return step->steady && to_ns > from_ns ? to_ns - from_ns : 0;
}

// Hardly any atom crosses a step's bounds: one that does is split there.
void findings_add_to_steps(const struct finding_case *the_case, struct step_cursor *cursor,
                           const struct atom *atom, int64_t ns, int64_t *step_ns)
{
    const struct facts *facts = the_case->facts;
    const struct device_event *device = atom->gap ? NULL : &facts->devices[atom->device];
    int64_t begin_ns = device ? device->begin_ns : atom->gap->begin_ns, all_ns = 0;
    int64_t end_ns = device ? device->end_ns : atom->gap->end_ns;
    uint32_t *at = &cursor->at[atom->gap != NULL], last = FACTS_NONE;
    while (*at < facts->step_count && facts->steps[*at].end_ns <= begin_ns)
        ++*at;
    for (uint32_t s = *at; s < facts->step_count && facts->steps[s].begin_ns < end_ns; s++) {
        if (s > *at && cursor->crossed++ >= FINDING_CROSSED)
            break;
        int64_t here_ns = overlap_ns(&facts->steps[s], begin_ns, end_ns);
        all_ns += here_ns;
        last = here_ns > 0 ? s : last;
    }
    int64_t left_ns = ns;
    for (uint32_t s = *at; last != FACTS_NONE && s < last; s++) {
        int64_t here_ns = overlap_ns(&facts->steps[s], begin_ns, end_ns);
        int64_t part_ns = (int64_t)((double)ns * (double)here_ns / (double)all_ns);
        step_ns[s] += part_ns;
        left_ns -= part_ns;
    }
    if (last != FACTS_NONE)
        step_ns[last] += left_ns;
}

struct stepwise {
    const struct finding_case *the_case;
    const struct finding *finding;
    struct step_cursor cursor;
    int64_t *step_ns;
};

static void add_claim(void *context, const struct atom *atom)
{
    struct stepwise *sum = context;
    int64_t ns = sum->finding->claim(sum->the_case, sum->finding->context, atom);
    if (ns > 0)
        findings_add_to_steps(sum->the_case, &sum->cursor, atom, ns, sum->step_ns);
}

bool findings_cost(const struct finding_case *the_case, struct finding *finding, claim_fn *claim,
                   const void *context, struct err *err)
{
    const struct facts *facts = the_case->facts;
    struct stepwise sum = {.the_case = the_case, .finding = finding};
    finding->claim = claim;
    finding->context = context;
    sum.step_ns =
        arena_array(the_case->arena, (size_t)facts->step_count + 1, sizeof *sum.step_ns, err);
    if (!sum.step_ns)
        return false;
    findings_visit(the_case, add_claim, &sum);
    finding->step_ns = sum.step_ns;
    if (can_be_odd(the_case) &&
        !findings_odd_steps(facts, sum.step_ns, the_case->arena, &finding->odd, err))
        return false;
    int64_t cost_ns = findings_typical(facts, sum.step_ns, finding->odd);
    finding->cost_ns = cost_ns < the_case->step_ns ? cost_ns : the_case->step_ns;
    return true;
}

// --- describing odd steps ------------------------------------------------------------------------

// "[a]" and "[b]" -> "[a,b]".
static const char *join_facts(const char *facts, const char *more, struct arena *arena,
                              struct err *err)
{
    size_t len = strlen(facts);
    if (len <= 2)
        return more;
    return arena_printf(arena, err, "%.*s,%s", (int)(len - 1), facts, more + 1);
}

bool findings_tell_odd(const struct finding_case *the_case, struct finding *finding,
                       struct err *err)
{
    const struct facts *facts = the_case->facts;
    int64_t sum_ns = 0;
    size_t count = 0;
    if (!finding->odd || !finding->evidence)
        return true;
    int64_t *numbers =
        arena_room(the_case->arena, (size_t)facts->step_count + 1, sizeof *numbers, err);
    if (!numbers)
        return false;
    for (uint32_t s = 0; s < facts->step_count; s++) {
        if (!finding->odd[s])
            continue;
        numbers[count++] = facts->steps[s].number;
        sum_ns += finding->step_ns[s];
    }
    const char *list = number_list(numbers, count, the_case->arena, err);
    const char *fact =
        list ? findings_fact(the_case, "steps", err,
                             "not counted: step%s %.80s, which %s %s of it%s",
                             count == 1 ? "" : "s", list, count == 1 ? "has" : "have",
                             time_text(sum_ns / (int64_t)count).text, count == 1 ? "" : " each")
             : NULL;
    if (fact)
        finding->evidence = join_facts(finding->evidence, fact, the_case->arena, err);
    return fact && finding->evidence;
}
