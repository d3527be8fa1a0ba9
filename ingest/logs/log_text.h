// SPDX-License-Identifier: Apache-2.0
// Numbers, colors and prefixes in lines of logs.
#ifndef INGEST_LOGS_LOG_TEXT_H
#define INGEST_LOGS_LOG_TEXT_H

#include "ingest/base/err.h"
#include "ingest/base/str.h"

// From `at`, which may be past the end.
static inline struct str log_from(struct str text, size_t at)
{
    at = at < text.len ? at : text.len;
    return (struct str){text.at + at, text.len - at};
}

struct str log_trim(struct str text);

enum log_number {
    LOG_NUMBER,
    LOG_NO_NUMBER, // a word, such as "N/A"
    LOG_GARBLED,   // a number that runs into something else
};

// The number at the start: "7,123", "1.5E-04", "nan", "inf"; *rest is what follows it.
enum log_number log_number(struct str text, double *number, struct str *rest);
// Whether all of a text is one.
bool log_is_number(struct str text, double *number);

// Whether a comma is there that three digits follow, as in "7,123".
bool log_is_group(struct str text, size_t at);

// A count at the start, after blanks, and not beyond INT64_MAX.
bool log_count(struct str text, int64_t *count, struct str *rest);

// The text without the codes of terminals, also those that lost their escape character ("[36m"), in
// `room` if it has any; cut if it does not fit.
struct str log_uncolored(struct str text, char *room, size_t cap);

// What stands before the message: who wrote it, and when.
struct log_prefix {
    int64_t rank;    // -1 unknown
    int64_t time_ns; // LOG_NO_TIME
    bool utc;        // the time says its zone, and was converted
};
struct log_prefix log_prefix_of(struct str text);

// The length of a time that says its zone at the start, and the blank after it, as container
// runtimes write them; 0 if there is none.
size_t log_stamp_length(struct str text);

// What a progress bar of tqdm says from the number of the step on: "30/100
// [00:45<01:45, 1.50s/it]".
struct log_bar {
    int64_t step, total;
    double seconds; // per step; 0 unknown
};

// The next bar of a text, which then begins at its number: behind "12%|#  | ", or "12% " as
// notebooks show it.
bool log_bar_find(struct str *text, struct log_bar *bar);
// The last bar of a text, or the first.
bool log_bar_of(struct str text, bool first, struct log_bar *bar);

#endif
