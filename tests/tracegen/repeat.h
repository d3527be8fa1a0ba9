// SPDX-License-Identifier: Apache-2.0
// What makes runs of one program differ: each run is a little faster or slower as a whole, and so
// is each operator in it. Also an operator that is slowed down on purpose.
#pragma once

#include "tests/tracegen/program.h"

// The speed of the whole run in millionths, 1000000 without run noise.
int64_t repeat_run_ppm(const struct arguments *arguments);

// Draws each operator's speed and slows down the one named on the command line. Returns the device
// time per step that this adds, before noise.
int64_t repeat_apply(const struct arguments *arguments, struct program *program);
