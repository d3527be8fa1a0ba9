// SPDX-License-Identifier: Apache-2.0
// A change is looked for in the steps' totals, by medians of the steps before and after each step;
// README.md says how the thresholds were chosen and why the suspects are right.
#include "server/steps/step_judge.h"
#include "ingest/base/orders.h"

#include <math.h>
#include <stdlib.h>

enum { WINDOW = 24 }; // steps before and after
#define LEAST_SIGMAS  10.0
#define LEAST_SHARE   0.03
#define MOST_OF_RANKS 0.8

// Sorts the values; of an even number the lower middle one.
static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, order_doubles);
    return values[(count - 1) / 2];
}

static const uint32_t *row(const struct step_matrix *matrix, size_t step, size_t rank)
{
    return matrix->us + (step * matrix->ranks + rank) * matrix->stages;
}

// --- additive accounting ------------------------------------------------------------------------

// How late the last rank is after each stage, and which rank that is.
struct frontier {
    double us[STEP_MOST_STAGES];
    size_t rank[STEP_MOST_STAGES];
};

static size_t find_frontier(const struct step_matrix *matrix, size_t step, struct frontier *front)
{
    size_t present = 0;
    *front = (struct frontier){0};
    for (size_t rank = 0; rank < matrix->ranks; rank++) {
        const uint32_t *us = row(matrix, step, rank);
        double sum = 0;
        if (us[0] == STEP_MISSING)
            continue;
        present++;
        for (size_t stage = 0; stage < matrix->stages; stage++) {
            sum += us[stage];
            if (sum > front->us[stage]) {
                front->us[stage] = sum;
                front->rank[stage] = rank;
            }
        }
    }
    return present;
}

static size_t most_frequent(const uint32_t *counts, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        best = counts[i] > counts[best] ? i : best;
    return best;
}

// leads: by stage and rank, in how many steps the rank is last.
static void take_parts(const struct step_matrix *matrix, const uint32_t *leads,
                       struct step_judgement *judgement)
{
    for (size_t stage = 0; judgement->used && stage < matrix->stages; stage++) {
        const uint32_t *counts = leads + stage * matrix->ranks;
        struct step_part *part = &judgement->parts[stage];
        part->us /= (double)judgement->used;
        part->rank = most_frequent(counts, matrix->ranks);
        part->rank_share = counts[part->rank] / (double)judgement->used;
    }
}

static bool account(const struct step_matrix *matrix, struct arena *arena,
                    struct step_judgement *judgement, struct err *err)
{
    struct frontier front;
    uint32_t *leads = arena_array(arena, matrix->stages * matrix->ranks, sizeof *leads, err);
    judgement->index = arena_array(arena, matrix->steps + 1, sizeof(size_t), err);
    judgement->total_us = arena_array(arena, matrix->steps + 1, sizeof(double), err);
    if (!leads || !judgement->index || !judgement->total_us)
        return false;
    for (size_t step = 0; step < matrix->steps; step++) {
        size_t present = find_frontier(matrix, step, &front);
        if (present == 0 || (double)present < MOST_OF_RANKS * (double)matrix->ranks)
            continue;
        for (size_t stage = 0; stage < matrix->stages; stage++) {
            judgement->parts[stage].us += front.us[stage] - (stage ? front.us[stage - 1] : 0);
            leads[stage * matrix->ranks + front.rank[stage]]++;
        }
        judgement->index[judgement->used] = step;
        judgement->total_us[judgement->used++] = front.us[matrix->stages - 1];
    }
    take_parts(matrix, leads, judgement);
    return true;
}

// --- changes of the level -----------------------------------------------------------------------

struct shift {
    double before, after, sigmas;
};

static void copy(double *out, const double *values, double minus)
{
    for (size_t i = 0; i < WINDOW; i++)
        out[i] = fabs(values[i] - minus);
}

// Medians and their spread, so that single slow steps, such as checkpoints, do not count.
static struct shift shift_at(const double *totals)
{
    double values[2 * WINDOW];
    struct shift shift;
    copy(values, totals - WINDOW, 0);
    shift.before = median(values, WINDOW);
    copy(values, totals, 0);
    shift.after = median(values, WINDOW);
    copy(values, totals - WINDOW, shift.before);
    copy(values + WINDOW, totals, shift.after);
    double sigma = 1.4826 * median(values, (size_t)2 * WINDOW) * 1.2533 * sqrt(2.0 / WINDOW);
    sigma = sigma > 1e-4 * shift.before ? sigma : 1e-4 * shift.before + 1e-9;
    shift.sigmas = (shift.after - shift.before) / sigma;
    return shift;
}

static bool is_change(struct shift shift)
{
    return shift.before > 0 && fabs(shift.sigmas) >= LEAST_SIGMAS &&
           fabs(shift.after - shift.before) >= LEAST_SHARE * shift.before;
}

// Where the next change is strongest, from a step on; SIZE_MAX: nowhere.
static size_t next_change(const struct step_judgement *judgement, size_t from, struct shift *best)
{
    size_t found = SIZE_MAX;
    for (size_t at = from; at + WINDOW <= judgement->used; at++) {
        if (found != SIZE_MAX && at > found + WINDOW)
            break;
        struct shift shift = shift_at(judgement->total_us + at);
        if (is_change(shift) && (found == SIZE_MAX || fabs(shift.sigmas) > fabs(best->sigmas))) {
            found = at;
            *best = shift;
        }
    }
    return found;
}

// The step from which the totals fit the new level better than the old one. Windows before and
// after differ most over a range of steps.
static size_t sharpen(const struct step_judgement *judgement, size_t at, struct shift shift)
{
    const double *totals = judgement->total_us;
    size_t first = at - WINDOW / 2, last = at + WINDOW / 2, best = at;
    double gain = 0, most = -INFINITY;
    for (size_t split = first; split <= last && split + WINDOW <= judgement->used; split++) {
        if (split >= WINDOW && gain > most) {
            most = gain;
            best = split;
        }
        gain += fabs(totals[split] - shift.after) - fabs(totals[split] - shift.before);
    }
    return best;
}

// --- suspects -----------------------------------------------------------------------------------

// How much longer a rank's stage takes in the steps from `at` on; NAN without enough steps.
static double gain_of(const struct step_matrix *matrix, const struct step_judgement *judgement,
                      size_t at, size_t rank, size_t stage)
{
    double sides[2][WINDOW];
    size_t counts[2] = {0, 0};
    for (size_t i = 0; i < (size_t)2 * WINDOW; i++) {
        uint32_t us = row(matrix, judgement->index[at - WINDOW + i], rank)[stage];
        size_t side = i >= WINDOW;
        if (us != STEP_MISSING)
            sides[side][counts[side]++] = us;
    }
    if (counts[0] < WINDOW / 2 || counts[1] < WINDOW / 2)
        return NAN;
    return median(sides[1], counts[1]) - median(sides[0], counts[0]);
}

static void offer(struct step_change *change, struct step_suspect suspect)
{
    for (size_t i = 0; i < STEP_SUSPECTS; i++)
        if (suspect.gain_us > change->suspects[i].gain_us) {
            struct step_suspect worse = change->suspects[i];
            change->suspects[i] = suspect;
            suspect = worse;
        }
}

// Ranks that wait for another one gain the same in the stage where they wait: what counts is more
// than the median rank. A stage is slower everywhere if even the rank that gains least does.
static void suspect_stage(struct step_change *change, size_t stage, const double *gains,
                          double *sorted, size_t ranks)
{
    size_t known = 0;
    for (size_t rank = 0; rank < ranks; rank++)
        if (!isnan(gains[rank]))
            sorted[known++] = gains[rank];
    if (!known)
        return;
    double middle = median(sorted, known);
    offer(change, (struct step_suspect){STEP_ALL_RANKS, stage, sorted[known / 50]});
    for (size_t rank = 0; known > 1 && rank < ranks; rank++)
        if (!isnan(gains[rank]))
            offer(change, (struct step_suspect){(int)rank, stage, gains[rank] - middle});
}

static bool find_suspects(const struct step_matrix *matrix, const struct step_judgement *judgement,
                          struct arena *arena, struct step_change *change, struct err *err)
{
    double *gains = arena_array(arena, 2 * matrix->ranks, sizeof *gains, err);
    double sign = change->after_us < change->before_us ? -1 : 1;
    if (!gains)
        return false;
    for (size_t i = 0; i < STEP_SUSPECTS; i++)
        change->suspects[i] = (struct step_suspect){STEP_ALL_RANKS, 0, -INFINITY};
    for (size_t stage = 0; stage < matrix->stages; stage++) {
        for (size_t rank = 0; rank < matrix->ranks; rank++)
            gains[rank] = sign * gain_of(matrix, judgement, change->at, rank, stage);
        suspect_stage(change, stage, gains, gains + matrix->ranks, matrix->ranks);
    }
    for (size_t i = 0; i < STEP_SUSPECTS; i++)
        change->suspects[i].gain_us *= sign;
    return true;
}

static bool find_changes(const struct step_matrix *matrix, struct arena *arena,
                         struct step_judgement *judgement, struct err *err)
{
    struct shift shift = {0};
    size_t at = WINDOW;
    while (judgement->change_count < STEP_MOST_CHANGES &&
           (at = next_change(judgement, at, &shift)) != SIZE_MAX) {
        struct step_change *change = &judgement->changes[judgement->change_count++];
        at = sharpen(judgement, at, shift);
        *change =
            (struct step_change){.at = at, .before_us = shift.before, .after_us = shift.after};
        if (!find_suspects(matrix, judgement, arena, change, err))
            return false;
        change->at = judgement->index[at];
        at += WINDOW;
    }
    return true;
}

bool step_judge(const struct step_matrix *matrix, struct arena *arena,
                struct step_judgement *judgement, struct err *err)
{
    *judgement = (struct step_judgement){0};
    if (!matrix->steps || !matrix->ranks || !matrix->stages)
        return true;
    if (!account(matrix, arena, judgement, err))
        return false;
    double *sorted = arena_array(arena, judgement->used + 1, sizeof *sorted, err);
    if (!sorted)
        return false;
    for (size_t i = 0; i < judgement->used; i++)
        sorted[i] = judgement->total_us[i];
    judgement->median_us = judgement->used ? median(sorted, judgement->used) : 0;
    return find_changes(matrix, arena, judgement, err);
}
