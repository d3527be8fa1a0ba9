// SPDX-License-Identifier: Apache-2.0
// What a difference in step time consists of, largest first: operators, collectives, idle causes.
#ifndef SERVER_CONTRIBUTORS_H
#define SERVER_CONTRIBUTORS_H

#include "analysis/compare/compare.h"

// One compared candidate.
struct compared_pair {
    const struct report *report;            // compare_tables
    int64_t cand;                           // number of the candidate, from 1
    const struct compare_side *base, *side; // the base's runs and the candidate's
    bool per_token;                         // the candidate is scaled to the base's tokens
};

// Texts are clean: one line without control characters, valid UTF-8, of moderate length.
struct contributor {
    const char *name;
    const char *why;  // a sentence, "" without
    int64_t delta_ns; // of a mean step
};

// The rows of compare_reasons, largest first. ERR_LIMIT.
struct contributors {
    struct contributor *at;
    size_t count;
    int64_t whole_ns; // difference of the mean steps
};
MUST_CHECK bool contributors_find(const struct compared_pair *pair, struct arena *arena,
                                  struct contributors *found, struct err *err);

// The candidate's row of figures; -1 if there is none.
int64_t contributors_summary_row(const struct compared_pair *pair, const struct table **summary);

// Whether no step of the base, or of the candidate, is marked: all that it recorded counts as one.
bool contributors_no_steps(const struct compared_pair *pair, bool of_cand);

// The same of both: times are of recordings, not of steps.
bool contributors_whole(const struct compared_pair *pair);

// What keeps the two from being compared as asked; "" without.
struct str contributors_doubts(const struct compared_pair *pair);

// What the parts of a side sum to: "mean step", or "recording", of repeats "mean recording".
const char *contributors_sum_word(const struct compared_pair *pair);

// A text as one clean line of at most max bytes, truncated with dots.
const char *contributors_clean(struct str text, size_t max, struct arena *arena);

#endif
