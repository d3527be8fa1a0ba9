// SPDX-License-Identifier: Apache-2.0
// Which figure of a step a named metric is, in the spellings of training frameworks.
#ifndef INGEST_LOGS_METRIC_TAGS_H
#define INGEST_LOGS_METRIC_TAGS_H

#include "ingest/evidence/evidence.h"

// The scalar of a name at a step.
struct metric_scalar {
    struct str name;
    double number;
    int64_t step;
    int64_t time_ns; // LOG_NO_TIME
    int64_t rank;    // -1
    uint64_t pos;
};

// What NeMo Automodel calls per GPU is divided by the copies of the model only. Beside it "tps",
// which is per GPU elsewhere, is of the whole job.
#define METRIC_COPY_TOKENS "tps_per_gpu"
#define METRIC_JOB_TOKENS  "tps of the job"

// Adds it to its step in the log book, whose values may come one by one; nothing if the name is not
// that of a figure.
MUST_CHECK bool metric_take(struct evidence *evidence, const struct metric_scalar *written,
                            const char *writer, struct err *err);

#endif
