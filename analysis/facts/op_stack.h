// SPDX-License-Identifier: Apache-2.0
// The innermost operator that encloses each launch on its thread.
#ifndef ANALYSIS_OP_STACK_H
#define ANALYSIS_OP_STACK_H

#include "analysis/facts/facts.h"

// Fills launch.op. Needs facts.launches by event. An operator encloses a launch if it starts no
// later and ends no earlier, on the same host row.
MUST_CHECK bool op_stack_assign(struct facts *facts, struct err *err);

#endif
