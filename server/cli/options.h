// SPDX-License-Identifier: Apache-2.0
// Options of a command: one table gives name, environment name, default, type and help; parsing,
// --help and error messages follow from it.
#ifndef SERVER_OPTIONS_H
#define SERVER_OPTIONS_H

#include "ingest/base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum option_type {
    OPTION_FLAG,    // bool
    OPTION_TEXT,    // const char *
    OPTION_CHOICE,  // const char *, one of choices
    OPTION_BYTES,   // uint64_t: 4G, 512M, 64K, 100
    OPTION_INT,     // int64_t, not negative
    OPTION_NUMBER,  // double: 0.03, 1e5
    OPTION_SECONDS, // int64_t seconds: 30, 30s, 5m, 2h, 14d
};

struct option {
    const char *name;          // "--listen"
    const char *env;           // "STEPSCOPE_LISTEN", NULL: none
    const char *default_value; // as text; NULL: none (false, NULL, 0)
    const char *value_name;    // "ADDR:PORT" in the help
    const char *help;
    const char *choices; // OPTION_CHOICE: "text|json"
    enum option_type type;
    size_t offset; // of the value's member in the command's struct
};

struct option_set {
    const char *command;  // "serve"
    const char *summary;  // one sentence
    const char *operands; // "FILE..." or NULL
    const struct option *options;
    size_t count;
};

struct option_args {
    char *const *operands;
    int operand_count;
    bool help; // --help was given; nothing else was looked at
};

// Fills values (the command's struct) from defaults, then the environment, then argv, which is
// reordered so that operands are contiguous. ERR_USAGE, with a suggestion if a name is close.
MUST_CHECK bool options_parse(const struct option_set *set, int argc, char **argv, void *values,
                              struct option_args *args, struct err *err);

void options_help(const struct option_set *set, FILE *out);

// The closest of count names to a mistyped word, or NULL if none is close.
const char *options_nearest(const char *word, const char *const *names, size_t count);

#endif
