// SPDX-License-Identifier: Apache-2.0
// A decoder-only language model's training step: forward, backward, communication, optimizer.
#pragma once

#include "tests/tracegen/program.h"

// Appends one step of a model with that many layers; `filler` metadata operators go into each of
// the model's linear layers.
void transformer_write(struct program *program, const struct arguments *arguments, int32_t layers,
                       int64_t filler);

// How many places in a step take filler operators.
int64_t transformer_fillers(int32_t layers);
