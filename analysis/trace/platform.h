// SPDX-License-Identifier: Apache-2.0
// Which vendor's platform a trace ran on.
#ifndef ANALYSIS_PLATFORM_H
#define ANALYSIS_PLATFORM_H

#include "analysis/facts/facts.h"

// "cuda" or "rocm", NULL if nothing shows it.
const char *platform_flavour(const struct facts *facts);

#endif
