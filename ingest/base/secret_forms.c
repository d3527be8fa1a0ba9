// SPDX-License-Identifier: Apache-2.0
// Secrets recognized by their own form: provider prefixes, JWT, PEM, URLs, AWS keys.
#include "ingest/base/secret_rules.h"

enum charset { HEX, UPPER, ALNUM, TOKEN68, WORD, SLACK, SIGNATURE };

struct prefix {
    struct str text;
    unsigned anchor; // position of the anchor in it
    enum secret_kind kind;
    enum charset charset;
    unsigned least; // characters after the prefix
    bool exact;     // and no more
    bool alone;     // only at the start of a word
};

#define TEXT(literal)                \
    {                                \
        literal, sizeof(literal) - 1 \
    }
#define GITHUB(text)                                          \
    {                                                         \
        TEXT(text), 0, SECRET_GITHUB, ALNUM, 36, false, false \
    }
#define AWS(text, at, len)                                        \
    {                                                             \
        TEXT(text), at, SECRET_AWS_KEY_ID, UPPER, len, true, true \
    }

static const struct prefix prefixes[] = {
    {TEXT("hf_"), 0, SECRET_HUGGING_FACE, ALNUM, 30, false, false},
    AWS("AKIA", 0, 16),
    AWS("ASIA", 0, 16),
    AWS("ABIA", 1, 16),
    AWS("ACCA", 1, 16),
    AWS("A3T", 0, 17),
    GITHUB("ghp_"),
    GITHUB("gho_"),
    GITHUB("ghu_"),
    GITHUB("ghs_"),
    GITHUB("ghr_"),
    {TEXT("github_pat_"), 3, SECRET_GITHUB, WORD, 22, false, false},
    {TEXT("glpat-"), 0, SECRET_GITLAB, WORD, 20, false, false},
    {TEXT("sk-ant-"), 0, SECRET_ANTHROPIC, WORD, 20, false, false},
    {TEXT("sk-proj-"), 0, SECRET_OPENAI, WORD, 20, false, false},
    {TEXT("sk-svcacct-"), 0, SECRET_OPENAI, WORD, 20, false, false},
    {TEXT("sk-admin-"), 0, SECRET_OPENAI, WORD, 20, false, false},
    {TEXT("sk-or-v1-"), 0, SECRET_OPENAI, WORD, 20, false, false},
    {TEXT("sk-"), 0, SECRET_OPENAI, ALNUM, 20, false, true},
    {TEXT("nvapi-"), 1, SECRET_NVIDIA, WORD, 20, false, false},
    {TEXT("xoxa-"), 0, SECRET_SLACK, SLACK, 10, false, true},
    {TEXT("xoxb-"), 0, SECRET_SLACK, SLACK, 10, false, true},
    {TEXT("xoxe-"), 0, SECRET_SLACK, SLACK, 10, false, true},
    {TEXT("xoxe."), 0, SECRET_SLACK, SLACK, 10, false, true},
    {TEXT("xoxp-"), 0, SECRET_SLACK, SLACK, 10, false, true},
    {TEXT("xoxr-"), 0, SECRET_SLACK, SLACK, 10, false, true},
    {TEXT("xoxs-"), 0, SECRET_SLACK, SLACK, 10, false, true},
    {TEXT("AIza"), 0, SECRET_GOOGLE, WORD, 35, false, false},
    {TEXT("ss_"), 0, SECRET_STEPSCOPE, WORD, 40, false, true},
    {TEXT("npm_"), 0, SECRET_PACKAGES, ALNUM, 36, false, true},
    {TEXT("pypi-"), 0, SECRET_PACKAGES, WORD, 50, false, true},
    {TEXT("sk_live_"), 1, SECRET_STRIPE, ALNUM, 16, false, true},
    {TEXT("sk_test_"), 1, SECRET_STRIPE, ALNUM, 16, false, true},
    {TEXT("rk_live_"), 1, SECRET_STRIPE, ALNUM, 16, false, true},
    {TEXT("rk_test_"), 1, SECRET_STRIPE, ALNUM, 16, false, true},
    {TEXT("whsec_"), 0, SECRET_STRIPE, TOKEN68, 24, false, true},
    {TEXT("dckr_pat_"), 0, SECRET_DOCKER, WORD, 20, false, false},
    {TEXT("dckr_oat_"), 0, SECRET_DOCKER, WORD, 20, false, false},
    {TEXT("dop_v1_"), 0, SECRET_DIGITALOCEAN, HEX, 40, false, false},
    {TEXT("doo_v1_"), 0, SECRET_DIGITALOCEAN, HEX, 40, false, false},
    {TEXT("dor_v1_"), 0, SECRET_DIGITALOCEAN, HEX, 40, false, false},
    {TEXT("dapi"), 1, SECRET_DATABRICKS, HEX, 32, false, true},
    {TEXT("SK"), 0, SECRET_TWILIO, HEX, 32, true, true},
};

static bool is_in(enum charset charset, char c)
{
    if (charset == HEX)
        return str_is_digit(c) || (c >= 'a' && c <= 'f');
    if (str_is_digit(c) || (c >= 'A' && c <= 'Z'))
        return true;
    if (charset == UPPER)
        return false;
    if (secret_is_letter(c))
        return true;
    switch (charset) {
    case WORD: return c == '_' || c == '-';
    case SLACK: return c == '-' || c == '.';
    case TOKEN68: return c && strchr("-._~+/=", c);
    case SIGNATURE: return c && strchr("-_+/=%", c);
    default: return false;
    }
}

static size_t run_of(struct str text, size_t at, enum charset charset)
{
    size_t len = 0;
    while (at + len < text.len && is_in(charset, text.at[at + len]))
        len++;
    return len;
}

static bool by_prefix(struct str text, size_t anchor, struct secret *secret)
{
    for (const struct prefix *p = prefixes; p < prefixes + sizeof prefixes / sizeof *prefixes;
         p++) {
        if (anchor < p->anchor || text.at[anchor] != p->text.at[p->anchor])
            continue;
        size_t at = anchor - p->anchor;
        struct str here = {text.at + at, text.len - at};
        if (!str_starts_with(here, p->text) || (p->alone && !secret_word_begins(text, at)))
            continue;
        size_t run = run_of(text, at + p->text.len, p->charset);
        if (run < p->least || (p->exact && run != p->least))
            continue;
        *secret = (struct secret){.at = at, .len = p->text.len + run, .kind = p->kind};
        return true;
    }
    return false;
}

// Header, payload and signature; an encrypted one has two more parts, an unsigned one an empty last
// part.
static bool by_jwt(struct str text, size_t at, struct secret *secret)
{
    if (!str_starts_with((struct str){text.at + at, text.len - at}, STR("eyJ")) ||
        !secret_word_begins(text, at))
        return false;
    size_t end = at + run_of(text, at, WORD);
    if (end - at < 10 || end >= text.len || text.at[end] != '.')
        return false;
    size_t second = run_of(text, end + 1, WORD);
    end += 1 + second;
    if (second < 10 || end >= text.len || text.at[end] != '.')
        return false;
    while (end < text.len && (text.at[end] == '.' || is_in(WORD, text.at[end])))
        end++;
    *secret = (struct secret){.at = at, .len = end - at, .kind = SECRET_JWT};
    return true;
}

// From -----BEGIN ... PRIVATE KEY----- to the end of the last line, or everything that follows if
// that line is missing. The anchor is the last dash and "be".
static bool by_pem(struct str text, size_t anchor, struct secret *secret)
{
    static const struct str begin = TEXT("-----BEGIN "), key = TEXT("PRIVATE KEY"),
                            end = TEXT("-----END ");
    if (anchor < 4 ||
        !str_starts_with((struct str){text.at + anchor - 4, text.len - anchor + 4}, begin))
        return false;
    size_t at = anchor - 4, label = at + begin.len;
    struct str line = {text.at + label, text.len - label < 64 ? text.len - label : 64};
    size_t name = str_find(line, key), dashes = str_find(line, STR("-----"));
    if (name == SIZE_MAX || dashes < name)
        return false;
    struct str rest = {text.at + label + name, text.len - label - name};
    size_t last = str_find(rest, end);
    size_t stop = text.len;
    if (last != SIZE_MAX) {
        struct str tail = {rest.at + last + end.len, rest.len - last - end.len};
        size_t close = str_find(tail, STR("-----"));
        if (close != SIZE_MAX)
            stop = (size_t)(tail.at - text.at) + close + 5;
    }
    *secret = (struct secret){.at = at, .len = stop - at, .kind = SECRET_PRIVATE_KEY};
    return true;
}

static bool ends_authority(char c)
{
    return secret_is_space(c) || strchr("/\\\"'`<>{}()?#", c);
}

// What is between "://" and the last @ of the authority, with or without a colon; a user name alone
// ("git@") is not a secret unless it is as long as a token.
static bool by_url(struct str text, size_t anchor, struct secret *secret)
{
    size_t at = anchor + 3;
    if (!strchr("/\\", text.at[anchor + 1]))
        return false;
    if (text.at[anchor + 1] == '\\') { // ":\/\/" in JSON
        if (!secret_says(text, anchor, STR(":\\/\\/")))
            return false;
        at = anchor + 5;
    }
    size_t end = SIZE_MAX, colon = SIZE_MAX;
    for (size_t i = at; i < text.len && i < at + 1024 && !ends_authority(text.at[i]); i++) {
        if (text.at[i] == '@')
            end = i;
        else if (text.at[i] == ':' && colon == SIZE_MAX)
            colon = i;
    }
    if (end == SIZE_MAX || end == at)
        return false;
    bool has_password = colon < end && colon + 1 < end;
    if (!has_password && end - at < 16)
        return false;
    *secret = (struct secret){.at = at, .len = end - at, .kind = SECRET_URL_PASSWORD};
    return !str_starts_with((struct str){text.at + at, end - at}, STR("[redacted:"));
}

static bool by_bearer(struct str text, size_t anchor, struct secret *secret)
{
    size_t at = anchor + 6;
    if (!secret_says(text, anchor, STR("bearer")) || at >= text.len ||
        !secret_is_space(text.at[at]))
        return false;
    while (at < text.len && secret_is_space(text.at[at]))
        at++;
    size_t run = run_of(text, at, TOKEN68);
    *secret = (struct secret){.at = at, .len = run, .kind = SECRET_AUTHORIZATION};
    return run >= 16;
}

// Forty base64 characters with capitals, small letters and digits, within 100 bytes of "aws".
static bool by_aws_secret(struct str text, size_t anchor, struct secret *secret)
{
    if (!secret_says(text, anchor, STR("aws")) ||
        (anchor && secret_is_letter(text.at[anchor - 1]) && !secret_word_begins(text, anchor)))
        return false;
    for (size_t at = anchor + 3; at < text.len && at < anchor + 100; at++) {
        size_t run = 0;
        unsigned seen = 0;
        for (; at + run < text.len && run <= 40; run++) {
            char c = text.at[at + run];
            if (!is_in(ALNUM, c) && c != '/' && c != '+')
                break;
            seen |= str_is_digit(c) ? 1u : c >= 'a' ? 2u : c >= 'A' ? 4u : 0;
        }
        *secret = (struct secret){.at = at, .len = run, .kind = SECRET_AWS_SECRET};
        if (run == 40 && seen == 7)
            return true;
        at += run;
    }
    return false;
}

// SG., an identifier of 22 characters and a key of 43.
static bool by_sendgrid(struct str text, size_t at, struct secret *secret)
{
    if (!str_starts_with((struct str){text.at + at, text.len - at}, STR("SG.")) ||
        !secret_word_begins(text, at))
        return false;
    size_t dot = at + 3 + run_of(text, at + 3, WORD);
    if (dot - at < 3 + 16 || dot >= text.len || text.at[dot] != '.')
        return false;
    size_t run = run_of(text, dot + 1, WORD);
    *secret = (struct secret){.at = at, .len = dot + 1 + run - at, .kind = SECRET_SENDGRID};
    return run >= 32;
}

// A bot's number, a colon, and 35 characters that start with AA.
static bool by_telegram(struct str text, size_t colon, struct secret *secret)
{
    size_t at = colon, run = run_of(text, colon + 1, WORD);
    while (at > 0 && colon - at < 13 && str_is_digit(text.at[at - 1]))
        at--;
    *secret = (struct secret){.at = at, .len = colon + 1 + run - at, .kind = SECRET_TELEGRAM};
    return str_starts_with((struct str){text.at + colon, text.len - colon}, STR(":AA")) &&
           colon - at >= 6 && colon - at <= 12 && run >= 33 && run <= 37;
}

// Skips `lower`, whose slashes may be escaped as JSON allows.
static bool take_path(struct str text, size_t *at, struct str lower)
{
    size_t i = *at;
    for (size_t k = 0; k < lower.len; k++) {
        i += lower.at[k] == '/' && i < text.len && text.at[i] == '\\';
        if (!secret_says(text, i++, (struct str){lower.at + k, 1}))
            return false;
    }
    *at = i;
    return true;
}

// Anyone who knows the path of a webhook can post to the chat.
static bool by_webhook(struct str text, size_t anchor, struct secret *secret)
{
    static const struct str hooks[] = {
        TEXT("://hooks.slack.com/services/"), TEXT("://hooks.slack.com/workflows/"),
        TEXT("://hooks.slack.com/triggers/"), TEXT("://discord.com/api/webhooks/"),
        TEXT("://discordapp.com/api/webhooks/")};
    size_t at = anchor;
    bool is_hook = false;
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks && !is_hook; i++)
        is_hook = take_path(text, &at, hooks[i]);
    size_t end = at;
    while (is_hook && end < text.len &&
           (is_in(WORD, text.at[end]) || text.at[end] == '/' ||
            (text.at[end] == '\\' && end + 1 < text.len && text.at[end + 1] == '/')))
        end++;
    *secret = (struct secret){.at = at, .len = end - at, .kind = SECRET_WEBHOOK};
    return is_hook && end - at >= 20;
}

// The signature in an Azure shared access signature: 256 bits of base64, possibly URL-encoded.
static bool by_sas(struct str text, size_t anchor, struct secret *secret)
{
    static const struct str names[] = {TEXT("sig="), TEXT("sig\\u003d")};
    if (anchor == 0)
        return false;
    size_t at = anchor - 1;
    bool begins = at == 0 || strchr("?&;\"' ", text.at[at - 1]) ||
                  (at >= 6 && secret_says(text, at - 6, STR("\\u0026")));
    for (size_t i = 0; begins && i < sizeof names / sizeof *names; i++) {
        if (!secret_says(text, at, names[i]))
            continue;
        size_t run = run_of(text, at + names[i].len, SIGNATURE);
        *secret = (struct secret){.at = at + names[i].len, .len = run, .kind = SECRET_AZURE_SAS};
        return run >= 43;
    }
    return false;
}

bool secret_of_form(struct str text, size_t at, struct secret *secret)
{
    switch (text.at[at]) {
    case '-': return by_pem(text, at, secret);
    case ':':
        return by_webhook(text, at, secret) || by_url(text, at, secret) ||
               by_telegram(text, at, secret);
    case 'e': return by_jwt(text, at, secret);
    case 'b':
    case 'B': return by_bearer(text, at, secret) || by_prefix(text, at, secret);
    case 'a':
    case 'A': return by_prefix(text, at, secret) || by_aws_secret(text, at, secret);
    case 'i':
    case 'I': return by_sas(text, at, secret);
    case 'S': return by_prefix(text, at, secret) || by_sendgrid(text, at, secret);
    default: return by_prefix(text, at, secret);
    }
}
