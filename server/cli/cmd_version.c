// SPDX-License-Identifier: Apache-2.0
// stepscope version: the version of the program and of its analyses.
#include "server/cli/cmd.h"

#include "server/cli/options.h"

#include "analysis/analysis.h"

#include <stdio.h>

static const struct option_set options = {
    "version", "Prints the version of the program and of its analyses.", NULL, NULL, 0};

bool cmd_version(int argc, char **argv, struct err *err)
{
    struct option_args args;
    if (!options_parse(&options, argc, argv, NULL, &args, err))
        return false;
    if (args.help) {
        options_help(&options, stdout);
        return true;
    }
    printf("stepscope %s (analysis version %d)\n", STEPSCOPE_VERSION, ANALYSIS_VERSION);
    return true;
}
