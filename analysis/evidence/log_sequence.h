// SPDX-License-Identifier: Apache-2.0
// The steps of a training log in one sequence: the lines of one rank if several printed, cut where
// the step numbers go back after a restart.
#ifndef ANALYSIS_EVIDENCE_LOG_SEQUENCE_H
#define ANALYSIS_EVIDENCE_LOG_SEQUENCE_H

#include "ingest/base/arena.h"
#include "ingest/evidence/log_book.h"

struct log_line {
    const struct log_step *printed; // the book's, unless corrected
    int64_t segment;                // counts restarts from 0
    int64_t step;                   // its number, or its place in the segment if it has none
    int64_t step_ns;                // -1 unknown
    int64_t since_ns;               // when it was printed, from the first step on; -1 unknown
    bool steady;
    double samples_per_s; // of the job; NAN unknown
};

struct log_sequence {
    struct log_line *lines;
    size_t count;
    int64_t rank; // whose lines they are; -1 unknown
    int64_t restarts;
    int64_t median_ns; // of the times of steps; 0 without any
    int64_t begin_ns;  // of the first line that has a time; LOG_NO_TIME
    bool corrected;    // lines have other figures than the book
};

// Lines live in the arena, and refer to the book.
MUST_CHECK bool log_sequence_of(const struct log_book *book, struct arena *arena,
                                struct log_sequence *sequence, struct err *err);

// A time since the first line that has one; false if it is unknown.
bool log_sequence_since(const struct log_sequence *sequence, int64_t time_ns, int64_t *ns);

// The segment of a byte position in the file.
int64_t log_sequence_segment(const struct log_sequence *sequence, uint64_t pos);

#endif
