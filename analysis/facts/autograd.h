// SPDX-License-Identifier: Apache-2.0
// Which launches the autograd engine made, and for which forward operator.
#ifndef ANALYSIS_AUTOGRAD_H
#define ANALYSIS_AUTOGRAD_H

#include "analysis/facts/facts.h"
#include "analysis/names/host_names.h"

// Fills facts.op_parent, and backward, forward and recompute of the launches as far as operators
// show. Sets module to the text of the innermost module hierarchy around (the forward operator's
// for a backward one; 0 without), which the caller turns into a module.
MUST_CHECK bool autograd_assign(struct facts *facts, const struct host_names *names,
                                struct err *err);

#endif
