// SPDX-License-Identifier: Apache-2.0
// How many weights of a model work on a token, from what files state of its shape and size.
#ifndef ANALYSIS_RUN_MODEL_SIZE_H
#define ANALYSIS_RUN_MODEL_SIZE_H

#include "analysis/report/report.h"

struct model_size {
    double active;      // weights that work on a token, frozen or not; 0 unknown
    bool adapter;       // most are frozen
    double trained;     // the others then; 0 unknown
    const char *source; // where `active` is from, for people
    const char *why;    // what is missing if it is unknown, for people
};

// Takes the parameters as stated, else those of the ranks that hold the model together, else the
// weights of matrix products by the shape. Of experts only those chosen for a token count. Texts
// are in the report's arena.
MUST_CHECK bool run_model_size(const struct report *report, struct model_size *size,
                               struct err *err);

// Width of all heads together, the mean of keys and values; 0 unknown.
double run_attention_width(const struct report *report);

#endif
