// SPDX-License-Identifier: Apache-2.0
// Loops that mark validation batches as steps, too, as the profiler of PyTorch Lightning does.
#include "analysis/facts/evaluation.h"

#include "analysis/facts/steps.h"

static const char *const reason_evaluation =
    "it has no backward and no optimizer, unlike other steps";

enum { HAS_UPDATE = 1, HAS_BACKWARD = 2, HAS_BOTH = 3 };

static void note(const struct facts *facts, enum event_kind kind, struct str start, uint8_t *has)
{
    const struct trace *trace = facts->trace;
    bool updates = kind == EVENT_ANNOTATION;
    for (uint32_t e = 0; e < trace->event_count; e++) {
        if (trace->kind[e] != kind || !str_starts_with(trace_text(trace, trace->name[e]), start))
            continue;
        uint32_t step = steps_marked_at(facts, trace->begin_ns[e]);
        if (step != FACTS_NONE)
            has[step] |= updates ? HAS_UPDATE : HAS_BACKWARD;
    }
}

// Whether some usable steps have all of this, and some lack all of it.
static bool differ(const struct facts *facts, const uint8_t *has, uint8_t what)
{
    bool some = false, others = false;
    for (uint32_t s = 0; s < facts->step_count; s++) {
        some |= !facts->steps[s].reason && has[s] == what;
        others |= !facts->steps[s].reason && !has[s];
    }
    return some && others;
}

// Whether some usable steps train in a row. A loop that acts several times before it learns once
// has no such steps, and its others do not evaluate.
static bool train_in_a_row(const struct facts *facts, const uint8_t *has)
{
    bool before = false;
    for (uint32_t s = 0; s < facts->step_count; s++) {
        if (facts->steps[s].reason)
            continue;
        if (before && has[s])
            return true;
        before = has[s];
    }
    return false;
}

bool evaluation_leave_out(struct facts *facts, struct err *err)
{
    uint8_t *has = budget_zalloc(facts->budget, facts->step_count, err);
    if (!has)
        return false;
    note(facts, EVENT_ANNOTATION, STR("Optimizer.step#"), has);
    if (differ(facts, has, HAS_UPDATE)) {
        note(facts, EVENT_CPU_OP, STR("autograd::engine::evaluate_function"), has);
        note(facts, EVENT_RUNTIME, STR("cudaGraphLaunch"), has); // it may be all of an iteration
        note(facts, EVENT_RUNTIME, STR("hipGraphLaunch"), has);
    }
    if (differ(facts, has, HAS_BOTH) && train_in_a_row(facts, has))
        for (uint32_t s = 0; s < facts->step_count; s++)
            if (!has[s] && !facts->steps[s].reason)
                facts->steps[s].reason = reason_evaluation;
    budget_free(facts->budget, has, facts->step_count);
    return true;
}
