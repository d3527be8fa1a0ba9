// SPDX-License-Identifier: Apache-2.0
// A step that has one of everything, each with a known figure.
#pragma once

#include "tests/tracegen/program.h"

void probe_write(struct program *program, const struct arguments *arguments);
