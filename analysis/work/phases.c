// SPDX-License-Identifier: Apache-2.0
// Prefill and decode, by annotations or by shapes: passes, tokens and where their time went.
#include "analysis/trace/analyses.h"
#include "analysis/work/serving_shapes.h"
#include "analysis/stats/sort.h"
#include "analysis/stats/stats.h"
#include "analysis/facts/sweep.h"
#include "analysis/report/tables.h"

#include <math.h>

// Sums over all passes of a phase.
struct phase {
    struct parts parts;
    int64_t passes, requests, tokens; // COUNT_UNKNOWN if a pass does not give it
};

struct phases {
    const struct serving_steps *steps;
    struct phase all[SERVING_PHASE_COUNT];
    uint32_t next; // first pass that is not over yet
};

// A segment may extend over several passes and what is between them.
static void add_segment(void *context, const struct segment *segment)
{
    struct phases *phases = context;
    const struct serving_steps *steps = phases->steps;
    for (struct segment part = *segment; part.begin_ns < segment->end_ns;
         part.begin_ns = part.end_ns) {
        while (phases->next < steps->count && steps->items[phases->next].end_ns <= part.begin_ns)
            phases->next++;
        const struct serving_step *step =
            phases->next < steps->count ? &steps->items[phases->next] : NULL;
        bool within = step && step->begin_ns <= part.begin_ns;
        part.end_ns = segment->end_ns;
        int64_t bound_ns = !step ? part.end_ns : within ? step->end_ns : step->begin_ns;
        if (bound_ns < part.end_ns)
            part.end_ns = bound_ns;
        sweep_add(&phases->all[within ? step->pass.phase : SERVING_NONE].parts, &part);
    }
}

static void count_passes(struct phases *phases)
{
    for (uint32_t i = 0; i < phases->steps->count; i++) {
        const struct serving_pass *pass = &phases->steps->items[i].pass;
        struct phase *phase = &phases->all[pass->phase];
        phase->passes++;
        phase->requests = count_add(phase->requests,
                                    count_add(pass->context.requests, pass->generation.requests));
        phase->tokens =
            count_add(phase->tokens, count_add(pass->context.tokens, pass->generation.tokens));
    }
}

static int64_t median_of(const struct serving_steps *steps, enum serving_phase phase,
                         int64_t *values)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < steps->count; i++)
        if (steps->items[i].pass.phase == phase)
            values[count++] = steps->items[i].end_ns - steps->items[i].begin_ns;
    sort_i64(values, values + count, count);
    return stats_median(values, count);
}

static bool add_row(const struct phases *phases, enum serving_phase name, int64_t *values,
                    struct report *report, struct err *err)
{
    const struct phase *phase = &phases->all[name];
    int64_t recorded_ns = parts_recorded_ns(&phase->parts);
    bool is_pass = name != SERVING_NONE, counted = is_pass && count_known(phase->tokens);
    double rate =
        counted && recorded_ns > 0 ? (double)phase->tokens * 1e9 / (double)recorded_ns : NAN;
    struct row row = {.desc = &table_phases};
    row_word(&row, PHASES_PHASE, serving_phase_word(name));
    row_i64_if(&row, PHASES_PASSES, is_pass, phase->passes);
    row_i64_if(&row, PHASES_REQUESTS, is_pass && count_known(phase->requests), phase->requests);
    row_i64_if(&row, PHASES_TOKENS, counted, phase->tokens);
    row_f64(&row, PHASES_TOKENS_PER_SECOND, rate);
    row_i64_if(&row, PHASES_MEDIAN_PASS_NS, is_pass,
               is_pass ? median_of(phases->steps, name, values) : 0);
    parts_row(&row, PHASES_TIMES, &phase->parts);
    return row_end(&row, report, err);
}

static bool add_rows(const struct phases *phases, int64_t *values, struct report *report,
                     struct err *err)
{
    for (int p = SERVING_PREFILL; p < SERVING_PHASE_COUNT; p++)
        if (phases->all[p].passes && !add_row(phases, (enum serving_phase)p, values, report, err))
            return false;
    return parts_window_ns(&phases->all[SERVING_NONE].parts) == 0 ||
           add_row(phases, SERVING_NONE, values, report, err);
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    struct serving_steps steps;
    bool ok = serving_make(facts, scratch, &steps, err) &&
              (steps.count || serving_shapes_make(facts, scratch, &steps, err));
    if (ok && steps.count) {
        struct phases phases = {.steps = &steps};
        int64_t *values = arena_room(scratch, 2 * (size_t)steps.count, sizeof *values, err);
        sweep_run(facts, SWEEP_ALL, add_segment, &phases);
        count_passes(&phases);
        ok = values && add_rows(&phases, values, report, err);
    }
    return ok;
}

const struct analysis phases_analysis = {"phases", run};
