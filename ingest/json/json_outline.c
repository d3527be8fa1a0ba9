// SPDX-License-Identifier: Apache-2.0
// Scans brackets and the first members without parsing any value.
#include "ingest/json/json_outline.h"
#include "ingest/base/secrets.h"

#include <stdio.h>

#define MAX_KEY ((size_t)24)
#define SHOWN   3u // members named in a message
// Enough for a description with them.
#define WHAT_BYTES ((size_t)256)

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static size_t skip_space(struct str text, size_t at)
{
    while (at < text.len && is_space(text.at[at]))
        at++;
    return at;
}

static char byte_at(struct str text, size_t at)
{
    return at < text.len ? text.at[at] : '\0';
}

// The position after the string that starts at a quote, or the end.
static size_t skip_text(struct str text, size_t at)
{
    for (at++; at < text.len && text.at[at] != '"'; at++)
        at += text.at[at] == '\\';
    return at < text.len ? at + 1 : text.len;
}

// Whether the scalar that starts at `at` is valid JSON; a date or "1/3" is not.
static bool is_scalar(struct str text, size_t at)
{
    size_t end = at;
    while (end < text.len && !is_space(text.at[end]) && !memchr(",]}", text.at[end], 3))
        end++;
    struct str word = {text.at + at, end - at};
    if (end == text.len || str_equal(word, STR("null")) || str_equal(word, STR("true")) ||
        str_equal(word, STR("false")))
        return true;
    size_t i = word.len && *word.at == '-', digits = i;
    while (i < word.len && memchr("0123456789.eE+", word.at[i], 14))
        i++;
    char next = byte_at(text, skip_space(text, end));
    return i > digits && i == word.len && (next == ',' || next == ']' || next == '\0');
}

static void note_key(struct json_outline *outline, struct str text, size_t at, size_t end)
{
    if (outline->key_count < JSON_OUTLINE_KEYS && byte_at(text, skip_space(text, end)) == ':')
        outline->keys[outline->key_count++] = (struct str){text.at + at + 1, end - at - 2};
}

// Collects the members at the depth given up to the end of the root.
static void walk_root(struct json_outline *outline, struct str text, size_t at)
{
    size_t depth = 0, of_keys = outline->root == '{' ? 1 : 2;
    while (at < text.len) {
        char c = text.at[at];
        size_t next = c == '"' ? skip_text(text, at) : at + 1;
        if (c == '"' && depth == of_keys)
            note_key(outline, text, at, next);
        depth += c == '{' || c == '[';
        depth -= (c == '}' || c == ']') && depth > 0;
        at = next;
        if (c == '}' && depth + 1 == of_keys)
            of_keys = 0; // the first object only
        if (depth == 0 && (c == '}' || c == ']')) {
            outline->ended = true;
            outline->after = byte_at(text, skip_space(text, at));
            return;
        }
    }
}

struct json_outline json_outline_of(struct str head)
{
    size_t at = skip_space(head, str_starts_with(head, STR("\xEF\xBB\xBF")) ? 3 : 0);
    struct json_outline outline = {.root = byte_at(head, at)};
    size_t first = skip_space(head, at + 1);
    if (outline.root != '{' && outline.root != '[')
        return outline;
    outline.item = byte_at(head, first);
    if (outline.root == '{')
        outline.json = outline.item == '"' || outline.item == '}' || outline.item == '\0';
    else
        outline.json =
            outline.item == '\0' || memchr("{[\"]", outline.item, 4) || is_scalar(head, first);
    if (outline.json)
        walk_root(&outline, head, at);
    return outline;
}

bool json_outline_has(const struct json_outline *outline, const char *member)
{
    for (unsigned k = 0; k < outline->key_count; k++)
        if (str_equal(outline->keys[k], str_of(member)))
            return true;
    return false;
}

// Only names that look like identifiers are repeated.
static bool is_name(struct str key)
{
    for (size_t i = 0; i < key.len; i++)
        if (!((key.at[i] | 0x20) >= 'a' && (key.at[i] | 0x20) <= 'z') &&
            !memchr("0123456789_-. /", key.at[i], 15))
            return false;
    return key.len > 0 && key.len <= MAX_KEY;
}

// `what` with the first members that fit: "a JSON object with step, loss".
static void name_members(const struct json_outline *outline, const char *what, char *out,
                         size_t cap)
{
    enum { BETWEEN = sizeof " with " - 1 };
    char raw[WHAT_BYTES];
    unsigned shown = 0;
    size_t most = cap < sizeof raw ? cap : sizeof raw;
    size_t len = (size_t)snprintf(raw, sizeof raw, "%s", what);
    for (unsigned k = 0; k < outline->key_count && shown < SHOWN; k++) {
        if (!is_name(outline->keys[k]) || len + BETWEEN + outline->keys[k].len >= most)
            continue;
        len += (size_t)snprintf(raw + len, sizeof raw - len, "%s%.*s", shown++ ? ", " : " with ",
                                (int)outline->keys[k].len, outline->keys[k].at);
    }
    out[secrets_redact_into((struct str){raw, len}, out, cap - 1)] = '\0';
}

static const char *kind_of_list(const struct json_outline *outline)
{
    switch (outline->item) {
    case ']': return "an empty list";
    case '{': return "a list of objects that are not events, perhaps metrics,";
    case '[': return "a list of lists";
    case '"': return "a list of strings";
    default: return "a list of numbers";
    }
}

static const char *kind_of(const struct json_outline *outline)
{
    if (!outline->json || (outline->ended && outline->after && outline->after != '{'))
        return "text that is not JSON, perhaps a log";
    if (outline->root == '[')
        return kind_of_list(outline);
    if (outline->ended && outline->after)
        return "lines of JSON objects, perhaps a log,";
    return outline->key_count ? "a JSON object" : "an empty JSON object";
}

void json_outline_describe(const struct json_outline *outline, char *out, size_t cap)
{
    name_members(outline, kind_of(outline), out, cap);
}
