// SPDX-License-Identifier: Apache-2.0
// The commands of the program. To add one: a file cmd_x.c, a line here and a row in main.c.
#ifndef SERVER_CMD_H
#define SERVER_CMD_H

#include "ingest/base/err.h"

// For the help of commands that read files: exit codes common to all of them, from main.c.
#define CMD_SHARED_EXIT_CODES                                                                     \
    "3 when something is not found, 4 for a file that is not a trace or that this build cannot "  \
    "read, 5 over a limit, 6 when something is taken or busy, 7 for a disk or system error, 130 " \
    "when cancelled."

struct command {
    const char *name;
    const char *summary; // NULL: internal, and not listed
    // argv is what follows the command's name. False: err says why, and its code becomes the exit
    // code; an empty message means it was already printed.
    bool (*run)(int argc, char **argv, struct err *err);
    // Instead of run, for a command that judges: *verdict becomes the exit code, 0 to 2, so a wrong
    // command line and internal errors have other codes.
    bool (*judge)(int argc, char **argv, int *verdict, struct err *err);
};

bool cmd_agent(int argc, char **argv, struct err *err);
bool cmd_serve(int argc, char **argv, struct err *err);
bool cmd_analyze(int argc, char **argv, struct err *err);
bool cmd_backup(int argc, char **argv, struct err *err);
bool cmd_check(int argc, char **argv, int *verdict, struct err *err);
bool cmd_compare(int argc, char **argv, int *verdict, struct err *err);
bool cmd_copy(int argc, char **argv, struct err *err);
bool cmd_export(int argc, char **argv, struct err *err);
bool cmd_inspect(int argc, char **argv, struct err *err);
bool cmd_job(int argc, char **argv, struct err *err);
bool cmd_mcp(int argc, char **argv, struct err *err);
bool cmd_push(int argc, char **argv, struct err *err);
bool cmd_restore(int argc, char **argv, struct err *err);
bool cmd_retention(int argc, char **argv, struct err *err);
bool cmd_token(int argc, char **argv, struct err *err);
bool cmd_watch(int argc, char **argv, struct err *err);
bool cmd_whatif(int argc, char **argv, struct err *err);
bool cmd_version(int argc, char **argv, struct err *err);

#endif
