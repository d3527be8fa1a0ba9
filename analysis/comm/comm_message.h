// SPDX-License-Identifier: Apache-2.0
// What a communicating kernel without metadata moves, as far as its operator's inputs tell.
#ifndef ANALYSIS_COMM_MESSAGE_H
#define ANALYSIS_COMM_MESSAGE_H

#include "analysis/names/bandwidth.h"
#include "analysis/facts/facts.h"

// Message size S (bandwidth.h) of what a device event does for the operator that launched it; -1
// when that is not known, and of barriers. *kind is the kernel's, else the operator's.
int64_t comm_message_bytes(const struct facts *facts, uint32_t device, enum collective_kind *kind);

#endif
