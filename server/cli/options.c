// SPDX-License-Identifier: Apache-2.0
// Reads a command's options from defaults, the environment and the command line, by its table.
#include "server/cli/options.h"

#include "ingest/base/str.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- values -------------------------------------------------------------------------------------

// A number and the factors of unit letters: "KMGT" in steps of 1024, or "smhd" in seconds.
struct unit {
    char letter;
    uint64_t factor;
};

static const struct unit byte_units[] = {{'k', (uint64_t)1 << 10},
                                         {'m', (uint64_t)1 << 20},
                                         {'g', (uint64_t)1 << 30},
                                         {'t', (uint64_t)1 << 40},
                                         {'\0', 1}};
static const struct unit time_units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'\0', 1}};
static const struct unit no_units[] = {{'\0', 1}};

static bool parse_number(const char *text, const struct unit *units, uint64_t max, uint64_t *value)
{
    if (!isdigit((unsigned char)*text))
        return false;
    char *end;
    unsigned long long number = strtoull(text, &end, 10);
    const struct unit *unit = units;
    while (unit->letter && unit->letter != tolower((unsigned char)*end))
        unit++;
    end += unit->letter != '\0';
    if (*end != '\0' || number > max / unit->factor)
        return false;
    *value = number * unit->factor;
    return true;
}

// Whether "text|json" contains the word.
static bool is_choice(const char *choices, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = choices; at;) {
        const char *bar = strchr(at, '|');
        size_t choice_len = bar ? (size_t)(bar - at) : strlen(at);
        if (choice_len == len && memcmp(at, word, len) == 0)
            return true;
        at = bar ? bar + 1 : NULL;
    }
    return false;
}

// A finite decimal number; strtod alone accepts "nan" and "0x1p3", too.
static bool set_decimal(const char *text, char *slot)
{
    char *end;
    double number = strtod(text, &end);
    bool ok = *text && strspn(text, "0123456789+-.eE") == strlen(text) && *end == '\0' &&
              isfinite(number);
    memcpy(slot, &number, sizeof number);
    return ok;
}

static bool set_value(const struct option *option, const char *text, void *values)
{
    char *slot = (char *)values + option->offset;
    uint64_t number = 0;
    bool ok = true;
    switch (option->type) {
    case OPTION_FLAG:
        number = strcmp(text, "1") == 0 || strcmp(text, "true") == 0 || strcmp(text, "yes") == 0;
        ok = number || *text == '\0' || strcmp(text, "0") == 0 || strcmp(text, "false") == 0 ||
             strcmp(text, "no") == 0;
        memcpy(slot, &(bool){number != 0}, sizeof(bool));
        return ok;
    case OPTION_CHOICE:
        ok = is_choice(option->choices, text);
        memcpy(slot, &text, sizeof text);
        return ok;
    case OPTION_TEXT: memcpy(slot, &text, sizeof text); return true;
    case OPTION_NUMBER: return set_decimal(text, slot);
    case OPTION_BYTES: ok = parse_number(text, byte_units, UINT64_MAX, &number); break;
    case OPTION_INT: ok = parse_number(text, no_units, INT64_MAX, &number); break;
    case OPTION_SECONDS: ok = parse_number(text, time_units, INT64_MAX, &number); break;
    }
    memcpy(slot, &number, sizeof number); // int64_t and uint64_t have the same size: it fits both
    return ok;
}

static const char *expectation(const struct option *option)
{
    switch (option->type) {
    case OPTION_FLAG: return "1 or 0";
    case OPTION_CHOICE: return option->choices;
    case OPTION_BYTES: return "a size such as 512M or 4G";
    case OPTION_INT: return "a whole number";
    case OPTION_NUMBER: return "a number such as 0.03";
    case OPTION_SECONDS: return "a duration such as 30s, 5m or 2h";
    case OPTION_TEXT: return "a text";
    }
    return "";
}

static bool take(const struct option *option, const char *from, const char *text, void *values,
                 struct err *err)
{
    return set_value(option, text, values) ||
           err_set(err, ERR_USAGE, "%s: expected %s, found '%s'", from, expectation(option), text);
}

// --- defaults and environment -------------------------------------------------------------------

static bool take_defaults(const struct option_set *set, void *values, struct err *err)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct option *option = &set->options[i];
        if (option->default_value &&
            !take(option, option->name, option->default_value, values, err))
            return false;
        const char *text = option->env ? getenv(option->env) : NULL;
        if (text && !take(option, option->env, text, values, err))
            return false;
    }
    return true;
}

// --- the command line ---------------------------------------------------------------------------

// Edits that turn one word into another, up to a small bound.
static unsigned distance(const char *a, const char *b)
{
    enum { MAX_WORD = 32 };
    unsigned row[MAX_WORD + 1];
    size_t a_len = strlen(a), b_len = strlen(b);
    if (a_len > MAX_WORD || b_len > MAX_WORD)
        return MAX_WORD;
    for (unsigned j = 0; j <= b_len; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a_len; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= b_len; j++) {
            unsigned change = diagonal + (a[i - 1] != b[j - 1]);
            unsigned skip = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < skip ? change : skip;
        }
    }
    return row[b_len];
}

const char *options_nearest(const char *word, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    unsigned best = (unsigned)strlen(word) / 3 + 1; // more edits than that are not a typo
    for (size_t i = 0; i < count; i++) {
        unsigned edits = distance(word, names[i]);
        if (edits <= best && (!nearest || edits < best)) {
            nearest = names[i];
            best = edits;
        }
    }
    return nearest;
}

static const struct option *find_option(const struct option_set *set, const char *arg, size_t len)
{
    for (size_t i = 0; i < set->count; i++)
        if (strlen(set->options[i].name) == len && memcmp(set->options[i].name, arg, len) == 0)
            return &set->options[i];
    return NULL;
}

static bool unknown_option(const struct option_set *set, const char *arg, size_t len,
                           struct err *err)
{
    enum { MAX_OPTIONS = 32 };
    const char *names[MAX_OPTIONS];
    char word[64];
    size_t count = set->count < MAX_OPTIONS ? set->count : MAX_OPTIONS;
    for (size_t i = 0; i < count; i++)
        names[i] = set->options[i].name;
    snprintf(word, sizeof word, "%.*s", (int)len, arg);
    const char *nearest = options_nearest(word, names, count);
    if (nearest)
        return err_set(err, ERR_USAGE, "unknown option %s; did you mean %s?", word, nearest);
    return err_set(err, ERR_USAGE, "unknown option %s; see stepscope %s --help", word,
                   set->command);
}

// One option at argv[*at]; moves *at past its separate value.
static bool take_option(const struct option_set *set, char **argv, int argc, int *at, void *values,
                        struct err *err)
{
    const char *arg = argv[*at];
    const char *equals = strchr(arg, '=');
    size_t len = equals ? (size_t)(equals - arg) : strlen(arg);
    const struct option *option = find_option(set, arg, len);
    if (!option)
        return unknown_option(set, arg, len, err);
    if (equals)
        return take(option, option->name, equals + 1, values, err);
    if (option->type == OPTION_FLAG)
        return take(option, option->name, "1", values, err);
    if (*at + 1 >= argc)
        return err_set(err, ERR_USAGE, "%s: expected %s, found the end of the command line",
                       option->name, expectation(option));
    return take(option, option->name, argv[++*at], values, err);
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

bool options_parse(const struct option_set *set, int argc, char **argv, void *values,
                   struct option_args *args, struct err *err)
{
    *args = (struct option_args){.operands = argv, .help = asks_for_help(argc, argv)};
    if (args->help)
        return true;
    if (!take_defaults(set, values, err))
        return false;
    bool only_operands = false;
    for (int i = 0; i < argc; i++) {
        bool is_option = !only_operands && argv[i][0] == '-' && argv[i][1] != '\0';
        if (is_option && strcmp(argv[i], "--") == 0)
            only_operands = true;
        else if (!is_option)
            argv[args->operand_count++] = argv[i]; // never ahead of i
        else if (!take_option(set, argv, argc, &i, values, err))
            return false;
    }
    if (args->operand_count && !set->operands)
        return err_set(err, ERR_USAGE, "%s takes no operands, found '%s'", set->command, argv[0]);
    return true;
}

// --- help ---------------------------------------------------------------------------------------

void options_help(const struct option_set *set, FILE *out)
{
    fprintf(out, "usage: stepscope %s [OPTIONS]%s%s\n\n%s\n\noptions:\n", set->command,
            set->operands ? " " : "", set->operands ? set->operands : "", set->summary);
    for (size_t i = 0; i < set->count; i++) {
        const struct option *option = &set->options[i];
        const char *value = option->value_name ? option->value_name : option->choices;
        char left[64];
        snprintf(left, sizeof left, "%s%s%s", option->name, value ? " " : "", value ? value : "");
        fprintf(out, "  %-28s %s", left, option->help);
        if (option->default_value)
            fprintf(out, " [%s]", option->default_value);
        if (option->env)
            fprintf(out, " (%s)", option->env);
        fputc('\n', out);
    }
    fprintf(out, "  %-28s %s\n", "--help", "show this");
}
