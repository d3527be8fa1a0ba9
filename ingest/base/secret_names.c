// SPDX-License-Identifier: Apache-2.0
// Secrets that are known by the name before them: NAME=value, "NAME": "value", --name value.
#include "ingest/base/secret_rules.h"

#define NAME_BEFORE ((size_t)64)
#define NAME_BEHIND ((size_t)32)
#define SPACES      ((size_t)64)

// WEAK: only a value that looks random counts.
enum strength { NONE, WEAK, STRONG };

enum word { WORD_TOKEN, WORD_SECRET, WORD_PASSWORD, WORD_CREDENTIAL, WORD_KEY, WORD_AUTHORIZATION };

struct keyword {
    struct str text;
    size_t anchor;
    enum word word;
};

#define TEXT(literal)                \
    {                                \
        literal, sizeof(literal) - 1 \
    }

static const struct keyword keywords[] = {
    {TEXT("token"), 0, WORD_TOKEN},    {TEXT("secret"), 1, WORD_SECRET},
    {TEXT("passw"), 2, WORD_PASSWORD}, {TEXT("credential"), 2, WORD_CREDENTIAL},
    {TEXT("key"), 0, WORD_KEY},        {TEXT("authorization"), 1, WORD_AUTHORIZATION},
};

static bool is_name_char(char c)
{
    return secret_is_letter(c) || secret_is_digit(c) || c == '_' || c == '-' || c == '.';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

// The keyword whose anchor stands at `anchor`, and where it begins.
static const struct keyword *keyword_at(struct str text, size_t anchor, size_t *begin)
{
    for (const struct keyword *k = keywords; k < keywords + sizeof keywords / sizeof *keywords; k++)
        if (anchor >= k->anchor && secret_says(text, anchor - k->anchor, k->text)) {
            *begin = anchor - k->anchor;
            return k;
        }
    return NULL;
}

// Whether one of some words ends name[0..end), with at most one separator after it.
static bool ends_with_one(struct str name, size_t end, const struct str *words, size_t count)
{
    if (end && (name.at[end - 1] == '_' || name.at[end - 1] == '-' || name.at[end - 1] == '.'))
        end--;
    for (size_t i = 0; i < count; i++)
        if (end >= words[i].len && secret_says(name, end - words[i].len, words[i]))
            return true;
    return false;
}

// The keys of cars, tables and attention are none.
static bool is_secret_key(struct str name, size_t at)
{
    static const struct str owners[] = {TEXT("api"),        TEXT("access"),  TEXT("secret"),
                                        TEXT("private"),    TEXT("auth"),    TEXT("account"),
                                        TEXT("encryption"), TEXT("signing"), TEXT("master")};
    return ends_with_one(name, at, owners, sizeof owners / sizeof *owners);
}

// What models call tokens: next_token, eos_token, ...
static bool is_model_token(struct str name, size_t at)
{
    static const struct str owners[] = {
        TEXT("bos"),     TEXT("eos"),   TEXT("pad"),    TEXT("unk"),     TEXT("cls"),
        TEXT("sep"),     TEXT("mask"),  TEXT("sos"),    TEXT("eot"),     TEXT("image"),
        TEXT("audio"),   TEXT("video"), TEXT("next"),   TEXT("per"),     TEXT("num"),
        TEXT("max"),     TEXT("min"),   TEXT("prompt"), TEXT("last"),    TEXT("first"),
        TEXT("new"),     TEXT("input"), TEXT("output"), TEXT("special"), TEXT("text"),
        TEXT("start"),   TEXT("end"),   TEXT("stop"),   TEXT("current"), TEXT("prev"),
        TEXT("prefix"),  TEXT("n"),     TEXT("think"),  TEXT("class"),   TEXT("decode"),
        TEXT("prefill"), TEXT("draft"), TEXT("tik"),    TEXT("sample")};
    return ends_with_one(name, at, owners, sizeof owners / sizeof *owners);
}

static bool has_lower(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (is_lower(name.at[i]))
            return true;
    return false;
}

static enum strength strength_of_token(struct str name, size_t at, size_t end, bool plural)
{
    if (!has_lower(name))
        return STRONG;
    bool last = end == name.len;
    return plural || !last || is_model_token(name, at) ? WEAK : STRONG;
}

// How surely a name with a keyword at `at` is that of a secret.
static enum strength strength_of(struct str name, size_t at, const struct keyword *keyword)
{
    size_t end = at + keyword->text.len;
    if (keyword->word == WORD_PASSWORD || keyword->word == WORD_AUTHORIZATION)
        return STRONG;
    if (keyword->word == WORD_KEY && !is_secret_key(name, at))
        return NONE;
    bool plural = end < name.len && (name.at[end] | 0x20) == 's';
    end += plural;
    bool goes_on = end < name.len && secret_is_letter(name.at[end]) &&
                   !(is_upper(name.at[end]) && is_lower(name.at[end - 1]));
    if (goes_on)
        return WEAK;
    return keyword->word == WORD_TOKEN ? strength_of_token(name, at, end, plural) : STRONG;
}

// --- values --------------------------------------------------------------------------------------

static bool is_number(struct str value)
{
    for (size_t i = 0; i < value.len; i++)
        if (!secret_is_digit(value.at[i]) && !strchr("+-.,eE", value.at[i]))
            return false;
    return value.len <= 12;
}

static bool is_one_character(struct str value)
{
    for (size_t i = 1; i < value.len; i++)
        if (value.at[i] != value.at[0])
            return false;
    return true;
}

static bool is_reference(struct str value)
{
    char first = value.at[0], last = value.at[value.len - 1];
    if (first == '$')
        return value.len > 1 && (value.at[1] == '{' || value.at[1] == '(' || !has_lower(value)) &&
               !secret_is_digit(value.at[1]);
    return (first == '<' && last == '>') || (first == '{' && last == '}') ||
           (first == '[' && last == ']') || str_equal(value, STR("%s"));
}

// What a value may be beside a secret.
static bool is_plain(struct str value, enum word word)
{
    static const struct str plain[] = {
        TEXT("true"), TEXT("false"), TEXT("none"),   TEXT("null"),   TEXT("nil"),
        TEXT("yes"),  TEXT("no"),    TEXT("on"),     TEXT("off"),    TEXT("undefined"),
        TEXT("str"),  TEXT("int"),   TEXT("bool"),   TEXT("float"),  TEXT("bytes"),
        TEXT("any"),  TEXT("auto"),  TEXT("string"), TEXT("tensor"), TEXT("optional[str]")};
    while (value.len && strchr(",;)", value.at[value.len - 1]))
        value.len--;
    if (value.len == 0 || is_reference(value) || str_starts_with(value, STR("[redacted")))
        return true;
    if (word != WORD_PASSWORD && (is_number(value) || is_one_character(value)))
        return true;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (value.len == plain[i].len && secret_says(value, 0, plain[i]))
            return true;
    return is_one_character(value) && strchr("*.x#-", value.at[0]);
}

// Letters and digits in turns, as nobody calls a thing.
static bool looks_random(struct str value)
{
    size_t turns = 0, capitals = 0, small = 0, digits = 0;
    for (size_t i = 0; i < value.len; i++) {
        char c = value.at[i];
        if (!secret_is_letter(c) && !secret_is_digit(c) && !strchr("_-+/=.", c))
            return false;
        capitals += is_upper(c);
        small += is_lower(c);
        digits += secret_is_digit(c);
        turns += i > 0 && secret_is_digit(c) != secret_is_digit(value.at[i - 1]);
    }
    return value.len >= 16 && digits >= 2 && turns >= 4 && (capitals + small) >= 4 &&
           (turns >= 8 || (capitals && small));
}

static bool is_secret_value(struct str value, enum strength strength, enum word word)
{
    return strength == STRONG ? !is_plain(value, word)
                              : strength == WEAK && looks_random(value) && !is_plain(value, word);
}

// --- what stands between name and value, and where the value ends --------------------------------

struct pair {
    struct str text, name;
    size_t name_at;
    bool is_option;       // begins with a dash
    bool in_query;        // of a URL: & ends the value
    bool quoted;          // the name is
    unsigned backslashes; // before the quote behind the name
    size_t value_at, value_end;
    bool value_quoted;
};

static bool is_quote(char c)
{
    return c == '"' || c == '\'' || c == '`';
}

static size_t skip_spaces(struct str text, size_t at)
{
    size_t end = at + SPACES;
    while (at < text.len && at < end && secret_is_space(text.at[at]))
        at++;
    return at;
}

// Passes over a quote with the backslashes before it.
static bool take_quote(struct str text, size_t *at, unsigned *backslashes)
{
    size_t i = *at;
    while (i < text.len && i < *at + 16 && text.at[i] == '\\')
        i++;
    if (i >= text.len || !is_quote(text.at[i]))
        return false;
    *backslashes = (unsigned)(i - *at);
    *at = i + 1;
    return true;
}

// Kubernetes: {"name": "HF_TOKEN", "value": "..."}.
static size_t skip_value_key(struct str text, size_t at)
{
    unsigned backslashes;
    size_t i = at;
    if (!take_quote(text, &i, &backslashes) || !secret_says(text, i, STR("value")))
        return at;
    i += 5;
    if (!take_quote(text, &i, &backslashes))
        return at;
    i = skip_spaces(text, i);
    return i < text.len && text.at[i] == ':' ? skip_spaces(text, i + 1) : at;
}

// Passes over '=' or ':' as it is written in plain text, JSON and URLs.
static bool take_sign(struct str text, size_t *at)
{
    static const struct str signs[] = {TEXT("\\u003d"), TEXT("%3d"), TEXT("=>"),
                                       TEXT(":="),      TEXT("="),   TEXT(":")};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (secret_says(text, *at, signs[i])) {
            *at += signs[i].len;
            return *at >= text.len || (text.at[*at] != ':' && text.at[*at] != '=');
        }
    return false;
}

// Sets value_at; false when no value follows.
static bool find_value(struct pair *pair)
{
    struct str text = pair->text;
    size_t name_end = pair->name_at + pair->name.len, at = name_end;
    unsigned ignored;
    pair->quoted = take_quote(text, &at, &pair->backslashes);
    size_t sign = skip_spaces(text, at);
    bool spaced = sign > at;
    at = sign;
    if (take_sign(text, &at)) {
        at = skip_spaces(text, at);
    } else if (sign < text.len && text.at[sign] == ',' && pair->quoted) {
        at = skip_value_key(text, skip_spaces(text, sign + 1));
        size_t look = at;
        if (!take_quote(text, &look, &ignored))
            return false;
    } else if (!(pair->is_option && spaced && at < text.len && text.at[at] != '-')) {
        return false;
    }
    if (at < text.len && text.at[at] == '[') { // the first of a list
        size_t first = skip_spaces(text, at + 1), look = first;
        at = take_quote(text, &look, &ignored) ? first : at;
    }
    pair->value_at = at;
    return at < text.len;
}

// The value in quotes: up to a quote with as few backslashes.
static void end_quoted(struct pair *pair, unsigned backslashes)
{
    struct str text = pair->text;
    char quote = text.at[pair->value_at - 1];
    size_t run = 0;
    for (size_t i = pair->value_at; i < text.len; i++) {
        bool closes =
            text.at[i] == quote && (run <= backslashes || (backslashes == 0 && run % 2 == 0));
        if (closes) {
            pair->value_end = i - (run < backslashes ? run : backslashes);
            return;
        }
        run = text.at[i] == '\\' ? run + 1 : 0;
    }
    pair->value_end = text.len;
}

static bool ends_bare(const struct pair *pair, size_t at)
{
    char c = pair->text.at[at];
    if (secret_is_space(c) || is_quote(c) || (c == '&' && pair->in_query))
        return true;
    if (pair->quoted && strchr(",]}", c))
        return true;
    char next = at + 1 < pair->text.len ? pair->text.at[at + 1] : '\0';
    return c == '\\' && next && strchr("\"'nrtbfu", next);
}

// An Authorization has a scheme before the secret.
static void end_bare(struct pair *pair, bool two_words)
{
    struct str text = pair->text;
    size_t at = pair->value_at;
    for (int words = two_words ? 2 : 1; words > 0; words--) {
        while (at < text.len && !ends_bare(pair, at))
            at += text.at[at] == '\\' && at + 1 < text.len ? 2 : 1;
        at = at < text.len ? at : text.len;
        pair->value_end = at;
        if (at >= text.len || text.at[at] != ' ')
            return;
        at = skip_spaces(text, at);
    }
}

// Sets value_at to what is inside quotes, and value_end.
static void measure_value(struct pair *pair, enum word word)
{
    struct str text = pair->text;
    size_t at = pair->value_at;
    unsigned backslashes = 0;
    bool prefixed =
        at + 1 < text.len && strchr("bBuUrRfF", text.at[at]) && is_quote(text.at[at + 1]);
    at += prefixed;
    pair->value_quoted = take_quote(text, &at, &backslashes);
    pair->value_at = at;
    if (pair->value_quoted)
        end_quoted(pair, backslashes);
    else
        end_bare(pair, word == WORD_AUTHORIZATION);
}

static struct pair pair_around(struct str text, size_t begin, size_t end)
{
    size_t low = begin > NAME_BEFORE ? begin - NAME_BEFORE : 0;
    size_t high = text.len - end > NAME_BEHIND ? end + NAME_BEHIND : text.len;
    while (begin > low && is_name_char(text.at[begin - 1]))
        begin--;
    while (end < high && is_name_char(text.at[end]))
        end++;
    if (begin && text.at[begin - 1] == '\\' && strchr("nrtbf", text.at[begin]))
        begin++; // of an escape
    char before = begin ? text.at[begin - 1] : '\0';
    return (struct pair){.text = text,
                         .name = {text.at + begin, end - begin},
                         .name_at = begin,
                         .is_option = text.at[begin] == '-',
                         .in_query = before == '?' || before == '&'};
}

bool secret_of_name(struct str text, size_t anchor, struct secret *secret)
{
    size_t begin;
    const struct keyword *keyword = keyword_at(text, anchor, &begin);
    if (!keyword)
        return false;
    struct pair pair = pair_around(text, begin, begin + keyword->text.len);
    if (begin < pair.name_at)
        return false;
    enum strength strength = strength_of(pair.name, begin - pair.name_at, keyword);
    if (strength == NONE || !find_value(&pair))
        return false;
    measure_value(&pair, keyword->word);
    struct str value = {text.at + pair.value_at, pair.value_end - pair.value_at};
    *secret = (struct secret){.at = pair.value_at,
                              .len = value.len,
                              .kind = keyword->word == WORD_AUTHORIZATION ? SECRET_AUTHORIZATION
                                                                          : SECRET_NAMED,
                              .bare = pair.quoted && !pair.value_quoted,
                              .backslashes = pair.backslashes};
    return is_secret_value(value, strength, keyword->word);
}

bool secrets_named(struct str name, struct str value)
{
    for (size_t at = 0; at < name.len; at++) {
        size_t begin;
        const struct keyword *keyword = keyword_at(name, at, &begin);
        if (keyword && is_secret_value(value, strength_of(name, begin, keyword), keyword->word))
            return true;
    }
    return false;
}
