// SPDX-License-Identifier: Apache-2.0
// The progress bar of Lightning's training counted the batches of validations as well before
// version 2.0, whose bars move on beside it meanwhile.
#ifndef INGEST_LOGS_LOG_VALIDATION_H
#define INGEST_LOGS_LOG_VALIDATION_H

#include "ingest/base/str.h"
#include "ingest/evidence/log_book.h"

struct log_validation {
    int64_t before, at, total; // batches of this epoch's earlier validations, and of the latest
    int64_t epoch;             // of the training's bar; -1 none so far
    int64_t count, all;        // where it was, and its length
    int64_t validated;         // batches until then
    int64_t begin;             // steps before this epoch
    bool counted;              // the training's bar counts them
};

// A line of a validation's bar, from its name on: that of the training may have a figure of that
// name.
void log_validation_bar(struct log_validation *validation, struct str text);

// A line of the training's bar, after that of `last` (or NULL): its number becomes that of the
// step.
void log_validation_number(struct log_validation *validation, struct str text,
                           const struct log_step *last, struct log_step *step);

#endif
