// SPDX-License-Identifier: Apache-2.0
// Which rows of the waterfall differ by more than the noise between runs. Rows below the bars are
// tested only if the step or a bar differs; each level is a separate family.
#include "analysis/stats/mann_whitney.h"
#include "analysis/stats/significance.h"
#include "analysis/compare/waterfall_tree.h"

#include <math.h>
#include <stdlib.h>

// Per-run input of the tests.
struct noise {
    struct fall *fall;
    size_t runs[SIDES], count;       // count: of both sides
    double factor[COMPARE_MAX_RUNS]; // from a run's total to its time per step
    double *times;                   // node by node, its time per step in each run
    struct row_test *tests;
    double alpha;    // q-value up to which a row is significant
    uint32_t *owner; // per leaf: its node on the tested level
};

static bool prepare(struct noise *noise, struct fall *fall, struct err *err)
{
    struct arena *scratch = fall->pair->scratch;
    size_t nodes = fall->levels[LEVEL_KERNEL].count + BAR_COUNT;
    *noise = (struct noise){.fall = fall, .alpha = fall->pair->options->limits.alpha};
    for (int side = 0; side < SIDES; side++) {
        const struct compare_pool *pool = fall->pair->sides[side];
        noise->runs[side] = pool->count;
        for (size_t i = 0; i < pool->count; i++) {
            double steps = (double)pool->runs[i].steps;
            noise->factor[noise->count++] = steps > 0 ? compare_pool_factor(pool) / steps : 0;
        }
    }
    noise->times = arena_room(scratch, nodes * noise->count, sizeof *noise->times, err);
    noise->tests = arena_room(scratch, nodes, sizeof *noise->tests, err);
    noise->owner = arena_room(scratch, fall->leaf_count + 1, sizeof *noise->owner, err);
    if (!noise->times || !noise->tests || !noise->owner)
        return false;
    for (size_t i = 0; i < fall->leaf_count; i++)
        noise->owner[i] = fall->leaves[i].node;
    return true;
}

static void fill_times(struct noise *noise, size_t nodes)
{
    const struct fall *fall = noise->fall;
    memset(noise->times, 0, nodes * noise->count * sizeof *noise->times);
    for (size_t i = 0; i < fall->reading_count; i++) {
        const struct reading *reading = &fall->readings[i];
        noise->times[noise->owner[reading->leaf] * noise->count + reading->run] +=
            (double)reading->ns * noise->factor[reading->run];
    }
}

// Whether every run of one side has the row, and none of the other.
static bool is_one_sided(const struct noise *noise, size_t node)
{
    const double *times = noise->times + node * noise->count;
    size_t has[SIDES] = {0, 0};
    for (size_t i = 0; i < noise->count; i++)
        has[i < noise->runs[BASE] ? BASE : CAND] += times[i] > 0;
    return (has[BASE] == 0 && has[CAND] == noise->runs[CAND]) ||
           (has[CAND] == 0 && has[BASE] == noise->runs[BASE]);
}

static void judge_node(const struct noise *noise, size_t index, struct fall_node *node)
{
    const struct pair *pair = noise->fall->pair;
    const struct row_test *test = &noise->tests[index];
    node->verdict = VERDICT_UNKNOWN;
    if (test->tested) {
        node->p_value = test->p_value;
        node->q_value = test->q_value;
        node->verdict = test->q_value <= noise->alpha ? VERDICT_SIGNIFICANT : VERDICT_NOISE;
    } else if (is_one_sided(noise, index)) {
        // More or less than nothing is a question of presence, not of many noisy rows.
        node->p_value = mann_whitney_least_p(noise->runs[BASE], noise->runs[CAND]);
        if (node->p_value <= pair->options->limits.alpha)
            node->verdict = VERDICT_SIGNIFICANT;
    }
    node->relevant = node->verdict == VERDICT_SIGNIFICANT &&
                     llabs(node->ns[CAND] - node->ns[BASE]) >= pair->relevant_from_ns;
}

static bool judge_level(struct noise *noise, enum level level, struct err *err)
{
    struct fall_level *own = &noise->fall->levels[level];
    fill_times(noise, own->count);
    if (!significance_rows(noise->times, own->count, noise->runs[BASE], noise->runs[CAND],
                           noise->tests, err))
        return false;
    for (size_t i = 0; i < own->count; i++)
        judge_node(noise, i, &own->at[i]);
    return true;
}

static void lift_owners(struct noise *noise, enum level from)
{
    for (size_t i = 0; i < noise->fall->leaf_count; i++)
        noise->owner[i] = noise->fall->levels[from].at[noise->owner[i]].parent;
}

static void set_verdict(struct fall *fall, enum verdict verdict)
{
    for (int level = LEVEL_BAR; level < LEVEL_COUNT; level++)
        for (size_t i = 0; i < fall->levels[level].count; i++) {
            struct fall_node *node = &fall->levels[level].at[i];
            node->verdict = verdict;
            node->p_value = node->q_value = NAN;
        }
}

static bool has_change(const struct fall *fall)
{
    bool found = fall->pair->judged.verdict == VERDICT_SIGNIFICANT;
    for (size_t b = 0; b < fall->levels[LEVEL_BAR].count; b++)
        found |= fall->levels[LEVEL_BAR].at[b].verdict == VERDICT_SIGNIFICANT;
    return found;
}

// If the step is within noise, bars are a second chance for a false alarm, so they must be more
// certain.
static bool judge_bars(struct noise *noise, struct err *err)
{
    uint32_t *kernels = noise->owner;
    double alpha = noise->alpha;
    noise->owner = arena_room(noise->fall->pair->scratch, noise->fall->leaf_count + 1,
                              sizeof *noise->owner, err);
    if (!noise->owner)
        return false;
    for (size_t i = 0; i < noise->fall->leaf_count; i++)
        noise->owner[i] = noise->fall->leaves[i].bar;
    if (noise->fall->pair->judged.verdict != VERDICT_SIGNIFICANT)
        noise->alpha *= SIGNIFICANCE_BARS_ALONE;
    bool ok = judge_level(noise, LEVEL_BAR, err);
    noise->alpha = alpha;
    noise->owner = kernels;
    return ok;
}

bool waterfall_judge(struct fall *fall, struct err *err)
{
    const struct pair *pair = fall->pair;
    struct noise noise;
    bool equal = strcmp(pair->judged.method, "equal") == 0;
    bool few = pair->sides[BASE]->count < SIGNIFICANCE_MIN_RUNS ||
               pair->sides[CAND]->count < SIGNIFICANCE_MIN_RUNS;
    set_verdict(fall, equal || !few ? VERDICT_NOISE : VERDICT_UNKNOWN);
    if (equal || few)
        return true;
    if (!prepare(&noise, fall, err) || !judge_bars(&noise, err))
        return false;
    if (!has_change(fall))
        return true;
    for (int level = LEVEL_KERNEL; level > LEVEL_BAR; level--) {
        if (!judge_level(&noise, (enum level)level, err))
            return false;
        lift_owners(&noise, (enum level)level);
    }
    return true;
}
