// SPDX-License-Identifier: Apache-2.0
// What files of metrics hold: a series per name, and spans of time that each rank recorded. Figures
// of steps among them are in the log book as well.
#ifndef INGEST_EVIDENCE_METRIC_BOOK_H
#define INGEST_EVIDENCE_METRIC_BOOK_H

#include "ingest/base/arena.h"
#include "ingest/base/str.h"

#include <stdint.h>

// The values of a name, in the order of the file.
struct metric_series {
    struct str name;
    const char *kind; // "simple_value", "tensor", "image", "histo", "other"; lives as the program
    int64_t count;
    int64_t first_step, last_step;
    double last; // NAN if the last one is no number
};

// A stretch of the host's time, as a rank recorded it.
struct metric_span {
    struct str name; // "forward_backward"
    int64_t step;    // INT64_MIN none
    int64_t begin_ns;
    int64_t dur_ns; // -1: it has no end, as when the rank died or hangs
};

struct metric_book {
    int64_t rank;           // of spans; -1 unknown
    int64_t records;        // of the file
    int64_t damaged;        // checksums that are wrong
    int64_t numbered_steps; // that records name
    int64_t ends_without_start, starts_without_end;
    struct metric_series *series; // at most METRIC_MOST_SERIES
    size_t series_count, series_cap;
    size_t series_at; // the last one added to
    struct metric_span *spans;
    size_t span_count, span_cap;
};

enum { METRIC_MOST_SERIES = 4096 };

struct metric_value {
    struct str name; // untrusted
    const char *kind;
    int64_t step;
    double number; // or NAN
};

struct evidence;

// Adds to the series of that name. ERR_LIMIT past the budget.
MUST_CHECK bool metric_book_add(struct evidence *evidence, const struct metric_value *value,
                                struct err *err);
// The name is not copied.
MUST_CHECK bool metric_book_add_span(struct evidence *evidence, const struct metric_span *span,
                                     struct err *err);
void metric_book_free(struct metric_book *metrics, struct budget *budget);

#endif
