// SPDX-License-Identifier: Apache-2.0
// Operations per token of training a dense transformer, from what files state of the model.
#ifndef ANALYSIS_RUN_MODEL_FLOPS_H
#define ANALYSIS_RUN_MODEL_FLOPS_H

#include "analysis/report/report.h"

struct model_flops {
    double per_token;  // forward and backward, without recomputation; 0 unknown
    const char *basis; // formula and numbers, for people
};

// 6 N + 12 L H S, of N parameters, L layers of width H and S tokens per sequence; without
// attention, 6 N, where only the parameters are stated. Unknown for mixtures of experts, which use
// some of their parameters, and for adapters, which leave most unchanged. Texts are in the report's
// arena.
MUST_CHECK bool run_model_flops(const struct report *report, struct model_flops *flops,
                                struct err *err);

#endif
