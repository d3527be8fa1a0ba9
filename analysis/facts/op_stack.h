// SPDX-License-Identifier: Apache-2.0
// The innermost operator that encloses each launch on its thread.
#ifndef ANALYSIS_OP_STACK_H
#define ANALYSIS_OP_STACK_H

#include "analysis/facts/facts.h"

// Fills launch.op. Needs facts.launches by event. An operator encloses a launch when it begins no
// later and ends no earlier, on the same row of the host.
MUST_CHECK bool op_stack_assign(struct facts *facts, struct err *err);

#endif
