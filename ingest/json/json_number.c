// SPDX-License-Identifier: Apache-2.0
// Decimal text to integers, and escapes to UTF-8.
#include "ingest/json/json_number.h"

#include <math.h>
#include <stdlib.h>

#define REPLACEMENT "\xEF\xBF\xBD"

// A parsed decimal number: digits[0..count) with the point after digit `point`.
struct decimal {
    bool negative;
    char digits[64];
    int count;
    int64_t point;
};

static bool read_exponent(struct str text, size_t i, struct decimal *decimal)
{
    int64_t exponent;
    struct str rest = {text.at + i, text.len - i};
    if (!str_to_i64(rest, &exponent))
        return false;
    exponent = exponent > 100000 ? 100000 : exponent < -100000 ? -100000 : exponent;
    decimal->point += exponent;
    return true;
}

static bool take_apart(struct str text, struct decimal *decimal)
{
    *decimal = (struct decimal){0};
    size_t i = 0;
    if (i < text.len && (text.at[i] == '-' || text.at[i] == '+'))
        decimal->negative = text.at[i++] == '-';
    bool any = false, after_point = false;
    for (; i < text.len; i++) {
        if (text.at[i] == '.' && !after_point) {
            after_point = true;
            continue;
        }
        if (!str_is_digit(text.at[i]))
            break;
        any = true;
        bool leading_zero = decimal->count == 0 && text.at[i] == '0';
        decimal->point += after_point ? -(int64_t)leading_zero : !leading_zero;
        // Digits that do not fit in the array are far beyond any time, but their places still
        // count.
        if (!leading_zero && decimal->count < (int)sizeof decimal->digits)
            decimal->digits[decimal->count++] = text.at[i];
    }
    if (!any)
        return false;
    if (i == text.len)
        return true;
    return (text.at[i] == 'e' || text.at[i] == 'E') && read_exponent(text, i + 1, decimal);
}

// The integer part of decimal * 10^shift, truncated toward zero and bounded by max.
static int64_t integer_part(const struct decimal *decimal, int shift, int64_t max)
{
    int64_t places = decimal->count ? decimal->point + shift : 0;
    int64_t value = 0;
    for (int64_t i = 0; i < places; i++) {
        int digit = i < decimal->count ? decimal->digits[i] - '0' : 0;
        if (value > (max - digit) / 10)
            return decimal->negative ? -max : max;
        value = value * 10 + digit;
    }
    return decimal->negative ? -value : value;
}

static bool eight_digits(const char *at, uint64_t *value)
{
    uint64_t w;
    memcpy(&w, at, 8);
    uint64_t zeros = w - 0x3030303030303030u;
    if (((zeros | (zeros + 0x7676767676767676u)) & 0x8080808080808080u) != 0)
        return false;
    *value = json_eight_digits(zeros);
    return true;
}

// Up to 15 digits and three decimals: nearly every number in a trace.
static bool simple_us_to_ns(struct str text, int64_t *ns)
{
    if (text.len == 0 || text.len > 19)
        return false;
    uint64_t whole = 0;
    size_t i = text.len >= 8 && eight_digits(text.at, &whole) ? 8 : 0;
    for (; i < text.len && str_is_digit(text.at[i]); i++)
        whole = whole * 10 + (uint64_t)(text.at[i] - '0');
    if (i == 0 || i > 15)
        return false;
    if (i == text.len) {
        *ns = (int64_t)(whole * 1000);
        return true;
    }
    if (text.at[i] != '.' || text.len - i > 4)
        return false;
    static const uint16_t scale[] = {1000, 100, 10, 1};
    size_t point = i++;
    uint64_t part = 0;
    for (; i < text.len; i++) {
        if (!str_is_digit(text.at[i]))
            return false;
        part = part * 10 + (uint64_t)(text.at[i] - '0');
    }
    *ns = (int64_t)(whole * 1000 + part * scale[text.len - point - 1]);
    return true;
}

bool json_us_to_ns(struct str text, int64_t max_ns, int64_t *ns)
{
    if (simple_us_to_ns(text, ns))
        return true;
    struct decimal decimal;
    if (!take_apart(text, &decimal))
        return false;
    *ns = integer_part(&decimal, 3, max_ns);
    return true;
}

bool json_us_parts(struct str text, int64_t *us, int64_t *part_ns)
{
    struct decimal decimal;
    if (!take_apart(text, &decimal))
        return false;
    *us = integer_part(&decimal, 0, INT64_MAX);
    *part_ns = 0;
    for (int64_t i = decimal.point; i < decimal.point + 3; i++)
        *part_ns = *part_ns * 10 + (i >= 0 && i < decimal.count ? decimal.digits[i] - '0' : 0);
    if (decimal.negative)
        *part_ns = -*part_ns;
    return true;
}

bool json_to_i64(struct str text, int64_t *value)
{
    if (str_to_i64(text, value))
        return true;
    struct decimal decimal;
    if (!take_apart(text, &decimal))
        return false;
    *value = integer_part(&decimal, 0, INT64_MAX);
    return *value != INT64_MAX && *value != -INT64_MAX;
}

bool json_to_bits(struct str text, uint64_t *bits)
{
    int64_t number;
    if (json_to_i64(text, &number)) {
        *bits = (uint64_t)number;
        return true;
    }
    *bits = 0;
    for (size_t i = 0; i < text.len; i++)
        if (!str_is_digit(text.at[i]) || __builtin_mul_overflow(*bits, 10, bits) ||
            __builtin_add_overflow(*bits, text.at[i] - '0', bits))
            return false;
    return text.len > 0;
}

bool json_text_is_plain(struct str raw)
{
    const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
    uint64_t bad = 0;
    size_t i = 0;
    for (; i + 8 <= raw.len; i += 8) {
        uint64_t w;
        memcpy(&w, raw.at + i, 8);
        uint64_t slash = w ^ (ones * '\\');
        bad |= (w | ((w - ones * 0x20) & ~w) | ((slash - ones) & ~slash)) & high;
    }
    for (; i < raw.len; i++) {
        unsigned char c = (unsigned char)raw.at[i];
        bad |= c < 0x20 || c >= 0x80 || c == '\\';
    }
    return bad == 0;
}

static void add_code_point(struct buf *out, uint32_t c)
{
    char bytes[4];
    size_t n = 0;
    if (c < 0x80) {
        bytes[n++] = (char)c;
    } else if (c < 0x800) {
        bytes[n++] = (char)(0xC0 | c >> 6);
        bytes[n++] = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        bytes[n++] = (char)(0xE0 | c >> 12);
        bytes[n++] = (char)(0x80 | (c >> 6 & 0x3F));
        bytes[n++] = (char)(0x80 | (c & 0x3F));
    } else {
        bytes[n++] = (char)(0xF0 | c >> 18);
        bytes[n++] = (char)(0x80 | (c >> 12 & 0x3F));
        bytes[n++] = (char)(0x80 | (c >> 6 & 0x3F));
        bytes[n++] = (char)(0x80 | (c & 0x3F));
    }
    buf_add(out, bytes, n);
}

// Four hex digits after "\u" at text[at]; -1 if they are missing.
static int32_t hex4(struct str text, size_t at)
{
    if (text.len < at + 6 || text.at[at] != '\\' || text.at[at + 1] != 'u')
        return -1;
    int32_t value = 0;
    for (size_t i = at + 2; i < at + 6; i++) {
        char c = text.at[i];
        int digit = str_is_digit(c)        ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

// Resolves the \u escape at text[at], including surrogate pairs. Returns the bytes consumed.
static size_t decode_unicode(struct str text, size_t at, struct buf *out, bool *clean)
{
    int32_t unit = hex4(text, at);
    if (unit < 0) {
        *clean = false;
        buf_puts(out, "\\u");
        return 2;
    }
    if (unit >= 0xD800 && unit < 0xDC00) {
        int32_t low = hex4(text, at + 6);
        if (low >= 0xDC00 && low < 0xE000) {
            add_code_point(out,
                           0x10000u + (uint32_t)(unit - 0xD800) * 0x400 + (uint32_t)(low - 0xDC00));
            return 12;
        }
    }
    if (unit >= 0xD800 && unit < 0xE000) {
        *clean = false;
        buf_puts(out, REPLACEMENT);
    } else {
        add_code_point(out, (uint32_t)unit);
    }
    return 6;
}

static size_t decode_escape(struct str text, size_t at, struct buf *out, bool *clean)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = at + 1 < text.len ? text.at[at + 1] : '\0';
    if (c == 'u')
        return decode_unicode(text, at, out, clean);
    const char *hit = c ? strchr(from, c) : NULL;
    if (hit) {
        buf_putc(out, to[hit - from]);
        return 2;
    }
    *clean = false; // "\P" in a Windows path: the backslash is kept
    buf_putc(out, '\\');
    return 1;
}

bool json_text_decode(struct str raw, struct buf *out)
{
    bool clean = true;
    for (size_t i = 0; i < raw.len;) {
        struct str rest = {raw.at + i, raw.len - i};
        if (*rest.at == '\\') {
            i += decode_escape(raw, i, out, &clean);
            continue;
        }
        size_t bad;
        size_t len = str_utf8_next(rest, &bad);
        clean &= len > 0 && (unsigned char)*rest.at >= 0x20;
        if (len)
            buf_add(out, rest.at, len);
        else
            buf_puts(out, REPLACEMENT);
        i += len ? len : bad;
    }
    return clean;
}

struct str json_word(struct str raw, char room[JSON_WORD])
{
    if (!memchr(raw.at, '\\', raw.len))
        return raw;
    struct buf text = {0};
    struct str word = raw;
    if (raw.len <= (size_t)6 * JSON_WORD && json_text_decode(raw, &text) && text.len <= JSON_WORD) {
        memcpy(room, text.at, text.len);
        word = (struct str){room, text.len};
    }
    buf_free(&text);
    return word;
}

bool json_to_f64(struct str text, double *value)
{
    char copy[64], *end;
    if (text.len == 0 || text.len >= sizeof copy || *text.at == '+')
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (!memchr("0123456789+-.eE", text.at[i], 15))
            return false;
    memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    *value = strtod(copy, &end);
    return *end == '\0' && isfinite(*value);
}
