// SPDX-License-Identifier: Apache-2.0
// Removes blanks from JSON, up to the length that is kept.
#include "analysis/names/shape_text.h"

// Appends the character at *at unless it is a blank outside a string.
static void copy_char(struct str from, size_t *at, bool *quoted, char *to, size_t *len)
{
    char c = from.at[*at];
    if (c == '"')
        *quoted = !*quoted;
    if (c == '\\' && *quoted && *at + 1 < from.len)
        to[(*len)++] = from.at[(*at)++];
    if (*quoted || (c != ' ' && c != '\t' && c != '\n' && c != '\r'))
        to[(*len)++] = from.at[*at];
    (*at)++;
}

struct str shape_text(struct str json, char text[SHAPE_TEXT_SIZE])
{
    size_t at = 0, len = 0;
    bool quoted = false;
    while (at < json.len && len < SHAPE_TEXT_MAX)
        copy_char(json, &at, &quoted, text, &len);
    if (at < json.len) {
        len = str_valid_utf8((struct str){text, len});
        memcpy(text + len, "...", 3);
        len += 3;
    }
    return (struct str){text, len};
}
