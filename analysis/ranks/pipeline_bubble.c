// SPDX-License-Identifier: Apache-2.0
// How long each pipeline stage computes nothing, between the start of the first pass and the end of
// the last one on any of its ranks.
#include "analysis/ranks/pipeline_stages.h"
#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "analysis/report/trust.h"

#include <inttypes.h>
#include <math.h>

// Ten hours: clocks further apart say nothing, and sums of intervals stay within bounds.
#define MAX_INTERVAL_NS (INT64_C(1) << 45)
#define MAX_SHIFTED_NS  (INT64_C(1) << 61) // either way of 1970

enum { BESIDE = 3 }; // steps of a rank that are tried for one of another

struct stage_sum {
    int64_t interval_ns, compute_ns, rank_steps;
};

struct span {
    int64_t begin_ns, end_ns;
};

struct bubble {
    const struct run_comm *comm;
    const struct run_passes *passes;
    const struct pipeline_stages *stages;
    uint32_t *members, *first; // ranks of chain c: members[first[c]] up to members[first[c + 1]]
    struct stage_sum *sums;    // per stage
    const struct step_times **times; // per rank: those in the step that is looked at
    uint32_t *beside;                // per rank: its first step that ends after the leader's begin
    int64_t steps;                   // most that a pipeline counted
    int64_t apart;                   // steps of first stages at whose time another one has none
};

static void list_members(struct bubble *b)
{
    const struct pipeline_stages *stages = b->stages;
    uint32_t ranks = b->comm->rank_count;
    uint32_t *at = b->first + 1; // moves to the start of the next chain while filling
    for (uint32_t r = 0; r < ranks; r++)
        if (stages->chain[r] != RUN_NONE)
            at[stages->chain[r] + 1]++;
    for (uint32_t c = 0; c < stages->chain_count; c++)
        at[c + 1] += at[c];
    for (uint32_t r = 0; r < ranks; r++)
        if (stages->chain[r] != RUN_NONE)
            b->members[at[stages->chain[r]]++] = r;
}

static const struct step_times *times_of(const struct bubble *b, uint32_t rank, int64_t number)
{
    const struct step_times *times = rank_times_find(&b->passes->ranks[rank], number);
    return times && times->passes.end_ns > times->passes.begin_ns ? times : NULL;
}

// Optimizers that do not wait for the other stages run while these have passes left.
static int64_t optimizer_within(const struct pass_times *optimizer, int64_t end_ns)
{
    if (optimizer->end_ns <= optimizer->begin_ns || optimizer->begin_ns >= end_ns)
        return 0;
    if (optimizer->end_ns <= end_ns)
        return optimizer->compute_ns;
    double share =
        (double)(end_ns - optimizer->begin_ns) / (double)(optimizer->end_ns - optimizer->begin_ns);
    return llround((double)optimizer->compute_ns * share);
}

static bool shift(const struct comm_rank *rank, int64_t time_ns, int64_t *shifted_ns)
{
    return time_ns > -MAX_SHIFTED_NS && time_ns < MAX_SHIFTED_NS &&
           !__builtin_add_overflow(time_ns, run_comm_offset(rank, time_ns), shifted_ns) &&
           *shifted_ns > -MAX_SHIFTED_NS && *shifted_ns < MAX_SHIFTED_NS;
}

static bool shift_span(const struct comm_rank *rank, const struct pass_times *passes,
                       struct span *span)
{
    return shift(rank, passes->begin_ns, &span->begin_ns) &&
           shift(rank, passes->end_ns, &span->end_ns);
}

// Stages work on one step at the same time: half of the shorter span lies in the other.
static bool meets(const struct comm_rank *rank, const struct step_times *times,
                  const struct span *leader)
{
    struct span own;
    if (!shift_span(rank, &times->passes, &own))
        return false;
    int64_t begin_ns = own.begin_ns > leader->begin_ns ? own.begin_ns : leader->begin_ns;
    int64_t end_ns = own.end_ns < leader->end_ns ? own.end_ns : leader->end_ns;
    int64_t own_ns = own.end_ns - own.begin_ns, leader_ns = leader->end_ns - leader->begin_ns;
    return end_ns - begin_ns >= (own_ns < leader_ns ? own_ns : leader_ns) / 2;
}

// The rank's passes of the leader's step: of that number, or, as ranks may count from different
// steps, of that time; NULL if it has none.
static const struct step_times *times_beside(const struct bubble *b, uint32_t rank, int64_t number,
                                             const struct span *leader)
{
    const struct comm_rank *own = &b->comm->ranks[rank];
    const struct rank_times *all = &b->passes->ranks[rank];
    const struct step_times *times = times_of(b, rank, number);
    if (times && meets(own, times, leader))
        return times;
    int64_t since_ns = leader->begin_ns - run_comm_offset(own, leader->begin_ns);
    uint32_t *at = &b->beside[rank];
    while (*at < all->count && all->steps[*at].passes.end_ns <= since_ns)
        ++*at;
    for (uint32_t i = *at; i < all->count && i - *at < BESIDE; i++)
        if (all->steps[i].passes.end_ns > all->steps[i].passes.begin_ns &&
            meets(own, &all->steps[i], leader))
            return &all->steps[i];
    return NULL;
}

static bool are_comparable(const struct bubble *b, uint32_t chain)
{
    const struct comm_rank *ranks = b->comm->ranks;
    for (uint32_t i = b->first[chain]; i < b->first[chain + 1]; i++)
        if (ranks[b->members[i]].component != ranks[b->members[b->first[chain]]].component)
            return false;
    return true;
}

// Sets the ranks' times in the leader's step; false if some have none.
static bool find_times(struct bubble *b, uint32_t chain, int64_t number, bool *common)
{
    uint32_t leader = b->members[b->first[chain]];
    const struct step_times *lead = times_of(b, leader, number);
    struct span span;
    if (!lead)
        return false;
    *common = are_comparable(b, chain) && shift_span(&b->comm->ranks[leader], &lead->passes, &span);
    for (uint32_t i = b->first[chain]; i < b->first[chain + 1]; i++) {
        uint32_t rank = b->members[i];
        const struct step_times *same = times_of(b, rank, number);
        b->times[rank] = *common && rank != leader ? times_beside(b, rank, number, &span) : same;
        b->apart += same && !b->times[rank];
        if (!b->times[rank])
            return false;
    }
    return true;
}

// On the common clock; if the clocks cannot be compared, the longest of the ranks' own spans, which
// is that of the first stage, is used.
static bool find_span(const struct bubble *b, uint32_t chain, bool common, struct span *span)
{
    int64_t longest_ns = 0;
    *span = (struct span){INT64_MAX, INT64_MIN};
    for (uint32_t i = b->first[chain]; i < b->first[chain + 1]; i++) {
        const struct pass_times *passes = &b->times[b->members[i]]->passes;
        struct span own;
        int64_t length_ns = passes->end_ns - passes->begin_ns;
        longest_ns = length_ns > longest_ns ? length_ns : longest_ns;
        if (!common || !shift_span(&b->comm->ranks[b->members[i]], passes, &own))
            continue;
        span->begin_ns = own.begin_ns < span->begin_ns ? own.begin_ns : span->begin_ns;
        span->end_ns = own.end_ns > span->end_ns ? own.end_ns : span->end_ns;
    }
    if (!common)
        *span = (struct span){0, longest_ns};
    return span->end_ns - span->begin_ns <= MAX_INTERVAL_NS;
}

static bool add_step(struct bubble *b, uint32_t chain, int64_t number)
{
    bool common;
    struct span span;
    if (!find_times(b, chain, number, &common) || !find_span(b, chain, common, &span))
        return false;
    for (uint32_t i = b->first[chain]; i < b->first[chain + 1]; i++) {
        uint32_t rank = b->members[i];
        const struct step_times *times = b->times[rank];
        struct stage_sum *sum = &b->sums[b->stages->stage[rank]];
        int64_t compute_ns = times->passes.compute_ns;
        const struct comm_rank *own = &b->comm->ranks[rank];
        if (common)
            compute_ns += optimizer_within(
                &times->optimizer, span.end_ns - run_comm_offset(own, times->passes.end_ns));
        sum->interval_ns += span.end_ns - span.begin_ns;
        sum->compute_ns += compute_ns;
        sum->rank_steps++;
    }
    return true;
}

static void add_chain(struct bubble *b, uint32_t chain)
{
    const struct rank_times *leader = &b->passes->ranks[b->members[b->first[chain]]];
    int64_t steps = 0;
    bool any_steady = false;
    for (uint32_t s = 0; s < leader->count; s++)
        any_steady |= leader->steps[s].steady;
    for (uint32_t s = 0; s < leader->count; s++)
        if (leader->steps[s].steady || !any_steady)
            steps += add_step(b, chain, leader->steps[s].number);
    b->steps = steps > b->steps ? steps : b->steps;
}

// Whether the interval is known: the first stage starts it, and ends it if it is the last to have
// its gradients.
static bool has_first(const struct bubble *b, uint32_t chain)
{
    bool found = false;
    for (uint32_t i = b->first[chain]; i < b->first[chain + 1]; i++)
        found |= b->stages->stage[b->members[i]] == 0;
    return found;
}

// Pipelines with missing ranks count only if all have some missing.
static void add_chains(struct bubble *b)
{
    const struct pipeline_stages *stages = b->stages;
    bool any_whole = false;
    for (uint32_t c = 0; c < stages->chain_count; c++)
        any_whole |= b->first[c + 1] - b->first[c] == stages->stage_count;
    for (uint32_t c = 0; c < stages->chain_count; c++)
        if (any_whole ? b->first[c + 1] - b->first[c] == stages->stage_count : has_first(b, c))
            add_chain(b, c);
}

// --- rows ---------------------------------------------------------------------------------------

// "0-3" or "0,8,16".
static bool ranks_text(const struct bubble *b, uint32_t stage, struct buf *text, struct err *err)
{
    int64_t first = -1, last = -2;
    buf_clear(text);
    for (uint32_t r = 0; r <= b->comm->rank_count; r++) {
        bool ends = r == b->comm->rank_count;
        if (!ends && b->stages->stage[r] != stage)
            continue;
        int64_t rank = ends ? -1 : b->comm->ranks[r].rank;
        if (!ends && rank == last + 1) {
            last = rank;
            continue;
        }
        if (last > first)
            buf_printf(text, "%c%" PRId64, last > first + 1 ? '-' : ',', last);
        if (!ends)
            buf_printf(text, "%s%" PRId64, text->len ? "," : "", rank);
        first = last = rank;
    }
    return buf_ok(text, err);
}

static double ideal_of(const struct pipeline_stages *stages)
{
    double p = stages->stage_count;
    double passes = (double)stages->micro_batches * (double)stages->chunks;
    return stages->micro_batches > 0 ? (p - 1) / (passes + p - 1) : NAN;
}

static bool add_row(const struct bubble *b, uint32_t stage, struct buf *ranks,
                    struct report *report, struct err *err)
{
    const struct stage_sum *sum = &b->sums[stage];
    bool known = sum->rank_steps > 0 && sum->interval_ns > 0;
    int64_t interval_ns = known ? sum->interval_ns / sum->rank_steps : 0;
    int64_t compute_ns = known ? sum->compute_ns / sum->rank_steps : 0;
    if (!ranks_text(b, stage, ranks, err))
        return false;
    struct row row = {.desc = &table_run_pipeline};
    row_i64(&row, RUN_PIPELINE_STAGE, stage);
    row_text_if(&row, RUN_PIPELINE_RANKS, ranks->len != 0, (struct str){ranks->at, ranks->len});
    row_i64(&row, RUN_PIPELINE_STEPS, known ? b->steps : 0);
    row_i64_if(&row, RUN_PIPELINE_MICRO_BATCHES, b->stages->micro_batches > 0,
               b->stages->micro_batches);
    row_i64_if(&row, RUN_PIPELINE_INTERVAL_NS, known, interval_ns);
    row_i64_if(&row, RUN_PIPELINE_COMPUTE_NS, known, compute_ns);
    row_i64_if(&row, RUN_PIPELINE_BUBBLE_NS, known, interval_ns - compute_ns);
    row_share(&row, RUN_PIPELINE_BUBBLE_SHARE, known ? sum->interval_ns - sum->compute_ns : 0,
              known ? sum->interval_ns : 0);
    row_f64(&row, RUN_PIPELINE_IDEAL_SHARE, ideal_of(b->stages));
    return row_end(&row, report, err);
}

static bool add_rows(const struct bubble *b, struct report *report, struct err *err)
{
    struct buf ranks = {0};
    bool ok = true;
    for (uint32_t stage = 0; ok && stage < b->stages->stage_count; stage++)
        ok = add_row(b, stage, &ranks, report, err);
    buf_free(&ranks);
    return ok;
}

static bool judge_steps(const struct bubble *b, struct report *report, struct err *err)
{
    struct doubt doubt = {
        .item = "pipeline_steps_apart",
        .severity = "warning",
        .count = b->apart,
        .detail = "steps of a pipeline's first stage at whose time another stage has recorded none",
        .effect = "the stages' intervals and bubbles are unknown",
    };
    return b->apart == 0 || b->steps > 0 || doubt_add_of_run(report, &doubt, err);
}

bool pipeline_stages_add(const struct run_comm *comm, const struct run_passes *passes,
                         const struct pipeline_stages *stages, struct report *report,
                         struct err *err)
{
    if (stages->stage_count < 2)
        return true;
    struct arena arena;
    arena_init(&arena, comm->budget);
    struct bubble b = {
        .comm = comm,
        .passes = passes,
        .stages = stages,
        .members = arena_array(&arena, comm->rank_count, sizeof *b.members, err),
        .first = arena_array(&arena, (size_t)stages->chain_count + 2, sizeof *b.first, err),
        .sums = arena_array(&arena, stages->stage_count, sizeof *b.sums, err),
        .beside = arena_array(&arena, comm->rank_count, sizeof *b.beside, err),
        .times = arena_array(&arena, comm->rank_count, sizeof(const struct step_times *), err),
    };
    bool ok = b.members && b.first && b.sums && b.beside && b.times;
    if (ok) {
        list_members(&b);
        add_chains(&b);
        ok = add_rows(&b, report, err) && judge_steps(&b, report, err);
    }
    arena_free(&arena);
    return ok;
}
