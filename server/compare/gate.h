// SPDX-License-Identifier: Apache-2.0
// Whether a candidate may pass, in three lines for a tired person: the verdict with its numbers and
// the limit; why; the evidence and what to do next.
#ifndef SERVER_GATE_H
#define SERVER_GATE_H

#include "analysis/run/run_figures.h"
#include "analysis/stats/anytime.h"
#include "server/compare/contributors.h"

enum { GATE_LINES = 3 };

// Bounds of a limit.
#define GATE_LEAST_REGRESSION (-0.99)
#define GATE_MOST_REGRESSION  10.0

struct gate_question {
    struct compared_pair pair;
    struct verdict_limits limits;
    double max_regression; // 0.03: steps may become 3 % longer; within the bounds above
    bool of_files;         // repeats come from the command line, not from uploads
    bool sequential;       // read again after every run: the sequential test decides
    const char *base_note; // which runs of NAME@* the base is, in words; NULL: all
};

struct gate_answer {
    enum gate gate;
    bool has_steps; // otherwise there is nothing to judge: undecided
    struct judgement judgement;
    struct anytime anytime;        // against the limit
    const char *lines[GATE_LINES]; // clean, without line ends
};

// Texts live in arena. ERR_LIMIT.
MUST_CHECK bool gate_answer(const struct gate_question *question, struct arena *arena,
                            struct gate_answer *answer, struct err *err);

// The same for another figure of runs than their step time.
struct gate_metric {
    const struct run_figure *figure;
    const double *values[2]; // of the runs of base and candidate that have it
    size_t counts[2];
    const char *names[2];  // of the sides, clean
    struct str sources[2]; // of the values, "log", "trace", ...; "" unknown
    struct verdict_limits limits;
    double max_regression; // 0.03: it may become 3 % worse
    const char *base_note; // as of steps
    double medians[2];     // set by gate_metric_answer; NAN unknown
};

// The lines and the judgement differ: times are unknown, shares say how much worse the candidate
// is. ERR_LIMIT.
MUST_CHECK bool gate_metric_answer(struct gate_metric *question, struct arena *arena,
                                   struct gate_answer *answer, struct err *err);

// The answer's judgement as a JSON object.
void gate_judgement_json(const struct judgement *judgement, struct buf *out);

// The result of the sequential test, as a JSON object.
void gate_anytime_json(double alpha, const struct gate_answer *answer, struct buf *out);

// Thresholds, {"alpha":0.05,...}: as given, or the defaults.
void gate_limits_json(const struct verdict_limits *limits, struct buf *out);

#endif
