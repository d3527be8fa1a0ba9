// SPDX-License-Identifier: Apache-2.0
// stepscope version: which program and which analyses.
#include "server/cmd.h"

#include "analysis/analysis.h"

#include <stdio.h>

bool cmd_version(int argc, char **argv, struct err *err)
{
    if (argc > 0)
        return err_set(err, ERR_USAGE, "version takes no operands, found '%s'", argv[0]);
    printf("stepscope %s (analysis version %d)\n", STEPSCOPE_VERSION, ANALYSIS_VERSION);
    return true;
}
