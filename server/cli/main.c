// SPDX-License-Identifier: Apache-2.0
// The program's commands, one row each, and its exit codes.
#include "ingest/json/json_memory.h"
#include "ingest/base/log.h"
#include "server/cli/cmd.h"
#include "server/cli/options.h"

#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command commands[] = {
    {"serve", "run the web service", cmd_serve, NULL},
    {"analyze", "analyze trace files without a service", cmd_analyze, NULL},
    {"compare", "compare trace files and judge whether steps became slower", NULL, cmd_compare},
    {"export", "write traces and tables for other tools", cmd_export, NULL},
    {"whatif", "replay trace files with changes: how long steps would take", cmd_whatif, NULL},
    {"inspect", "say what files are and what is in them", cmd_inspect, NULL},
    {"push", "send files and folders to a service", cmd_push, NULL},
    {"watch", "send files to a service as they appear in a folder", cmd_watch, NULL},
    {"agent", "record running PyTorch processes of a node on request", cmd_agent, NULL},
    {"mcp", "answer an agent over standard input and output", cmd_mcp, NULL},
    {"token", "create, list and revoke tokens of a service", cmd_token, NULL},
    {"backup", "back up the data of a service, even while it runs", cmd_backup, NULL},
    {"restore", "restore a data folder from a backup", cmd_restore, NULL},
    {"copy", "copy a service to another database and file store", cmd_copy, NULL},
    {"check", "check the integrity of stored data", NULL, cmd_check},
    {"retention", "list runs that retention would delete, without deleting", cmd_retention, NULL},
    {"version", "show the version", cmd_version, NULL},
    {"_job", NULL, cmd_job, NULL},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

// The only place where errors become exit codes; README.md of this folder lists them.
static int exit_code(enum err_code code)
{
    switch (code) {
    case ERR_NONE: return 0;
    case ERR_USAGE: return 2;
    case ERR_NOT_FOUND: return 3;
    case ERR_DENIED: return 7;
    case ERR_FORMAT:
    case ERR_UNSUPPORTED: return 4;
    case ERR_LIMIT: return 5;
    case ERR_BUSY:
    case ERR_CONFLICT: return 6;
    case ERR_MEMORY:
    case ERR_SPACE:
    case ERR_IO: return 7;
    case ERR_CANCELLED: return 130;
    case ERR_INTERNAL: break;
    }
    return 1;
}

enum { EXIT_USAGE_OF_JUDGE = 64, EXIT_FAULT_OF_JUDGE = 70 }; // from sysexits.h

// A command that judges returns 1 and 2 itself.
static int judge_exit_code(enum err_code code)
{
    switch (code) {
    case ERR_USAGE: return EXIT_USAGE_OF_JUDGE;
    case ERR_INTERNAL: return EXIT_FAULT_OF_JUDGE;
    default: return exit_code(code);
    }
}

static void show_help(FILE *out)
{
    fputs("stepscope shows where the step time of PyTorch training goes, and compares runs.\n\n"
          "usage: stepscope COMMAND [OPTIONS]\n\ncommands:\n",
          out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (commands[i].summary)
            fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fputs("\n'stepscope COMMAND --help' lists a command's options.\n", out);
}

static int unknown_command(const char *word)
{
    const char *names[COMMAND_COUNT];
    size_t count = 0;
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (commands[i].summary)
            names[count++] = commands[i].name;
    const char *nearest = options_nearest(word, names, count);
    fprintf(stderr, "stepscope: unknown command '%s'%s%s%s\n", word,
            nearest ? "; did you mean " : "; see stepscope --help", nearest ? nearest : "",
            nearest ? "?" : "");
    return exit_code(ERR_USAGE);
}

static int run(const struct command *command, int argc, char **argv)
{
    struct err err = {.pos = ERR_NO_POS};
    int verdict = 0;
    if (command->judge ? command->judge(argc, argv, &verdict, &err)
                       : command->run(argc, argv, &err))
        return verdict;
    if (err.msg[0] && log_is_json()) // a plain line would break readers of the JSON lines
        log_error("stepscope %s: %s", command->name, err.msg);
    else if (err.msg[0])
        fprintf(stderr, "stepscope %s: %s\n", command->name, err.msg);
    return command->judge ? judge_exit_code(err.code) : exit_code(err.code);
}

// A file of ours must not end up as standard input, output or error. The process of a job gets
// exactly the descriptors meant for it.
static void fill_standard_files(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    if (strcmp(word, "_job") != 0)
        fill_standard_files();
    json_memory_watch();
    setlocale(LC_CTYPE, "C.UTF-8"); // archive member names are converted to the locale's encoding
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        show_help(stdout);
        return 0;
    }
    if (strcmp(word, "--version") == 0)
        word = "version";
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(word, commands[i].name) == 0)
            return run(&commands[i], argc - 2, argv + 2);
    if (*word)
        return unknown_command(word);
    show_help(stderr);
    return exit_code(ERR_USAGE);
}
