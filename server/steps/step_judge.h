// SPDX-License-Identifier: Apache-2.0
// What stage times of all ranks say: which stage a step's time goes to, since when steps are
// slower, and which rank and stage that comes from. Clocks of ranks are never compared.
#ifndef SERVER_STEP_JUDGE_H
#define SERVER_STEP_JUDGE_H

#include "ingest/base/arena.h"

#define STEP_MISSING UINT32_MAX
enum { STEP_MOST_STAGES = 16, STEP_MOST_CHANGES = 8, STEP_ALL_RANKS = -1, STEP_SUSPECTS = 2 };

// Microseconds by step, rank and stage, in this order; a rank's row of a step is all there or
// missing.
struct step_matrix {
    const uint32_t *us;
    size_t steps, ranks, stages;
};

// A stage's part of the mean step: how much later the slowest rank is at its end than at its start.
// These parts add up to the longest sum of stages of any rank.
struct step_part {
    double us;
    size_t rank;       // the rank most often last at its end
    double rank_share; // of the steps
};

struct step_suspect {
    int rank; // index, or STEP_ALL_RANKS
    size_t stage;
    double gain_us; // how much longer than before, beyond what other ranks gained
};

struct step_change {
    size_t at; // the first step of the new level
    double before_us, after_us;
    struct step_suspect suspects[STEP_SUSPECTS]; // likeliest first
};

struct step_judgement {
    size_t used;      // steps that most ranks have; others are not used
    size_t *index;    // of these in the matrix
    double *total_us; // of each
    double median_us;
    struct step_part parts[STEP_MOST_STAGES];
    struct step_change changes[STEP_MOST_CHANGES]; // in order
    size_t change_count;
};

// Results live in the arena. ERR_LIMIT.
MUST_CHECK bool step_judge(const struct step_matrix *matrix, struct arena *arena,
                           struct step_judgement *judgement, struct err *err);

#endif
