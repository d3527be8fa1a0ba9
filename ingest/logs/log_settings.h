// SPDX-License-Identifier: Apache-2.0
// Settings of the job that logs print.
#ifndef INGEST_LOGS_LOG_SETTINGS_H
#define INGEST_LOGS_LOG_SETTINGS_H

#include "ingest/evidence/evidence.h"

enum log_setting_form {
    LOG_LIST,   // "local batch size 8, global batch size 64", also with ':' or '='
    LOG_DOTS,   // "name ......... value"
    LOG_REST,   // the value is what follows the mark, its name
    LOG_BEFORE, // the name of a data set stands before the mark
    LOG_TRAIN,  // HF's last dictionary
    LOG_AMOUNT, // a number follows the mark: "8.030 billion"
    LOG_OF,     // a number stands before the mark: "54.7 M", "8,030,261,248"
    LOG_RANK,   // "0, 1): 504889344" after the mark: of a tensor and a pipeline rank
    LOG_PART,   // "4,194,304 || all params: 6,742,609,920": those that are trained, and all
    LOG_AFTER,  // "dense 1,234, sparse 15,000, active 2,345" after the mark
};

struct log_setting_row {
    const char *mark; // LOG_MARK_BYTES or longer
    enum log_setting_form form;
    bool with_mark;   // which is of the first name
    const char *name; // of a number
};

extern const struct log_setting_row log_setting_rows[];
extern const size_t log_setting_row_count;

// Takes what a line without colors says after a mark at `at`.
MUST_CHECK bool log_setting_read(const struct log_setting_row *row, struct str text, size_t at,
                                 struct evidence *evidence, struct err *err);

// A line of a block of arguments. *is: whether it was one.
MUST_CHECK bool log_argument_read(struct str text, struct evidence *evidence, bool *is,
                                  struct err *err);

#endif
