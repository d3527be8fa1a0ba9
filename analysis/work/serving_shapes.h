// SPDX-License-Identifier: Apache-2.0
// Prefill and decode without an engine's annotations: passes of a model that generates text, by the
// inputs of its attention. Silent wherever these may mean something else.
#ifndef ANALYSIS_SERVING_SHAPES_H
#define ANALYSIS_SERVING_SHAPES_H

#include "analysis/work/serving.h"

// No passes in training, or if nothing is certain. Arrays live in arena; linear in launches.
MUST_CHECK bool serving_shapes_make(const struct facts *facts, struct arena *arena,
                                    struct serving_steps *steps, struct err *err);

#endif
