// SPDX-License-Identifier: Apache-2.0
// Rewrites JSON text with different white space.
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
    bool opened; // a bracket has opened and nothing has followed yet
};

enum { RESPACE_DEPTH = 12 }; // most nested brackets
// Most bytes that one byte can become.
enum { RESPACE_GROWTH = 2 + 4 * RESPACE_DEPTH };

// Rewrites the text to `to`, which holds RESPACE_GROWTH times its length, and returns the end. Text
// may come in any pieces.
char *respace_put(struct respace *respace, const char *text, size_t length, char *to);
