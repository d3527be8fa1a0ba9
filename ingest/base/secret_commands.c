// SPDX-License-Identifier: Apache-2.0
// Secrets recognized by the command they are an argument of, and those in a .netrc.
#include "ingest/base/secret_rules.h"

#define REACH ((size_t)512) // how far an argument may be from its command

struct command {
    struct str name;
    size_t anchor;
    char option;         // before the secret: -p SECRET, -pSECRET
    struct str longs[2]; // its long forms
    bool has_user;       // the argument is USER:SECRET
};

#define TEXT(literal)                \
    {                                \
        literal, sizeof(literal) - 1 \
    }

static const struct command commands[] = {
    {TEXT("sshpass"), 1, 'p', {{0}}, false},
    {TEXT("mysql"), 1, 'p', {{0}}, false},
    {TEXT("mariadb"), 4, 'p', {{0}}, false},
    {TEXT("curl"), 1, 'u', {TEXT("--user"), TEXT("--proxy-user")}, true},
};

static bool is_quote_at(struct str text, size_t at)
{
    return at < text.len && strchr("\"'`", text.at[at]) && text.at[at];
}

// The command whose anchor is at `anchor`; *end is the end of its name, also for e.g. mysqldump.
static const struct command *command_at(struct str text, size_t anchor, size_t *end)
{
    for (const struct command *c = commands; c < commands + sizeof commands / sizeof *commands;
         c++) {
        if (anchor < c->anchor || !secret_says(text, anchor - c->anchor, c->name) ||
            !secret_word_begins(text, anchor - c->anchor))
            continue;
        *end = anchor - c->anchor + c->name.len;
        while (!c->has_user && *end < text.len && secret_is_letter(text.at[*end]))
            ++*end;
        return c;
    }
    return NULL;
}

// Moves to the next argument of a command; false at its end. A list is a program's argument list in
// JSON or Python; otherwise it is a shell command line, which may itself be quoted.
static bool next_argument(struct str text, size_t *at, size_t end, bool in_list)
{
    for (; *at < end; ++*at) {
        char c = text.at[*at], next = *at + 1 < text.len ? text.at[*at + 1] : '\0';
        if (in_list && (c == ',' || secret_is_space(c)))
            continue;
        if (c == ' ' || c == '\t')
            continue;
        if (c == '\n' || (c == '\\' && (next == 'n' || next == 'r')) || strchr("|;&]}", c))
            return false;
        bool closes = is_quote_at(text, *at) && (next == '\0' || strchr(" ,]}:", next));
        return !closes;
    }
    return false;
}

// How many bytes of an argument precede the secret in it, SIZE_MAX if the next argument is the
// secret, or 0 if there is none.
static size_t option_len(const struct command *command, struct str arg)
{
    if (arg.len < 2 || arg.at[0] != '-')
        return 0;
    for (size_t i = 0; i < 2; i++) {
        struct str name = command->longs[i];
        if (name.len && str_starts_with(arg, name))
            return arg.len == name.len ? SIZE_MAX : arg.at[name.len] == '=' ? name.len + 1 : 0;
    }
    if (arg.at[1] == command->option)
        return arg.len == 2 ? SIZE_MAX : 2;
    for (size_t i = 1; i < arg.len; i++) // -sSu
        if (!command->has_user || !secret_is_letter(arg.at[i]))
            return 0;
    return arg.at[arg.len - 1] == command->option ? SIZE_MAX : 0;
}

static bool take(const struct command *command, struct str text, struct str value,
                 struct secret *secret)
{
    *secret =
        (struct secret){.at = (size_t)(value.at - text.at), .len = value.len, .kind = SECRET_NAMED};
    size_t colon = str_find(value, STR(":"));
    if (command->has_user && (colon == SIZE_MAX || str_find(value, STR("://")) != SIZE_MAX))
        return false;
    return value.len && value.at[0] != '-' && secret_is_password(value);
}

static bool by_command(struct str text, size_t anchor, struct secret *secret)
{
    size_t at = 0;
    const struct command *command = command_at(text, anchor, &at);
    if (!command || at >= text.len)
        return false;
    bool in_list = is_quote_at(text, at) && at + 1 < text.len && text.at[at + 1] == ',';
    if (!in_list && text.at[at] != ' ' && text.at[at] != '\t')
        return false;
    size_t end = text.len - at < REACH ? text.len : at + REACH;
    at += in_list;
    bool is_value = false;
    while (next_argument(text, &at, end, in_list)) {
        size_t begin = at;
        struct str arg = secret_argument(text, at, &at);
        if (is_value)
            return take(command, text, arg, secret);
        if (arg.len && arg.at[arg.len - 1] == ';')
            return false;
        size_t before = option_len(command, arg);
        is_value = before == SIZE_MAX;
        if (before && !is_value)
            return take(command, text, (struct str){arg.at + before, arg.len - before}, secret);
        at += at == begin;
    }
    return false;
}

// --- machine HOST login USER password SECRET -----------------------------------------------------

static bool is_blank(struct str text, size_t at)
{
    return secret_is_space(text.at[at]) ||
           (at > 0 && text.at[at - 1] == '\\' && strchr("nrt", text.at[at]));
}

// The word before `*at`, which moves to the start of that word.
static struct str word_before(struct str text, size_t *at, size_t least)
{
    size_t end = *at;
    while (end > least && is_blank(text, end - 1))
        end -= secret_is_space(text.at[end - 1]) || end - least < 2 ? 1 : 2;
    size_t begin = end;
    while (begin > least && !is_blank(text, begin - 1))
        begin--;
    *at = begin;
    while (begin < end && is_quote_at(text, begin))
        begin++;
    return (struct str){text.at + begin, end - begin};
}

static bool by_netrc(struct str text, size_t anchor, struct secret *secret)
{
    static const struct str name = TEXT("password");
    if (anchor < 2 || !secret_says(text, anchor - 2, name))
        return false;
    size_t at = anchor - 2, least = at > REACH / 2 ? at - REACH / 2 : 0;
    bool is_entry = false;
    for (int pairs = 0; pairs < 3 && !is_entry; pairs++) {
        struct str value = word_before(text, &at, least), key = word_before(text, &at, least);
        is_entry = str_equal(key, STR("machine")) || (pairs && str_equal(value, STR("default")));
        if (!is_entry && !str_equal(key, STR("login")) && !str_equal(key, STR("account")))
            return false;
    }
    size_t begin = anchor - 2 + name.len, end;
    at = begin;
    while (at < text.len && at < begin + 16 &&
           (secret_is_space(text.at[at]) || (at + 1 < text.len && is_blank(text, at + 1))))
        at += secret_is_space(text.at[at]) ? 1 : 2;
    if (!is_entry || at == begin || at >= text.len)
        return false;
    struct str value = secret_argument(text, at, &end);
    *secret =
        (struct secret){.at = (size_t)(value.at - text.at), .len = value.len, .kind = SECRET_NAMED};
    return value.len && secret_is_password(value);
}

bool secret_of_command(struct str text, size_t at, struct secret *secret)
{
    switch (text.at[at] | 0x20) {
    case 's': return by_command(text, at, secret) || by_netrc(text, at, secret);
    case 'a':
    case 'u':
    case 'y': return by_command(text, at, secret);
    default: return false;
    }
}
