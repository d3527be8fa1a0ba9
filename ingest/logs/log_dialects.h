// SPDX-License-Identifier: Apache-2.0
// How frameworks print a step: a row per dialect, a line per figure. To add a framework, add a row.
#ifndef INGEST_LOGS_LOG_DIALECTS_H
#define INGEST_LOGS_LOG_DIALECTS_H

#include "ingest/evidence/log_book.h"

// How the figures of a line are separated, and their names from their values.
enum log_style {
    LOG_BARS,   // "iteration 5/ 100 | lm loss: 2.5 | lr 0.1"
    LOG_SPACED, // "step:  5  loss:  2.5"
    LOG_COMMAS, // "completed step: 5, loss: 2.5"
    LOG_EQUALS, // "epoch=0/global_step=5, SamplesPerSec=2.5"
    LOG_DICT,   // "{'loss': 2.5, 'epoch': 0.1}"
};

#define LOG_FIELD_STEP LOG_VALUES // the number of the step, not one of its figures
#define LOG_NO_VALUE   (-1)

struct log_field {
    struct str name;
    bool goes_on; // more may follow its name
    int value;    // enum log_value, or LOG_FIELD_STEP
    double scale; // of the printed number to the unit of enum log_value
    int inner;    // what is in brackets after it; LOG_NO_VALUE
};

struct log_dialect {
    const char *name;   // "megatron"
    struct str needle;  // what only such lines have
    const char *start;  // where the figures start in a line; the last one before the needle
    const char *unless; // lines with this before the figures are something else; NULL
    enum log_style style;
    uint32_t required; // bits 1 << enum log_value: any of them makes it a step
    bool numbered;     // its steps have numbers
    const struct log_field *fields;
    size_t field_count;
};

enum { LOG_DIALECT_COUNT = 10 };
extern const struct log_dialect log_dialects[LOG_DIALECT_COUNT];

// The figures of a line; needle_at: where the dialect's needle is in it. *start: where they start.
// False if it is no whole step.
bool log_dialect_read(const struct log_dialect *dialect, struct str line, size_t needle_at,
                      size_t *start, struct log_step *step);

#endif
