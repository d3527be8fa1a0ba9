// SPDX-License-Identifier: Apache-2.0
// The module as a command: `stepscope analyze`, with what it prints. Without arguments it does
// nothing: then a page calls what server/standalone/standalone.h has.
#include "ingest/json/json_memory.h"
#include "server/cli/cmd.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct err err = {.pos = ERR_NO_POS};
    json_memory_watch();
    if (argc < 2)
        return 0;
    if (strcmp(argv[1], "analyze") != 0) {
        fputs("usage: stepscope analyze [OPTIONS] FILE...\n", stderr);
        return 2;
    }
    if (cmd_analyze(argc - 2, argv + 2, &err))
        return 0;
    if (err.msg[0])
        fprintf(stderr, "stepscope analyze: %s\n", err.msg);
    return 1;
}
