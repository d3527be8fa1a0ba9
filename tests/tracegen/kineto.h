// SPDX-License-Identifier: Apache-2.0
// One rank's trace as text, in the format of PyTorch's profiler.
#pragma once

#include "tests/tracegen/machine.h"
#include "tests/tracegen/outfile.h"

struct kineto;

// Writes what comes before the events to `path`. The caller ends it with kineto_close;
// the machine and the rank are borrowed.
struct kineto *kineto_open(const char *path, const struct machine *machine,
                           const struct rank *rank);

// Writes the rows that the machine's last step left on the rank.
void kineto_step(struct kineto *kineto);

uint64_t kineto_text_bytes(const struct kineto *kineto);

// Writes what comes after the events; returns the text size of the whole file in bytes.
uint64_t kineto_close(struct kineto *kineto);
