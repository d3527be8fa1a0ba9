// SPDX-License-Identifier: Apache-2.0
// The rank that represents a run: the same one on both sides where its step allows it; and words.
#include "analysis/compare/compare_read.h"

#include "analysis/report/tables.h"
#include "analysis/stats/rank_list.h"
#include "ingest/base/orders.h"

#include <math.h>
#include <stdlib.h>

#define ALIKE_SHARE 0.01 // of the headline rank's median step

static int64_t step_of(const struct table *ranks, int64_t rank)
{
    for (size_t i = 0; ranks && i < ranks->row_count; i++)
        if (table_cell(ranks, i, RUN_RANKS_RANK)->i == rank)
            return table_i64(ranks, i, RUN_RANKS_STEP_MEDIAN_NS, -1);
    return -1;
}

static bool is_alike(const struct report *run, int64_t rank, int64_t like)
{
    const struct table *ranks = report_find(run, table_run_ranks.name);
    int64_t step_ns = step_of(ranks, rank), like_ns = step_of(ranks, like);
    return step_ns > 0 && like_ns > 0 &&
           fabs((double)like_ns - (double)step_ns) <= ALIKE_SHARE * (double)step_ns;
}

struct compare_rank compare_rank_of(const struct report *run, bool slowest, int64_t like)
{
    const struct table *summary = report_find(run, table_run_summary.name);
    if (!summary || !summary->row_count)
        return (struct compare_rank){-1, 0};
    int64_t headline = table_i64(summary, 0, RUN_SUMMARY_HEADLINE_RANK, 0);
    int64_t ranks = table_i64(summary, 0, RUN_SUMMARY_RANKS, 1);
    if (slowest)
        return (struct compare_rank){table_i64(summary, 0, RUN_SUMMARY_SLOWEST_RANK, headline),
                                     ranks};
    bool alike = like >= 0 && is_alike(run, headline, like);
    return (struct compare_rank){alike ? like : headline, ranks};
}

// --- words --------------------------------------------------------------------------------------

static bool has_several(const struct compare_side *side)
{
    for (size_t i = 0; i < side->run_count; i++)
        if (side->runs[i].which.ranks > 1)
            return true;
    return false;
}

// "rank 1", "ranks 0,2".
static void put_ranks(const struct compare_side *side, struct buf *out)
{
    int64_t ranks[COMPARE_MAX_RUNS];
    size_t count = 0;
    for (size_t i = 0; i < side->run_count; i++)
        ranks[i] = side->runs[i].which.number;
    qsort(ranks, side->run_count, sizeof *ranks, order_i64);
    for (size_t i = 0; i < side->run_count; i++)
        if (count == 0 || ranks[count - 1] != ranks[i])
            ranks[count++] = ranks[i];
    buf_puts(out, count > 1 ? "ranks " : "rank ");
    rank_list_add(out, ranks, count);
}

static void say_copies(const struct compare_side *side, const char *name, struct words *words)
{
    if (side->copies)
        words_say(words,
                  "; %zu more run%s of the %s %s the same files as another one and %s not count",
                  side->copies, side->copies == 1 ? "" : "s", name,
                  side->copies == 1 ? "has" : "have", side->copies == 1 ? "does" : "do");
}

static void say_ranks(const struct compare_side *base, const struct compare_side *cand,
                      struct words *words)
{
    struct buf of_base = {0}, of_cand = {0};
    if (!has_several(base) && !has_several(cand))
        return;
    put_ranks(base, &of_base);
    put_ranks(cand, &of_cand);
    struct str first = {of_base.at, of_base.len}, second = {of_cand.at, of_cand.len};
    if (str_equal(first, second))
        words_say(words, "; on %.*s of both sides", (int)first.len, first.at);
    else
        words_say(words,
                  "; on %.*s of the base and %.*s of the candidate, so parts may differ as they do "
                  "between ranks of one run",
                  (int)first.len, first.at, (int)second.len, second.at);
    buf_free(&of_base);
    buf_free(&of_cand);
}

void compare_read_say(const struct compare_side *base, const struct compare_side *cand,
                      struct words *words)
{
    say_ranks(base, cand, words);
    say_copies(base, "base", words);
    say_copies(cand, "candidate", words);
}
