// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/metric_count.h"

bool metric_count(const struct metric_count *how, const struct format_input *input, struct err *err)
{
    struct evidence evidence;
    struct format_input gathering = *input;
    evidence_init(&evidence, input->budget);
    gathering.evidence = &evidence;
    bool ok = how->gather(&gathering, err);
    if (ok)
        how->report(&evidence, input->figures);
    evidence_free(&evidence);
    return ok;
}
