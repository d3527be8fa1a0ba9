// SPDX-License-Identifier: Apache-2.0
// Figures for inspect of a file that is no trace, from what was gathered from it.
#ifndef INGEST_SOURCE_EVIDENCE_COUNT_H
#define INGEST_SOURCE_EVIDENCE_COUNT_H

#include "ingest/evidence/evidence.h"
#include "ingest/source/format.h"

typedef bool evidence_gather(const struct format_input *input, struct err *err);

// Gathers into new evidence. Pair with evidence_free, also on failure.
MUST_CHECK bool evidence_gathered(const struct format_input *input, evidence_gather *gather,
                                  struct evidence *evidence, struct err *err);

struct evidence_count {
    evidence_gather *gather;
    void (*report)(const struct evidence *evidence, struct figures *figures);
};

// Gathers, and reports what was found.
MUST_CHECK bool evidence_count(const struct evidence_count *how, const struct format_input *input,
                               struct err *err);

#endif
