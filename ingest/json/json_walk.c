// SPDX-License-Identifier: Apache-2.0
// Walks JSON along the index of quotes and brackets, and checks the text between them.
#include "ingest/json/json_walk.h"

// What is allowed between tokens, and what ends a scalar.
enum { SPACE = 1, ENDS_SCALAR = 2 };

static const unsigned char class_of[256] = {
    [' '] = SPACE | ENDS_SCALAR,  ['\n'] = SPACE | ENDS_SCALAR, ['\r'] = SPACE | ENDS_SCALAR,
    ['\t'] = SPACE | ENDS_SCALAR, [','] = ENDS_SCALAR,          ['}'] = ENDS_SCALAR,
    [']'] = ENDS_SCALAR,          ['"'] = ENDS_SCALAR,          ['{'] = ENDS_SCALAR,
    ['['] = ENDS_SCALAR,          [':'] = ENDS_SCALAR,          ['\0'] = ENDS_SCALAR,
};

// Both stop at the NUL after the text.
static inline const char *past_space(const char *at)
{
    while (class_of[(unsigned char)*at] & SPACE)
        at++;
    return at;
}

static inline const char *past_scalar(const char *at)
{
    while (!(class_of[(unsigned char)*at] & ENDS_SCALAR))
        at++;
    return at;
}

// The byte at `at` is not allowed here.
static enum walk unexpected(const struct json_walk *walk, const char *at)
{
    return at >= walk->end ? WALK_MORE : WALK_BAD;
}

// Consumes the text whose opening quote is at `at`.
static inline enum walk take_text(struct json_walk *walk, const char *at, struct str *text)
{
    if (walk->token_end - walk->token < 2)
        return WALK_MORE;
    const char *open = walk->text + walk->token[0], *close = walk->text + walk->token[1];
    if (open != at)
        return WALK_BAD;
    *text = (struct str){open + 1, (size_t)(close - open - 1)};
    walk->token += 2;
    walk->at = close + 1;
    walk->comma_due = true;
    return WALK_OK;
}

// Consumes the opening or closing bracket at `at`.
static inline enum walk take_bracket(struct json_walk *walk, const char *at, bool closes)
{
    if (walk->token == walk->token_end)
        return WALK_MORE;
    if (walk->text + *walk->token != at)
        return WALK_BAD;
    walk->token++;
    walk->at = at + 1;
    walk->comma_due = closes;
    return WALK_OK;
}

static inline enum walk take_scalar(struct json_walk *walk, const char *at, struct str *text)
{
    const char *end = past_scalar(at);
    if (end >= walk->end)
        return WALK_MORE;
    *text = (struct str){at, (size_t)(end - at)};
    walk->at = end;
    walk->comma_due = true;
    return end > at ? WALK_OK : WALK_BAD;
}

static inline enum walk take_value(struct json_walk *walk, const char *at, struct json_value *value)
{
    at = past_space(at);
    switch (*at) {
    case '"': value->type = JSON_TEXT; return take_text(walk, at, &value->text);
    case '{': value->type = JSON_OBJECT; return take_bracket(walk, at, false);
    case '[': value->type = JSON_ARRAY; return take_bracket(walk, at, false);
    default: value->type = JSON_SCALAR; return take_scalar(walk, at, &value->text);
    }
}

enum walk json_walk_value(struct json_walk *walk, struct json_value *value)
{
    return take_value(walk, walk->at, value);
}

// Moves *at to the next key or item, or consumes `close`.
static inline enum walk next_element(struct json_walk *walk, char close, const char **at)
{
    const char *p = past_space(walk->at);
    bool due = walk->comma_due;
    while (*p == ',') {
        walk->comma_faults += !due;
        due = false;
        p = past_space(p + 1);
        walk->comma_faults += *p == close;
    }
    if (*p == close) {
        enum walk got = take_bracket(walk, p, true);
        return got == WALK_OK ? WALK_END : got;
    }
    if (p >= walk->end)
        return WALK_MORE;
    walk->comma_faults += due;
    *at = p;
    return WALK_OK;
}

enum walk json_walk_member(struct json_walk *walk, struct str *key, struct json_value *value)
{
    const char *at;
    enum walk got = next_element(walk, '}', &at);
    if (got != WALK_OK)
        return got;
    if (*at != '"')
        return WALK_BAD;
    got = take_text(walk, at, key);
    if (got != WALK_OK)
        return got;
    at = past_space(walk->at);
    if (*at != ':')
        return unexpected(walk, at);
    return take_value(walk, at + 1, value);
}

enum walk json_walk_item(struct json_walk *walk, struct json_value *value)
{
    const char *at;
    enum walk got = next_element(walk, ']', &at);
    return got == WALK_OK ? take_value(walk, at, value) : got;
}

enum walk json_walk_skip(struct json_walk *walk)
{
    size_t depth = 1;
    const uint32_t *token = walk->token;
    while (token < walk->token_end) {
        switch (walk->text[*token++]) {
        case '{':
        case '[': depth++; break;
        case '"': token++; break; // the closing quote as well
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
