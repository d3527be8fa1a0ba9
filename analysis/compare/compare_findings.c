// SPDX-License-Identifier: Apache-2.0
// Findings that are new, fixed, changed or unchanged.
#include "analysis/compare/compare_pair.h"
#include "analysis/report/tables.h"

#include <stdlib.h>

// In the order in which rows are written.
enum state { STATE_NEW, STATE_FIXED, STATE_CHANGED, STATE_UNCHANGED };

// One finding of one run.
struct hit {
    struct str id, rule, title, severity;
    int64_t cost_ns; // -1 if it has none
    int side;
    size_t run;
};

// One finding of both sides.
struct outcome {
    const struct hit *hits[SIDES]; // the one to show, NULL if most runs lack it
    int64_t cost_ns[SIDES];        // scaled; -1 if none
    enum state state;
};

static int compare_hits(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;
    int order = str_compare(x->id, y->id);
    if (order == 0 && x->side != y->side)
        return x->side < y->side ? -1 : 1;
    if (order == 0 && x->run != y->run)
        return x->run < y->run ? -1 : 1;
    return order ? order : (x->cost_ns < y->cost_ns) - (x->cost_ns > y->cost_ns);
}

static size_t read_side(const struct compare_side *side, int which, struct hit *hits)
{
    size_t count = 0;
    for (size_t r = 0; r < side->run_count; r++) {
        const struct table *table = report_find(side->runs[r].run, "findings");
        for (size_t i = 0; table && i < table->row_count; i++) {
            const struct cell *cost = table_cell(table, i, RUN_FINDINGS_COST_NS);
            const struct cell *id = table_cell(table, i, RUN_FINDINGS_ID);
            struct str rule = table_cell(table, i, RUN_FINDINGS_RULE)->s;
            hits[count++] = (struct hit){.id = id->null ? rule : id->s,
                                         .rule = rule,
                                         .title = table_cell(table, i, RUN_FINDINGS_TITLE)->s,
                                         .severity = table_cell(table, i, RUN_FINDINGS_SEVERITY)->s,
                                         .cost_ns = cost->null || cost->i < 0 ? -1 : cost->i,
                                         .side = which,
                                         .run = r};
        }
    }
    return count;
}

// The hits of one finding on one side: it is present if at least half of the runs have it.
static void judge_side(const struct hit *hits, size_t count, const struct compare_pool *pool,
                       struct outcome *outcome)
{
    int64_t costs[COMPARE_MAX_RUNS];
    size_t runs = 0, known = 0;
    if (!count)
        return;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && hits[i].run == hits[i - 1].run)
            continue; // of several ranks, the costliest
        runs++;
        if (hits[i].cost_ns >= 0)
            costs[known++] = hits[i].cost_ns;
    }
    if (2 * runs < pool->count)
        return;
    outcome->hits[hits->side] = hits;
    if (known)
        outcome->cost_ns[hits->side] = compare_pool_scaled(pool, compare_pool_median(costs, known));
}

static enum state state_of(const struct outcome *outcome, int64_t relevant_from_ns)
{
    if (!outcome->hits[BASE])
        return STATE_NEW;
    if (!outcome->hits[CAND])
        return STATE_FIXED;
    int64_t base_ns = outcome->cost_ns[BASE], cand_ns = outcome->cost_ns[CAND];
    bool apart = base_ns != cand_ns && llabs(cand_ns - base_ns) >= relevant_from_ns;
    return apart ? STATE_CHANGED : STATE_UNCHANGED;
}

static int64_t delta_of(const struct outcome *outcome)
{
    int64_t base_ns = outcome->cost_ns[BASE], cand_ns = outcome->cost_ns[CAND];
    return (cand_ns < 0 ? 0 : cand_ns) - (base_ns < 0 ? 0 : base_ns);
}

static const struct hit *shown_hit(const struct outcome *outcome)
{
    return outcome->hits[CAND] ? outcome->hits[CAND] : outcome->hits[BASE];
}

static int compare_outcomes(const void *a, const void *b)
{
    const struct outcome *x = a, *y = b;
    if (x->state != y->state)
        return x->state < y->state ? -1 : 1;
    int64_t dx = llabs(delta_of(x)), dy = llabs(delta_of(y));
    if (dx != dy)
        return dx > dy ? -1 : 1;
    return str_compare(shown_hit(x)->id, shown_hit(y)->id);
}

static bool add_outcome(const struct pair *pair, const struct outcome *outcome, struct err *err)
{
    static const char *const words[] = {[STATE_NEW] = "new",
                                        [STATE_FIXED] = "fixed",
                                        [STATE_CHANGED] = "changed",
                                        [STATE_UNCHANGED] = "unchanged"};
    int64_t base_ns = outcome->cost_ns[BASE], cand_ns = outcome->cost_ns[CAND];
    const struct hit *hit = shown_hit(outcome);
    struct row row = {.desc = &table_compare_findings};
    row_i64(&row, COMPARE_FINDINGS_CAND, pair->number);
    row_text(&row, COMPARE_FINDINGS_ID, hit->id);
    row_text(&row, COMPARE_FINDINGS_RULE, hit->rule);
    row_text(&row, COMPARE_FINDINGS_TITLE, hit->title);
    row_word(&row, COMPARE_FINDINGS_STATE, words[outcome->state]);
    row_text(&row, COMPARE_FINDINGS_SEVERITY, hit->severity);
    row_i64_if(&row, COMPARE_FINDINGS_BASE_COST_NS, base_ns >= 0, base_ns);
    row_i64_if(&row, COMPARE_FINDINGS_CAND_COST_NS, cand_ns >= 0, cand_ns);
    row_i64_if(&row, COMPARE_FINDINGS_DELTA_COST_NS, base_ns >= 0 || cand_ns >= 0,
               delta_of(outcome));
    return row_end(&row, pair->report, err);
}

// The hits of one finding: the base's, then the candidate's.
static struct outcome judge(const struct pair *pair, const struct hit *hits, size_t count)
{
    struct outcome outcome = {.cost_ns = {-1, -1}};
    size_t split = 0;
    while (split < count && hits[split].side == BASE)
        split++;
    judge_side(hits, split, pair->sides[BASE], &outcome);
    judge_side(hits + split, count - split, pair->sides[CAND], &outcome);
    outcome.state = state_of(&outcome, pair->relevant_from_ns);
    return outcome;
}

bool compare_findings_write(const struct pair *pair, struct err *err)
{
    const struct compare_side *base = pair->sides[BASE]->side, *cand = pair->sides[CAND]->side;
    size_t room = compare_side_rows(base, false, "findings") +
                  compare_side_rows(cand, false, "findings") + 1,
           count, found = 0;
    struct hit *hits = arena_array(pair->scratch, room, sizeof *hits, err);
    struct outcome *outcomes = arena_array(pair->scratch, room, sizeof *outcomes, err);
    if (!hits || !outcomes)
        return false;
    count = read_side(base, BASE, hits);
    count += read_side(cand, CAND, hits + count);
    qsort(hits, count, sizeof *hits, compare_hits);
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && str_equal(hits[to].id, hits[from].id);)
            to++;
        struct outcome outcome = judge(pair, hits + from, to - from);
        if (outcome.hits[BASE] || outcome.hits[CAND])
            outcomes[found++] = outcome;
    }
    qsort(outcomes, found, sizeof *outcomes, compare_outcomes);
    for (size_t i = 0; i < found; i++)
        if (!add_outcome(pair, &outcomes[i], err))
            return false;
    return true;
}
