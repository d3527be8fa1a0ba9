// SPDX-License-Identifier: Apache-2.0
// PLACEHOLDER
#include "analysis/analyses.h"

static bool run(const struct facts *facts, struct report *report, struct err *err)
{
    (void)facts;
    (void)report;
    (void)err;
    return true;
}

const struct analysis uncategorized_analysis = {"uncategorized", run};
