// SPDX-License-Identifier: Apache-2.0
// The rows of work behind device events, for rules about how well they are done.
#ifndef ANALYSIS_FINDINGS_WORK_H
#define ANALYSIS_FINDINGS_WORK_H

#include "analysis/findings/findings.h"
#include "analysis/work/work_roofline.h"

struct finding_work {
    struct work_rows rows;
    uint32_t *row_of_launch; // FACTS_NONE without one
    int64_t *steady_ns;      // per row: time owned by its device events in steady steps
    double *saved;           // per row: share of that time that could be saved; initially 0
};

// Makes the rows once for all rules, in the case's arena; without `saved`.
MUST_CHECK bool finding_work_share(struct finding_case *the_case, struct err *err);

// The shared rows with shares that are a rule's; in the case's arena.
MUST_CHECK bool finding_work_make(const struct finding_case *the_case, struct finding_work **work,
                                  struct err *err);

// A claim whose context is a struct finding_work: the saved share of an atom.
int64_t finding_work_claim(const struct finding_case *the_case, const void *context,
                           const struct atom *atom);

// Shares of the time of matrix products by precision, from the table of utilization; 0 if unknown.
double finding_gemm_share(const struct finding_case *the_case, enum precision precision);

#endif
