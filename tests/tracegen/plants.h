// SPDX-License-Identifier: Apache-2.0
// Faults of a training step, each with its true cost.
#pragma once

#include "tests/tracegen/builder.h"

// Those before the forward.
void plants_write_start(struct builder *b);

// Those between forward and backward.
void plants_write_model(struct builder *b);

// Their backward, after the backward of the loss.
void plants_write_backward(struct builder *b);

// Collectives after the backward.
void plants_write_gradients(struct builder *b);

// Those within the optimizer's step.
void plants_write_optimizer(struct builder *b);

// Those that change what is already written.
void plants_change(struct builder *b);

// Whether an instruction is executed in the step with that number, counted from 0.
bool plants_are_due(enum schedule schedule, int32_t step);
