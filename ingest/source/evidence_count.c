// SPDX-License-Identifier: Apache-2.0
#include "ingest/source/evidence_count.h"

bool evidence_gathered(const struct format_input *input, evidence_gather *gather,
                       struct evidence *evidence, struct err *err)
{
    struct format_input gathering = *input;
    evidence_init(evidence, input->budget);
    gathering.evidence = evidence;
    return gather(&gathering, err);
}

bool evidence_count(const struct evidence_count *how, const struct format_input *input,
                    struct err *err)
{
    struct evidence evidence;
    bool ok = evidence_gathered(input, how->gather, &evidence, err);
    if (ok)
        how->report(&evidence, input->figures);
    evidence_free(&evidence);
    return ok;
}
