// SPDX-License-Identifier: Apache-2.0
// Walks JSON along the index of quotes and brackets; what stands between two of them is checked
// here.
#include "ingest/json_walk.h"

static inline void skip_space(struct json_walk *walk)
{
    while (*walk->at == ' ' || *walk->at == '\n' || *walk->at == '\r' || *walk->at == '\t')
        walk->at++;
}

// The byte at walk->at is none that may stand here.
static enum walk unexpected(const struct json_walk *walk)
{
    return walk->at >= walk->end ? WALK_MORE : WALK_BAD;
}

// Consumes a text whose opening quote stands at walk->at.
static inline enum walk take_text(struct json_walk *walk, struct str *text)
{
    if (walk->token_end - walk->token < 2)
        return WALK_MORE;
    const char *open = walk->text + walk->token[0], *close = walk->text + walk->token[1];
    if (open != walk->at)
        return WALK_BAD;
    *text = (struct str){open + 1, (size_t)(close - open - 1)};
    walk->token += 2;
    walk->at = close + 1;
    walk->comma_due = true;
    return WALK_OK;
}

// Consumes an opening or closing bracket.
static inline enum walk take_bracket(struct json_walk *walk, bool closes)
{
    if (walk->token == walk->token_end)
        return WALK_MORE;
    if (walk->text + *walk->token != walk->at)
        return WALK_BAD;
    walk->token++;
    walk->at++;
    walk->comma_due = closes;
    return WALK_OK;
}

static inline bool ends_scalar(char c)
{
    switch (c) {
    case ',':
    case '}':
    case ']':
    case ' ':
    case '\n':
    case '\r':
    case '\t':
    case '"':
    case '{':
    case '[':
    case ':':
    case '\0': return true;
    default: return false;
    }
}

static inline enum walk take_scalar(struct json_walk *walk, struct str *text)
{
    const char *from = walk->at;
    while (!ends_scalar(*walk->at))
        walk->at++;
    if (walk->at >= walk->end)
        return WALK_MORE;
    *text = (struct str){from, (size_t)(walk->at - from)};
    walk->comma_due = true;
    return text->len ? WALK_OK : WALK_BAD;
}

enum walk json_walk_value(struct json_walk *walk, struct json_value *value)
{
    skip_space(walk);
    switch (*walk->at) {
    case '"': value->type = JSON_TEXT; return take_text(walk, &value->text);
    case '{': value->type = JSON_OBJECT; return take_bracket(walk, false);
    case '[': value->type = JSON_ARRAY; return take_bracket(walk, false);
    default: value->type = JSON_SCALAR; return take_scalar(walk, &value->text);
    }
}

// Moves to the next key or item, or consumes `close`.
static inline enum walk next_element(struct json_walk *walk, char close)
{
    skip_space(walk);
    while (*walk->at == ',') {
        walk->comma_faults += !walk->comma_due;
        walk->comma_due = false;
        walk->at++;
        skip_space(walk);
        walk->comma_faults += *walk->at == close;
    }
    if (*walk->at == close) {
        enum walk got = take_bracket(walk, true);
        return got == WALK_OK ? WALK_END : got;
    }
    if (walk->at >= walk->end)
        return WALK_MORE;
    walk->comma_faults += walk->comma_due;
    return WALK_OK;
}

enum walk json_walk_member(struct json_walk *walk, struct str *key, struct json_value *value)
{
    enum walk got = next_element(walk, '}');
    if (got != WALK_OK)
        return got;
    if (*walk->at != '"')
        return WALK_BAD;
    got = take_text(walk, key);
    if (got != WALK_OK)
        return got;
    skip_space(walk);
    if (*walk->at != ':')
        return unexpected(walk);
    walk->at++;
    return json_walk_value(walk, value);
}

enum walk json_walk_item(struct json_walk *walk, struct json_value *value)
{
    enum walk got = next_element(walk, ']');
    return got == WALK_OK ? json_walk_value(walk, value) : got;
}

enum walk json_walk_skip(struct json_walk *walk)
{
    size_t depth = 1;
    const uint32_t *token = walk->token;
    while (token < walk->token_end) {
        switch (walk->text[*token++]) {
        case '{':
        case '[': depth++; break;
        case '"': token++; break; // the closing quote, too
        default: depth--; break;
        }
        if (depth == 0) {
            walk->at = walk->text + token[-1] + 1;
            walk->token = token;
            walk->comma_due = true;
            return WALK_OK;
        }
    }
    return WALK_MORE;
}
