// SPDX-License-Identifier: Apache-2.0
// Operations per token of training a transformer, from what files state of the model.
#ifndef ANALYSIS_RUN_MODEL_FLOPS_H
#define ANALYSIS_RUN_MODEL_FLOPS_H

#include "analysis/report/report.h"

struct model_flops {
    double per_token;  // forward and backward, without recomputation; 0 unknown
    const char *basis; // formula and numbers, for people
    const char *why;   // if unknown: what is missing, for people
};

// 6 N + 12 L H S, of N weights that work on a token, L layers whose heads are H wide together, and
// S tokens per sequence (A. Chowdhery et al., PaLM, 2022, appendix B); without attention, 6 N,
// where only the size is stated. A frozen weight takes 4 of the 6: its own gradient is left out.
// Texts are in the report's arena.
MUST_CHECK bool run_model_flops(const struct report *report, struct model_flops *flops,
                                struct err *err);

#endif
