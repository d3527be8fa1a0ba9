// SPDX-License-Identifier: Apache-2.0
// Steps that evaluate, among others that train.
#ifndef ANALYSIS_EVALUATION_H
#define ANALYSIS_EVALUATION_H

#include "analysis/facts/facts.h"

// Gives a reason to the steps without a backward and without an optimizer, if others have both
// and some train in a row. A graph may hold them.
MUST_CHECK bool evaluation_leave_out(struct facts *facts, struct err *err);

#endif
