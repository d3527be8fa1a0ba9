// SPDX-License-Identifier: Apache-2.0
// What a communication kernel without metadata transfers, as far as its operator's inputs show.
#ifndef ANALYSIS_COMM_MESSAGE_H
#define ANALYSIS_COMM_MESSAGE_H

#include "analysis/names/bandwidth.h"
#include "analysis/facts/facts.h"

// Message size S (bandwidth.h) of what a device event does for the operator that launched it; -1 if
// unknown, and for barriers. *kind is the kernel's, else the operator's.
int64_t comm_message_bytes(const struct facts *facts, uint32_t device, enum collective_kind *kind);

#endif
