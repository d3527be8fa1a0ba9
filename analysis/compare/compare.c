// SPDX-License-Identifier: Apache-2.0
// Compares a base with candidates: pools the runs of each side, then writes each table per pair.
#include "analysis/compare/compare.h"

#include "analysis/compare/compare_pair.h"
#include "analysis/compare/waterfall.h"

static bool check_sides(const struct compare_side *base, const struct compare_side *cands,
                        size_t cand_count, struct err *err)
{
    size_t runs = base->run_count;
    if (cand_count == 0 || runs == 0)
        return err_set(err, ERR_USAGE, "found no %s, expected a base and a candidate at least",
                       runs ? "candidate" : "run of the base");
    for (size_t i = 0; i < cand_count; i++) {
        if (cands[i].run_count == 0)
            return err_set(err, ERR_USAGE, "found no run of candidate %zu", i + 1);
        runs += cands[i].run_count;
    }
    return runs <= COMPARE_MAX_RUNS ||
           err_set(err, ERR_USAGE, "found %zu runs, expected up to %d", runs, COMPARE_MAX_RUNS);
}

static bool write_pair(struct pair *pair, struct err *err)
{
    double matched[RUNG_COUNT];
    return compare_summary_judge(pair, err) && waterfall_write(pair, matched, err) &&
           compare_summary_write(pair, matched, err) && compare_settings_write(pair, err) &&
           compare_modules_write(pair, err) && compare_collectives_write(pair, err) &&
           compare_ranks_write(pair, err) && compare_memory_write(pair, err) &&
           compare_findings_write(pair, err) && compare_parity_write(pair, err) &&
           compare_reasons_write(pair, err);
}

static bool compare_one(const struct compare_pool *base, const struct compare_side *side,
                        struct pair *pair, struct err *err)
{
    struct compare_pool cand;
    pair->sides[BASE] = base;
    pair->sides[CAND] = &cand;
    return compare_pool_make(side, pair->scratch, &cand, err) &&
           (!pair->options->per_token || compare_pool_scale(base, &cand, err)) &&
           compare_runs_write(&cand, pair->number, pair->report, err) && write_pair(pair, err);
}

static bool compare_all(const struct compare_pool *base, const struct compare_side *cands,
                        size_t cand_count, struct pair *pair, struct err *err)
{
    for (size_t i = 0; i < cand_count; i++) {
        struct arena scratch;
        arena_init(&scratch, pair->report->arena->budget);
        pair->number = (int64_t)i + 1;
        pair->scratch = &scratch;
        bool ok = compare_one(base, &cands[i], pair, err);
        arena_free(&scratch);
        if (!ok)
            return cand_count == 1 ? false : err_wrap(err, "candidate %zu", i + 1);
    }
    return true;
}

bool analyze_compare(const struct compare_side *base, const struct compare_side *cands,
                     size_t cand_count, const struct compare_options *options,
                     struct report *report, struct err *err)
{
    struct arena scratch;
    struct compare_pool pool;
    struct pair pair = {.options = options, .report = report};
    if (!check_sides(base, cands, cand_count, err) || !verdict_check_limits(&options->limits, err))
        return false;
    arena_init(&scratch, report->arena->budget);
    bool ok = compare_pool_make(base, &scratch, &pool, err) &&
              compare_runs_write(&pool, 0, report, err) &&
              compare_all(&pool, cands, cand_count, &pair, err);
    arena_free(&scratch);
    return ok;
}
