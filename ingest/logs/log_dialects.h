// SPDX-License-Identifier: Apache-2.0
// How training frameworks print a step. To add one: a table of its fields in log_dialect_fields.h
// and a row in log_dialects.c.
#ifndef INGEST_LOGS_LOG_DIALECTS_H
#define INGEST_LOGS_LOG_DIALECTS_H

#include "ingest/evidence/log_book.h"
#include "ingest/logs/log_fields.h"

// What a number is that is no figure by itself.
enum {
    LOG_UNUSED = -1,
    LOG_ITS_STEP = -2,        // the number of the step
    LOG_STEPS_PER_S = -3,     // since the last line
    LOG_ALL_STEPS_PER_S = -4, // since the job began
    LOG_LOSS_IF_ANY = -5,     // -1 of a stage of the pipeline that has none
};

// A figure: number times scale.
struct log_field {
    const char *key; // with a '*' at its end: what a key starts with, at its start: ends with
    int value;       // enum log_value, or one of those above
    double scale;
    const char *units; // that may follow the number, separated by blanks; NULL: none
};

struct log_dialect {
    const char *name;      // "megatron", in figures
    const char *source;    // "megatron-lm"
    const char *mark;      // in every line of a step, LOG_MARK_BYTES or longer
    const char *steps[2];  // what its number follows, else the second; NULL: it has none
    const char *not_after; // not a step if this stands right before that; or NULL
    const char *in_epoch;  // else what a number follows that counts from the start of the epoch
    const char *epoch;     // what the number of that follows; NULL: from the start of the job
    int64_t first_epoch;   // 0, or 1
    const char *batches; // what the number of batches follows, of which several are a step and one
                         // has a time: only lines with "(step)" end one; or NULL
    bool counts_before;  // the number is that of the steps before
    bool whole;          // figures are before the number, too
    bool bar;            // figures behind a progress bar, which has the time of a step and is
                         // written again
    bool any_bar;        // other loops have such a line, too
    bool validates;      // the bar may count validations, too: log_validation
    enum log_style style;
    bool heads;     // a heading, whose figures are in lines below it
    bool block;     // a heading, whose figures are in the next lines, one to a line
    bool below;     // such a line, from the mark on
    bool records;   // of MLPerf: log_mlperf
    bool minor;     // of two lines about a step, the one without its number
    bool timer;     // its numbers may not be the job's: log_timer
    unsigned needs; // bits 1 << enum log_value, without which it is not a step
    const struct log_field *fields;
    size_t field_count;
};

extern const struct log_dialect log_dialects[];
extern const size_t log_dialect_count;

enum {
    LOG_MOST_DIALECTS = 80,
    LOG_MOST_FIELDS = 256, // verl prints more than a hundred
};

// The rows of the last line's fields: the next line mostly has the same.
struct log_hints {
    unsigned char rows[LOG_MOST_FIELDS];
};

enum { LOG_LONGEST_LINE = 16 << 10 }; // of those that may be steps

// A line without its end and without colors.
struct log_written {
    struct str text;
    bool ended; // the line's end was there
};

// Reads it as a step: number, figures, rank and time; false if it is none. The position is left to
// the caller, and so is *utc: whether the time is in UTC.
bool log_dialect_read(const struct log_dialect *dialect, const struct log_written *line,
                      struct log_hints *hints, struct log_step *step, bool *utc);

// Reads a line of a block. False: it is none, so the block is over.
bool log_dialect_below(const struct log_dialect *dialect, const struct log_written *line,
                       struct log_step *step);

#endif
