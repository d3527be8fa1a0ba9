// SPDX-License-Identifier: Apache-2.0
// Whether a candidate may be let through, in three lines for a tired person: the verdict with its
// numbers and the limit; why; what the evidence is and what to do next.
#ifndef SERVER_GATE_H
#define SERVER_GATE_H

#include "analysis/stats/anytime.h"
#include "server/compare/contributors.h"

enum { GATE_LINES = 3 };

// What a limit may be.
#define GATE_LEAST_REGRESSION (-0.99)
#define GATE_MOST_REGRESSION  10.0

struct gate_question {
    struct compared_pair pair;
    struct verdict_limits limits;
    double max_regression; // 0.03: steps may become 3 % longer; within the bounds above
    bool of_files;         // repeats are given on the command line, not uploaded
    bool sequential;       // asked again after every run: the sequential test is the answer
};

struct gate_answer {
    enum gate gate;
    bool has_steps; // else there is nothing to judge: undecided, whatever else is tried
    struct judgement judgement;
    struct anytime anytime;        // against the limit
    const char *lines[GATE_LINES]; // clean, without line ends
};

// Texts live in arena. ERR_LIMIT.
MUST_CHECK bool gate_answer(const struct gate_question *question, struct arena *arena,
                            struct gate_answer *answer, struct err *err);

// How a side is called: its run's name, or the name and how many runs there are. Clean.
const char *gate_side_name(const struct compare_side *side, struct arena *arena);

// The answer's judgement as a JSON object.
void gate_judgement_json(const struct judgement *judgement, struct buf *out);

// What the sequential test says, as a JSON object.
void gate_anytime_json(const struct gate_question *question, const struct gate_answer *answer,
                       struct buf *out);

// Thresholds, {"alpha":0.05,...}: as asked, or as they go without saying.
void gate_limits_json(const struct verdict_limits *limits, struct buf *out);

#endif
