// SPDX-License-Identifier: Apache-2.0
// Device event -> launch by correlation -> innermost operator around the launch on its thread.
#ifndef ANALYSIS_LINKS_H
#define ANALYSIS_LINKS_H

#include "analysis/facts/facts.h"

// Fills launches and the links of the device events. If several launches have the same correlation,
// the last one in the file counts.
MUST_CHECK bool links_make(struct facts *facts, struct err *err);

#endif
