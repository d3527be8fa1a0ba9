// SPDX-License-Identifier: Apache-2.0
// Idle time with a known cause.
#pragma once

#include "tests/tracegen/builder.h"

// Leaves the device without work for about ns because of `cause`, then gives it a long kernel.
// The device must be busy when the host gets here.
void idle_write(struct builder *b, enum idle_cause cause, int64_t ns);

// A kernel long enough that the host finishes what follows before it ends.
void idle_cover(struct builder *b, enum idle_cause cause);
