// SPDX-License-Identifier: Apache-2.0
// Stage times of a run's ranks, append-only in two files: only the newest stay, so that a run takes
// bounded space, whatever its ranks send.
#ifndef SERVER_STEP_LOG_H
#define SERVER_STEP_LOG_H

#include "server/steps/step_judge.h"

#define STEP_LOG_MOST_BYTES ((uint64_t)128 << 20) // of each file; then the older one goes
enum { STEP_MOST_ROWS = 1000, STEP_MOST_NAME = 32, STEP_MOST_RANKS = 16384 };

struct step_stages {
    char names[STEP_MOST_STAGES][STEP_MOST_NAME + 1];
    size_t count;
};

// Steps of one rank, one after another.
struct step_rows {
    uint32_t rank;
    uint64_t first_step;
    size_t count, stages;
    const uint32_t *us; // by step and stage, in the order of the run's stages
};

// The folder of a run, made if missing. The caller's stages get their places among the run's, at
// most STEP_MOST_STAGES. ERR_USAGE, ERR_IO, ERR_SPACE.
MUST_CHECK bool step_log_stages(const char *folder, const struct step_stages *given,
                                struct step_stages *all, size_t places[STEP_MOST_STAGES],
                                struct err *err);

// Reads what stages a run has; none if it has no log.
MUST_CHECK bool step_log_read_stages(const char *folder, struct step_stages *stages,
                                     struct err *err);

// What appending them takes.
uint64_t step_log_bytes(const struct step_rows *rows);
MUST_CHECK bool step_log_append(const char *folder, const struct step_rows *rows, struct err *err);

// The newest steps since the job started last, of all ranks that have any of these.
struct step_window {
    struct step_matrix matrix;
    uint64_t first_step;
    const uint32_t *ranks; // their numbers, ascending
};

// At most most_steps, and fewer of very many ranks. Lives in the arena. A torn block is passed
// over.
MUST_CHECK bool step_log_read(const char *folder, size_t stages, size_t most_steps,
                              struct arena *arena, struct step_window *window, struct err *err);

#endif
