// SPDX-License-Identifier: Apache-2.0
// Figures of metrics for inspect, out of what was gathered.
#ifndef INGEST_LOGS_METRIC_COUNT_H
#define INGEST_LOGS_METRIC_COUNT_H

#include "ingest/evidence/evidence.h"
#include "ingest/format.h"

struct metric_count {
    bool (*gather)(const struct format_input *input, struct err *err);
    void (*report)(const struct evidence *evidence, struct figures *figures);
};

// Gathers, and reports what was found.
MUST_CHECK bool metric_count(const struct metric_count *how, const struct format_input *input,
                             struct err *err);

#endif
