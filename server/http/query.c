// SPDX-License-Identifier: Apache-2.0
// Decodes and looks up what follows the '?'.
#include "server/http/query.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int hex_digit(char c)
{
    if (str_is_digit(c))
        return c - '0';
    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
        return (c | 0x20) - 'a' + 10;
    return -1;
}

// One byte of text at *i, decoded; -1 for a broken escape.
static int decode_byte(struct str text, size_t *i, bool plus_is_space)
{
    char c = text.at[(*i)++];
    if (c == '+' && plus_is_space)
        return ' ';
    if (c != '%')
        return (unsigned char)c;
    if (text.len - *i < 2)
        return -1;
    int high = hex_digit(text.at[*i]);
    int low = hex_digit(text.at[*i + 1]);
    *i += 2;
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

bool query_decode(struct str text, bool plus_is_space, struct arena *arena, struct str *decoded,
                  struct err *err)
{
    char *out = arena_alloc(arena, text.len + 1, err);
    if (!out)
        return false;
    size_t len = 0;
    for (size_t i = 0; i < text.len;) {
        int byte = decode_byte(text, &i, plus_is_space);
        if (byte < 0)
            return err_set(err, ERR_USAGE, "found a '%%' without two hexadecimal digits after it");
        if (byte < 0x20 || byte == 0x7f)
            return err_set(err, ERR_USAGE, "found the control character %%%02X in the address",
                           (unsigned)byte);
        out[len++] = (char)byte;
    }
    *decoded = (struct str){out, len};
    if (str_valid_utf8(*decoded) != len)
        return err_set(err, ERR_USAGE, "found bytes in the address that are not UTF-8");
    return true;
}

static bool parse_param(struct str text, struct arena *arena, struct query_param *param,
                        struct err *err)
{
    size_t equals = str_find(text, STR("="));
    struct str name = {text.at, equals == SIZE_MAX ? text.len : equals};
    struct str value = {"", 0};
    if (equals != SIZE_MAX)
        value = (struct str){text.at + equals + 1, text.len - equals - 1};
    return query_decode(name, true, arena, &param->name, err) &&
           query_decode(value, true, arena, &param->value, err);
}

bool query_parse(struct str text, struct arena *arena, struct query *query, struct err *err)
{
    *query = (struct query){0};
    query->params = arena_array(arena, QUERY_MAX_PARAMS, sizeof(*query->params), err);
    if (!query->params)
        return false;
    while (text.len) {
        size_t end = str_find(text, STR("&"));
        struct str one = {text.at, end == SIZE_MAX ? text.len : end};
        text = end == SIZE_MAX ? STR("") : (struct str){text.at + end + 1, text.len - end - 1};
        if (one.len == 0)
            continue;
        if (query->count == QUERY_MAX_PARAMS)
            return err_set(err, ERR_USAGE, "found more than %d query parameters", QUERY_MAX_PARAMS);
        if (!parse_param(one, arena, &query->params[query->count++], err))
            return false;
    }
    return true;
}

struct str query_get(const struct query *query, const char *name)
{
    struct str value = {NULL, 0};
    for (size_t i = 0; i < query->count; i++)
        if (str_equal(query->params[i].name, str_of(name)))
            value = query->params[i].value;
    return value;
}

struct str query_text(const struct query *query, const char *name)
{
    struct str value = query_get(query, name);
    return value.at ? value : STR("");
}

bool query_allow(const struct query *query, const char *const *known, struct err *err)
{
    for (size_t i = 0; i < query->count; i++) {
        struct str name = query->params[i].name;
        if (str_is_listed(name, known))
            continue;
        char list[160] = "none";
        size_t len = 0;
        for (const char *const *one = known; *one && len < sizeof(list); one++)
            len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", len ? ", " : "", *one);
        return err_set(err, ERR_USAGE, "found query parameter '%.*s', expected one of: %s",
                       (int)(name.len < 40 ? name.len : 40), name.at, list);
    }
    return true;
}

bool query_get_int(const struct query *query, struct query_int what, int64_t *value,
                   struct err *err)
{
    struct str text = query_get(query, what.name);
    *value = what.fallback;
    if (!text.at)
        return true;
    if (str_to_i64(text, value) && *value >= what.min && *value <= what.max)
        return true;
    return err_set(err, ERR_USAGE, "found %s=%.*s, expected a number from %lld to %lld", what.name,
                   (int)(text.len < 40 ? text.len : 40), text.at, (long long)what.min,
                   (long long)what.max);
}

// Whether the whole text is an ordinary number; strtod alone accepts "nan" and "0x1p3", too.
static bool to_number(struct str text, double *value)
{
    char copy[64] = "";
    char *end = copy;
    if (text.len == 0 || text.len >= sizeof(copy))
        return false;
    memcpy(copy, text.at, text.len);
    if (strspn(copy, "0123456789+-.eE") != text.len)
        return false;
    *value = strtod(copy, &end);
    return *end == '\0' && isfinite(*value);
}

bool query_get_number(const struct query *query, struct query_number what, double *value,
                      struct err *err)
{
    struct str text = query_get(query, what.name);
    *value = what.fallback;
    if (!text.at)
        return true;
    if (to_number(text, value) && *value >= what.min && *value <= what.max)
        return true;
    return err_set(err, ERR_USAGE, "found %s=%.*s, expected a number from %g to %g", what.name,
                   (int)(text.len < 40 ? text.len : 40), text.at, what.min, what.max);
}

static int64_t unit_seconds(char unit)
{
    switch (unit) {
    case 's': return 1;
    case 'm': return 60;
    case 'h': return 3600;
    case 'd': return 86400;
    default: return 0;
    }
}

bool query_duration(struct str text, int64_t *seconds, struct err *err)
{
    struct str digits = text;
    int64_t unit = text.len ? unit_seconds(text.at[text.len - 1]) : 0;
    if (unit)
        digits.len--;
    int64_t count = 0;
    if (str_to_i64(digits, &count) && count >= 0 &&
        !__builtin_mul_overflow(count, unit ? unit : 1, seconds))
        return true;
    return err_set(err, ERR_USAGE, "found '%.*s', expected a duration such as 30s, 5m, 2h or 14d",
                   (int)(text.len < 40 ? text.len : 40), text.at);
}
