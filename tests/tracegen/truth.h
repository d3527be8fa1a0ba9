// SPDX-License-Identifier: Apache-2.0
// truth.json: what was generated, in exact integers.
#pragma once

#include "tests/tracegen/machine.h"

// `text_bytes` has each rank's bytes of JSON before compression.
void truth_write(const char *path, const struct machine *machine, const uint64_t *text_bytes);
