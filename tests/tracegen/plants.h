// SPDX-License-Identifier: Apache-2.0
// Faults of a training step, each with its true cost.
#pragma once

#include "tests/tracegen/builder.h"

// Write the faults before the forward.
void plants_write_start(struct builder *b);

// Write those between forward and backward.
void plants_write_model(struct builder *b);

// Write their backward, after the backward of the loss.
void plants_write_backward(struct builder *b);

// Write collectives after the backward.
void plants_write_gradients(struct builder *b);

// Write those within the optimizer's step.
void plants_write_optimizer(struct builder *b);

// Make those that change what is already written.
void plants_change(struct builder *b);

// Whether an instruction is executed in the step with that number, counted from 0.
bool plants_are_due(enum schedule schedule, int32_t step);
