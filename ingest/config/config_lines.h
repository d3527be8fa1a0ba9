// SPDX-License-Identifier: Apache-2.0
// Settings in lines of text.
#ifndef INGEST_CONFIG_LINES_H
#define INGEST_CONFIG_LINES_H

#include "ingest/config/config_settings.h"

struct config_lines {
    struct config_settings settings;
    struct buf pending; // of a value that goes on over several lines
    unsigned line;      // counts from 0
    unsigned part;      // of the file, as the dialect counts them
};

struct config_dialect {
    const char *source; // what wrote it, "pip"; "": anything
    const char *what;   // as in messages: "a list of packages"
    size_t least;       // standard names that there have to be
    // A line without blanks around it.
    bool (*take)(struct config_lines *lines, struct str line, struct err *err);
};

MUST_CHECK bool config_read_lines(const struct config_dialect *dialect,
                                  const struct format_input *input, struct err *err);

// Before and after the first `mark` in a text, without blanks around them; false if it has none.
bool config_split(struct str text, struct str mark, struct str *before, struct str *after);

// Without quotes around it, if it has them.
struct str config_unquoted(struct str text);

// Whether any of the first lines, without blanks around them, starts with `start`.
bool config_has_line(struct str head, struct str start);

// "NAME=value", also as shells print it: "declare -x NAME="value"".
bool config_split_variable(struct str line, struct str *name, struct str *value);

// "torch==2.7.1" as pip.torch. Packages from a path or an address have no version here.
MUST_CHECK bool config_take_package(struct config_lines *lines, struct str line, struct err *err);

// Sets a variable that is telling.
MUST_CHECK bool config_take_variable(struct config_lines *lines, struct str line, struct err *err);

// PERHAPS if nearly all of the first lines are of a kind, and the file is not named like a log.
enum format_likeness config_like_lines(const struct format_sample *sample,
                                       bool (*is)(struct str line));

#endif
