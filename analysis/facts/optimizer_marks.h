// SPDX-License-Identifier: Apache-2.0
// Marks of optimizers: Optimizer.step#CLASS.step.
#ifndef ANALYSIS_OPTIMIZER_MARKS_H
#define ANALYSIS_OPTIMIZER_MARKS_H

#include "analysis/facts/step_marks.h"
#include "analysis/stats/sort.h"

// Takes out optimizers of single parameters that step in the backward, as soon as the gradient is
// there. Items are in column order.
MUST_CHECK bool optimizer_marks_outside(const struct facts *facts, struct keyed *items,
                                        uint32_t *count, struct err *err);

// Leaves one mark of each iteration, which lasts until the next; none if there is only one, as it
// ends a step and begins none.
MUST_CHECK bool optimizer_marks_settle(const struct facts *facts, struct step_marks *marks,
                                       struct err *err);

#endif
