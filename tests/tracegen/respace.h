// SPDX-License-Identifier: Apache-2.0
// JSON text with other white space than it was written with.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum spacing {
    SPACING_AS_WRITTEN,
    SPACING_NONE,    // all on one line, no blank outside strings
    SPACING_INDENTED // four spaces a level, one member or item per line
};

struct respace {
    enum spacing spacing;
    int depth;
    bool in_string, escaped;
    bool opened; // a bracket has opened and nothing followed yet
};

enum { RESPACE_DEPTH = 12 }; // of brackets, at most
// Bytes that one byte may become.
enum { RESPACE_GROWTH = 2 + 4 * RESPACE_DEPTH };

// Writes the text anew to `to`, which holds RESPACE_GROWTH times its length, and returns the end.
// Text may come in any pieces.
char *respace_put(struct respace *respace, const char *text, size_t length, char *to);
