// SPDX-License-Identifier: Apache-2.0
// Translates the store's statements to PostgreSQL's SQL, word by word.
#include "server/db/postgres_text.h"

#include <stdlib.h>

#define MOST_PARAMETERS 65535L // PostgreSQL's own limit

struct walk {
    const char *at;
    struct buf *out;
    long parameters; // the largest number so far
};

static bool is_word(char c)
{
    char letter = (char)(c | 0x20);
    return (letter >= 'a' && letter <= 'z') || str_is_digit(c) || c == '_';
}

static const char *skip_blank(const char *at)
{
    for (;;) {
        while (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')
            at++;
        if (at[0] != '-' || at[1] != '-')
            return at;
        at += strcspn(at, "\n");
    }
}

// The end of '...' or "..."; a doubled quote is two of them side by side.
static const char *quoted_end(const char *at)
{
    const char *end = strchr(at + 1, *at);
    return end ? end + 1 : at + strlen(at);
}

// The end of $$...$$, a function's text.
static const char *body_end(const char *at)
{
    const char *end = strstr(at + 2, "$$");
    return end ? end + 2 : at + strlen(at);
}

static void copy_to(struct walk *walk, const char *end)
{
    buf_add(walk->out, walk->at, (size_t)(end - walk->at));
    walk->at = end;
}

static void parameter(struct walk *walk)
{
    const char *after = walk->at + 1;
    long number = walk->parameters + 1;
    if (str_is_digit(*after)) {
        char *end;
        number = strtol(after, &end, 10);
        after = end;
    }
    number = number < MOST_PARAMETERS ? number : MOST_PARAMETERS;
    if (number > walk->parameters)
        walk->parameters = number;
    buf_printf(walk->out, "$%ld", number);
    walk->at = after;
}

static void word(struct walk *walk)
{
    const char *end = walk->at;
    while (is_word(*end))
        end++;
    struct str found = {walk->at, (size_t)(end - walk->at)};
    if (str_equal(found, STR("LIKE")))
        buf_puts(walk->out, "ILIKE");
    else if (!str_equal(found, STR("CROSS")))
        buf_add_str(walk->out, found);
    walk->at = end;
}

const char *postgres_text(const char *text, struct buf *out)
{
    struct walk walk = {skip_blank(text), out, 0};
    while (*walk.at && *walk.at != ';') {
        char c = *walk.at;
        if (c == '\'' || c == '"')
            copy_to(&walk, quoted_end(walk.at));
        else if (c == '$' && walk.at[1] == '$')
            copy_to(&walk, body_end(walk.at));
        else if (c == '-' && walk.at[1] == '-')
            walk.at = skip_blank(walk.at);
        else if (c == '?')
            parameter(&walk);
        else if (is_word(c))
            word(&walk);
        else
            copy_to(&walk, walk.at + 1);
    }
    return *walk.at ? skip_blank(walk.at + 1) : walk.at;
}
