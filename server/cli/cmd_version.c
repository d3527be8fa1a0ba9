// SPDX-License-Identifier: Apache-2.0
// stepscope version: the version of the program and of its analyses, and what it was built from.
#include "server/cli/cmd.h"

#include "server/base/program_version.h"
#include "server/cli/options.h"
#include "server/store/schema_data.h"

#include "analysis/analysis.h"

#include <gnu/libc-version.h>
#include <stdio.h>

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

static const struct option_set options = {
    "version", "Prints the version of the program and of its analyses, and what it was built from.",
    NULL, NULL, 0};

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
    printf("database schema %d\n", schema_sqlite.version);
    printf("commit %s\n", program_commit[0] ? program_commit : "not recorded");
    printf("compiler %s, glibc %d.%d; runs with glibc %s\n", COMPILER, __GLIBC__, __GLIBC_MINOR__,
           gnu_get_libc_version());
    printf("libraries %s\n", BUILT_WITH);
    return true;
}
