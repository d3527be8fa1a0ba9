// SPDX-License-Identifier: Apache-2.0
// Copies JSON byte by byte; brackets, commas and colons outside strings decide what goes in
// between.
#include "tests/tracegen/respace.h"

static char *put_line(const struct respace *respace, char *p)
{
    *p++ = '\n';
    for (int i = 0; i < respace->depth * 4; i++)
        *p++ = ' ';
    return p;
}

static void pass_string_byte(struct respace *respace, char c)
{
    if (respace->escaped)
        respace->escaped = false;
    else if (c == '\\')
        respace->escaped = true;
    else if (c == '"')
        respace->in_string = false;
}

// What goes before and after a byte outside strings if each member has its own line.
static char *put_indented(struct respace *respace, char c, char *p)
{
    bool closes = c == '}' || c == ']', opened = respace->opened;
    respace->depth -= closes;
    respace->opened = c == '{' || c == '[';
    if (closes != opened)
        p = put_line(respace, p);
    *p++ = c;
    respace->depth += respace->opened;
    if (c == ':')
        *p++ = ' ';
    return c == ',' ? put_line(respace, p) : p;
}

char *respace_put(struct respace *respace, const char *text, size_t length, char *to)
{
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (respace->in_string) {
            pass_string_byte(respace, c);
            *to++ = c;
        } else if (c != ' ' && c != '\n') {
            respace->in_string = c == '"';
            if (respace->spacing == SPACING_INDENTED)
                to = put_indented(respace, c, to);
            else
                *to++ = c;
        }
    }
    return to;
}
