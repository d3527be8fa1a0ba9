// SPDX-License-Identifier: Apache-2.0
// A line of figures as keys and values, in the styles that training frameworks print.
#ifndef INGEST_LOGS_LOG_FIELDS_H
#define INGEST_LOGS_LOG_FIELDS_H

#include "ingest/base/str.h"

enum log_style {
    LOG_BARS,   // " | lm loss: 2.1E+00 | global batch size:   128 |", also without colons, or "9 ms
                // |"
    LOG_WORDS,  // "loss: 12.15  grad_norm:  1.70  memory: 47.10GiB(48.51%)"
    LOG_SETS,   // "tflops=229.6 step=642 loss=2.17", or with commas between
    LOG_PAIRS,  // "iter 10: loss 9.9000, time 564.14ms, mfu 38.85%"
    LOG_COMMAS, // "seconds: 5.668, TFLOP/s/device: 134.914"
    LOG_EQUALS, // "RunningAvgSamplesPerSec=220.7, CurrSamplesPerSec=222.9"
    LOG_DICT,   // "'loss': 2.09, 'learning_rate': '5e-05'", within the braces
    LOG_LINE,   // "Total step time: 21.50s": one to a line
    LOG_ASSIGN, // "train/CE loss=2.31": one to a line
    LOG_MEANS,  // "Time 0.550 (1.315)\tLoss 6.7401 (6.8409)": a word before each number
};

struct log_fields {
    enum log_style style;
    struct str rest;
    bool ended; // the line's end is there, so that the last value is whole
};

// The next field; false after the last one. Without blanks and quotes around key and value.
bool log_fields_next(struct log_fields *fields, struct str *key, struct str *value);

#endif
