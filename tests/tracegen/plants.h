// SPDX-License-Identifier: Apache-2.0
// Faults of a training step, each with what it truly costs.
#pragma once

#include "tests/tracegen/builder.h"

// Those that stand before the forward.
void plants_write_start(struct builder *b);

// Those that stand between forward and backward.
void plants_write_model(struct builder *b);

// What of them comes back behind the backward of the loss.
void plants_write_backward(struct builder *b);

// Collectives behind the backward.
void plants_write_gradients(struct builder *b);

// Those that stand within the optimizer's step.
void plants_write_optimizer(struct builder *b);

// Those that change what is written already.
void plants_change(struct builder *b);

// Whether an instruction is executed in the step of that number, the first being 0.
bool plants_are_due(enum schedule schedule, int32_t step);
