// SPDX-License-Identifier: Apache-2.0
// Secrets recognized by the name before them: NAME=value, "NAME": "value", --name value.
#include "ingest/base/secret_rules.h"

#define NAME_BEFORE ((size_t)64)
#define NAME_BEHIND ((size_t)32)
#define SPACES      ((size_t)64)
// How much of a value is examined before it is clear that it is a secret. Without this bound, a
// text full of names whose values never end would take quadratic time.
#define UNSURE_MOST ((size_t)2048)

// WEAK: only a value that looks random counts. FAIR: so does one that no program uses as a setting.
enum strength { NONE, WEAK, FAIR, STRONG };

enum word {
    WORD_TOKEN,
    WORD_SECRET,
    WORD_PASSWORD,
    WORD_CREDENTIAL,
    WORD_KEY,
    WORD_AUTHORIZATION,
    WORD_PASS,
    WORD_PWD,
    WORD_AUTH,
    WORD_COOKIE
};

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
    {TEXT("token"), 0, WORD_TOKEN},
    {TEXT("secret"), 1, WORD_SECRET},
    {TEXT("passw"), 2, WORD_PASSWORD},
    {TEXT("credential"), 2, WORD_CREDENTIAL},
    {TEXT("key"), 0, WORD_KEY},
    {TEXT("authorization"), 1, WORD_AUTHORIZATION},
    {TEXT("passphrase"), 0, WORD_PASSWORD},
    {TEXT("pass"), 0, WORD_PASS},
    {TEXT("pwd"), 0, WORD_PWD},
    {TEXT("auth"), 1, WORD_AUTH},
    {TEXT("cookie"), 2, WORD_COOKIE},
};

static bool is_name_char(char c)
{
    return secret_is_letter(c) || str_is_digit(c) || c == '_' || c == '-' || c == '.';
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

// The keyword whose anchor is at `anchor`, and where it starts.
static const struct keyword *keyword_at(struct str text, size_t anchor, size_t *begin)
{
    for (const struct keyword *k = keywords; k < keywords + sizeof keywords / sizeof *keywords; k++)
        if (anchor >= k->anchor && secret_says(text, anchor - k->anchor, k->text)) {
            *begin = anchor - k->anchor;
            return k;
        }
    return NULL;
}

// Whether name[0..end) ends in one of the words, followed by at most one separator.
static bool ends_with_one(struct str name, size_t end, const struct str *words, size_t count)
{
    if (end && (name.at[end - 1] == '_' || name.at[end - 1] == '-' || name.at[end - 1] == '.'))
        end--;
    for (size_t i = 0; i < count; i++)
        if (end >= words[i].len && secret_says(name, end - words[i].len, words[i]))
            return true;
    return false;
}

// "Key" as in cars, tables and attention is not a secret.
static bool is_secret_key(struct str name, size_t at)
{
    static const struct str owners[] = {TEXT("api"),        TEXT("access"),  TEXT("secret"),
                                        TEXT("private"),    TEXT("auth"),    TEXT("account"),
                                        TEXT("encryption"), TEXT("signing"), TEXT("master")};
    return ends_with_one(name, at, owners, sizeof owners / sizeof *owners);
}

// The tokens of language models: next_token, eos_token, ...
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
    bool is_other = plural || is_model_token(name, at);
    if (!has_lower(name))
        return is_other ? WEAK : STRONG;
    return is_other || end < name.len ? WEAK : STRONG;
}

// Whether name[at..end) is the last part of a name: db_pass, dbPass, but not bypass, password.
static bool is_last_part(struct str name, size_t at, size_t end)
{
    if (end < name.len)
        return false;
    return at == 0 || strchr("_-.", name.at[at - 1]) ||
           (is_upper(name.at[at]) && is_lower(name.at[at - 1]));
}

// Passes over data: forward_pass, num_pass, ...
static bool is_model_pass(struct str name, size_t at)
{
    static const struct str owners[] = {
        TEXT("forward"), TEXT("backward"), TEXT("fwd"),  TEXT("bwd"),   TEXT("first"),
        TEXT("second"),  TEXT("one"),      TEXT("two"),  TEXT("multi"), TEXT("num"),
        TEXT("per"),     TEXT("single"),   TEXT("last"), TEXT("next"),  TEXT("prev"),
        TEXT("post"),    TEXT("pre"),      TEXT("by"),   TEXT("test"),  TEXT("fusion"),
        TEXT("opt"),     TEXT("compiler"), TEXT("all"),  TEXT("graph"), TEXT("custom")};
    return ends_with_one(name, at, owners, sizeof owners / sizeof *owners);
}

static bool is_account(struct str name, size_t at)
{
    static const struct str owners[] = {TEXT("db"),    TEXT("smtp"), TEXT("mysql"), TEXT("pg"),
                                        TEXT("redis"), TEXT("ftp"),  TEXT("mail"),  TEXT("user"),
                                        TEXT("admin"), TEXT("root"), TEXT("proxy"), TEXT("http"),
                                        TEXT("ssh"),   TEXT("sudo"), TEXT("login")};
    return at > 0 && ends_with_one(name, at, owners, sizeof owners / sizeof *owners);
}

// Short names that also mean other things.
static enum strength strength_of_short(struct str name, size_t at, const struct keyword *keyword)
{
    if (!is_last_part(name, at, at + keyword->text.len))
        return NONE;
    if (keyword->word == WORD_PWD || keyword->word == WORD_COOKIE)
        return STRONG;
    if (keyword->word == WORD_PASS && is_model_pass(name, at))
        return NONE;
    return !has_lower(name) || is_account(name, at) ? STRONG : FAIR;
}

// How certain it is that a name with a keyword at `at` is that of a secret.
static enum strength strength_of(struct str name, size_t at, const struct keyword *keyword)
{
    size_t end = at + keyword->text.len;
    if (keyword->word == WORD_PASSWORD || keyword->word == WORD_AUTHORIZATION)
        return STRONG;
    if (keyword->word >= WORD_PASS)
        return strength_of_short(name, at, keyword);
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
        if (!str_is_digit(value.at[i]) && !strchr("+-.,eE", value.at[i]))
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
               !str_is_digit(value.at[1]);
    static const struct str code[] = {TEXT("self."), TEXT("args."), TEXT("os.environ"),
                                      TEXT("os.getenv"), TEXT("getpass.")};
    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        if (str_starts_with(value, code[i]))
            return true;
    return (first == '<' && last == '>') || (first == '{' && last == '}') ||
           (first == '[' && last == ']') || str_equal(value, STR("%s"));
}

// Plain values that are never secrets.
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
    bool has_any_form = word == WORD_PASSWORD || word == WORD_PASS || word == WORD_PWD;
    if (!has_any_form && (is_number(value) || is_one_character(value)))
        return true;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (value.len == plain[i].len && secret_says(value, 0, plain[i]))
            return true;
    return is_one_character(value) && strchr("*.x#-", value.at[0]);
}

// Letters and digits alternate, as in no ordinary name.
static bool looks_random(struct str value)
{
    size_t turns = 0, capitals = 0, small = 0, digits = 0;
    for (size_t i = 0; i < value.len; i++) {
        char c = value.at[i];
        if (!secret_is_letter(c) && !str_is_digit(c) && !strchr("_-+/=.", c))
            return false;
        capitals += is_upper(c);
        small += is_lower(c);
        digits += str_is_digit(c);
        turns += i > 0 && str_is_digit(c) != str_is_digit(value.at[i - 1]);
    }
    return value.len >= 16 && digits >= 2 && turns >= 4 && (capitals + small) >= 4 &&
           (turns >= 8 || (capitals && small));
}

// hunter2, user:pw, but no word, number, path, shape or piece of code.
static bool looks_chosen(struct str value)
{
    bool has_letter = false, has_digit = false;
    size_t colon = SIZE_MAX;
    for (size_t i = 0; i < value.len; i++) {
        char c = value.at[i];
        if (strchr("()[]{}<>/\\|,", c))
            return false;
        has_letter |= secret_is_letter(c);
        has_digit |= str_is_digit(c);
        if (c == ':' && i > 0 && i + 1 < value.len && colon == SIZE_MAX)
            colon = i;
        else if (c == ':')
            return false;
    }
    return colon != SIZE_MAX || (value.len >= 7 && has_letter && has_digit);
}

// Authentication schemes, and code found in their place.
static bool is_scheme(struct str value)
{
    enum { LONGEST = 16 };
    static const struct str schemes[] = {TEXT("oauth"), TEXT("scram"), TEXT("sha"),  TEXT("md5"),
                                         TEXT("aws4"),  TEXT("sigv4"), TEXT("x509"), TEXT("ntlm"),
                                         TEXT("krb5"),  TEXT("auth"),  TEXT("http"), TEXT("basic")};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (value.len <= LONGEST && secret_says(value, 0, schemes[i]))
            return true;
    for (size_t i = 0; i < value.len; i++)
        if (strchr("([{", value.at[i]))
            return true;
    return false;
}

// A folder: PWD is also the shell's working directory.
static bool is_folder(struct str value)
{
    static const struct str words[] = {TEXT("cwd"),  TEXT("path"),    TEXT("root"),  TEXT("dir"),
                                       TEXT("home"), TEXT("workdir"), TEXT("folder")};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_equal(value, words[i]))
            return true;
    return value.len == 0 || strchr("/~.\\$%(", value.at[0]) ||
           (value.len > 2 && value.at[1] == ':' && strchr("/\\", value.at[2]));
}

// sid=...; other=...
static bool has_pair(struct str value)
{
    const char *space = memchr(value.at, ' ', value.len);
    const char *sign = memchr(value.at, '=', space ? (size_t)(space - value.at) : value.len);
    return sign && sign > value.at && sign + 1 < value.at + value.len && value.len >= 6;
}

// find_user(x), mgr.user_word: code.
static bool is_code(struct str value)
{
    bool joined = false;
    while (value.len && strchr(",;)", value.at[value.len - 1]))
        value.len--;
    for (size_t i = 0; i < value.len; i++) {
        char c = value.at[i];
        if (c == '(')
            return true;
        joined |= c == '.' || c == '_';
        if (!is_lower(c) && c != '.' && c != '_')
            return false;
    }
    return joined;
}

// Whether a value is ruled out for reasons specific to the word in its name.
static bool is_other(struct str value, enum word word)
{
    if (word >= WORD_PASS && is_code(value))
        return true;
    switch (word) {
    case WORD_PWD: return is_folder(value);
    case WORD_AUTH: return is_scheme(value);
    case WORD_PASS: return is_number(value) && value.len < 5;
    case WORD_COOKIE: return !has_pair(value) && !looks_random(value);
    default: return false;
    }
}

static bool is_secret_value(struct str value, enum strength strength, enum word word)
{
    if (strength == NONE || is_plain(value, word) || is_other(value, word))
        return false;
    return strength == STRONG || looks_random(value) || (strength == FAIR && looks_chosen(value));
}

// --- what is between name and value, and where the value ends ------------------------------------

struct pair {
    struct str text, name;
    size_t name_at;
    bool is_option;       // starts with a dash
    bool in_query;        // of a URL: & ends the value
    bool quoted;          // the name is quoted
    bool is_header;       // Name: value
    unsigned backslashes; // before the quote after the name
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

// Skips a quote and the backslashes before it.
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

// Skips '=' or ':' as written in plain text, JSON and URLs.
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
static bool find_value(struct pair *pair, enum word word)
{
    struct str text = pair->text;
    size_t name_end = pair->name_at + pair->name.len, at = name_end;
    unsigned ignored;
    pair->quoted = take_quote(text, &at, &pair->backslashes);
    size_t sign = skip_spaces(text, at);
    bool spaced = sign > at;
    at = sign;
    if (take_sign(text, &at)) {
        pair->is_header = !pair->quoted && text.at[sign] == ':';
        at = skip_spaces(text, at);
    } else if (sign < text.len && text.at[sign] == ',' && pair->quoted && word < WORD_PASS) {
        at = skip_value_key(text, skip_spaces(text, sign + 1));
        size_t look = at;
        if (!take_quote(text, &look, &ignored))
            return false;
    } else if (!(pair->is_option && spaced && at < text.len && text.at[at] != '-')) {
        return false;
    }
    if (at < text.len && text.at[at] == '[') { // the first element of a list
        size_t first = skip_spaces(text, at + 1), look = first;
        at = take_quote(text, &look, &ignored) ? first : at;
    }
    pair->value_at = at;
    return at < text.len;
}

// A quoted value: up to a quote with no more backslashes.
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

// Authorization has a scheme before the secret; cookies take the rest of the line.
static int words_of(const struct pair *pair, enum word word)
{
    if (word == WORD_COOKIE && pair->is_header)
        return 64;
    return word == WORD_AUTHORIZATION ? 2 : 1;
}

static void end_bare(struct pair *pair, int words)
{
    struct str text = pair->text;
    size_t at = pair->value_at;
    for (; words > 0; words--) {
        while (at < text.len && !ends_bare(pair, at))
            at += text.at[at] == '\\' && at + 1 < text.len ? 2 : 1;
        at = at < text.len ? at : text.len;
        pair->value_end = at;
        if (at >= text.len || text.at[at] != ' ')
            return;
        at = skip_spaces(text, at);
    }
}

// Sets value_at (inside the quotes) and value_end.
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
        end_bare(pair, words_of(pair, word));
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
        begin++; // an escape
    char before = begin ? text.at[begin - 1] : '\0';
    return (struct pair){.text = text,
                         .name = {text.at + begin, end - begin},
                         .name_at = begin,
                         .is_option = text.at[begin] == '-',
                         .in_query = before == '?' || before == '&'};
}

// auth=("user", "password"): moves on to the second one.
static bool take_second(struct pair *pair)
{
    struct str text = pair->text;
    size_t at = skip_spaces(text, pair->value_at + 1);
    unsigned backslashes = 0;
    if (text.at[pair->value_at] != '(' || !take_quote(text, &at, &backslashes))
        return false;
    struct pair first = {.text = text, .value_at = at};
    end_quoted(&first, backslashes);
    at = skip_spaces(text, first.value_end + backslashes + 1);
    if (at >= text.len || text.at[at] != ',')
        return false;
    pair->value_at = skip_spaces(text, at + 1);
    return pair->value_at < text.len;
}

static enum secret_kind kind_of(enum word word)
{
    return word == WORD_AUTHORIZATION ? SECRET_AUTHORIZATION
           : word == WORD_COOKIE      ? SECRET_COOKIE
                                      : SECRET_NAMED;
}

// How certain it is that a pair's name is that of a secret in this place; finds its value.
static enum strength strength_of_pair(struct pair *pair, size_t at, const struct keyword *keyword)
{
    enum strength strength = strength_of(pair->name, at, keyword);
    if (strength == NONE || !find_value(pair, keyword->word))
        return NONE;
    bool is_block =
        memchr(pair->name.at, '\n', (size_t)(pair->text.at + pair->value_at - pair->name.at));
    if (keyword->word >= WORD_PASS && pair->is_header && (is_block || keyword->word == WORD_PASS))
        return NONE; // if pwd:, and PASS: as tests say
    bool sure =
        strength == FAIR && (pair->in_query || (keyword->word == WORD_AUTH && take_second(pair)));
    return sure ? STRONG : strength;
}

static struct str value_of(const struct pair *pair)
{
    return (struct str){pair->text.at + pair->value_at, pair->value_end - pair->value_at};
}

// Finds the end of the value. An endless value counts only if its name is certainly a secret's and
// its start does not rule it out.
static bool has_secret(struct pair *pair, enum strength strength, enum word word)
{
    struct pair look = *pair;
    size_t rest = look.text.len - look.value_at;
    bool is_cut = rest > UNSURE_MOST;
    look.text.len = look.value_at + (is_cut ? UNSURE_MOST : rest);
    measure_value(&look, word);
    is_cut = is_cut && look.value_end >= look.text.len;
    if (is_cut && (strength != STRONG || word == WORD_COOKIE))
        return false;
    if (!is_secret_value(value_of(&look), strength, word))
        return false;
    measure_value(pair, word);
    return true;
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
    enum strength strength = strength_of_pair(&pair, begin - pair.name_at, keyword);
    if (strength == NONE)
        return false;
    if (!has_secret(&pair, strength, keyword->word))
        return false;
    *secret = (struct secret){.at = pair.value_at,
                              .len = pair.value_end - pair.value_at,
                              .kind = kind_of(keyword->word),
                              .bare = pair.quoted && !pair.value_quoted,
                              .backslashes = pair.backslashes};
    return true;
}

struct str secret_argument(struct str text, size_t at, size_t *end)
{
    struct pair pair = {.text = text, .value_at = at};
    unsigned backslashes;
    size_t quote = at;
    bool quoted = take_quote(text, &quote, &backslashes);
    measure_value(&pair, WORD_PASSWORD);
    *end = pair.value_end + (quoted ? backslashes + 1 : 0);
    *end = *end < text.len ? *end : text.len;
    return (struct str){text.at + pair.value_at, pair.value_end - pair.value_at};
}

bool secret_is_password(struct str value)
{
    return is_secret_value(value, STRONG, WORD_PASSWORD);
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
