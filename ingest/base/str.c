// SPDX-License-Identifier: Apache-2.0
// Searching, comparing and checking text.
#include "ingest/base/str.h"

#include <math.h>
#include <stdlib.h>

int str_compare(struct str a, struct str b)
{
    size_t shared = a.len < b.len ? a.len : b.len;
    int order = shared ? memcmp(a.at, b.at, shared) : 0;
    if (order)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

size_t str_find(struct str text, struct str needle)
{
    if (needle.len == 0)
        return 0;
    if (text.len < needle.len)
        return SIZE_MAX;
    const char *hit = memmem(text.at, text.len, needle.at, needle.len);
    return hit ? (size_t)(hit - text.at) : SIZE_MAX;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

bool str_equal_nocase(struct str a, struct str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (lower(a.at[i]) != lower(b.at[i]))
            return false;
    return true;
}

bool str_contains_nocase(struct str text, struct str lower_needle)
{
    for (size_t i = 0; i + lower_needle.len <= text.len; i++) {
        size_t n = 0;
        while (n < lower_needle.len && lower(text.at[i + n]) == lower_needle.at[n])
            n++;
        if (n == lower_needle.len)
            return true;
    }
    return false;
}

struct str str_trim(struct str text, const char *characters)
{
    size_t count = strlen(characters);
    while (text.len && memchr(characters, text.at[0], count))
        text = (struct str){text.at + 1, text.len - 1};
    while (text.len && memchr(characters, text.at[text.len - 1], count))
        text.len--;
    return text;
}

// Up to 18 digits always fit.
static bool few_digits(struct str text, int64_t *value)
{
    int64_t sum = 0;
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = (unsigned char)text.at[i] - (unsigned)'0';
        if (digit > 9)
            return false;
        sum = sum * 10 + digit;
    }
    *value = sum;
    return text.len > 0;
}

bool str_to_i64(struct str text, int64_t *value)
{
    if (text.len <= 18 && few_digits(text, value))
        return true;
    size_t i = text.len && (text.at[0] == '-' || text.at[0] == '+');
    if (i == text.len)
        return false;
    bool negative = text.at[0] == '-';
    int64_t sum = 0;
    for (; i < text.len; i++) {
        int digit = text.at[i] - '0';
        if (digit < 0 || digit > 9 || __builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_sub_overflow(sum, digit, &sum))
            return false; // summed as a negative number so that INT64_MIN fits
    }
    if (!negative && sum == INT64_MIN)
        return false;
    *value = negative ? sum : -sum;
    return true;
}

bool str_take_i64(struct str *text, int64_t *value)
{
    size_t digits = str_digits_end(*text, 0);
    if (!str_to_i64((struct str){text->at, digits}, value))
        return false;
    *text = (struct str){text->at + digits, text->len - digits};
    return true;
}

void str_hex(char *out, const unsigned char *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * count] = '\0';
}

size_t str_utf8_next(struct str text, size_t *bad)
{
    // Table 3-7 of the Unicode standard.
    const unsigned char *p = (const unsigned char *)text.at;
    *bad = 1;
    if (text.len == 0)
        return 0;
    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xC2 || p[0] > 0xF4)
        return 0;
    size_t need = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    unsigned char low = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80;
    unsigned char high = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF;
    for (size_t i = 1; i < need; i++) {
        if (i >= text.len || p[i] < low || p[i] > high)
            return 0;
        low = 0x80;
        high = 0xBF;
        *bad = i + 1;
    }
    return need;
}

size_t str_valid_utf8(struct str text)
{
    size_t i = 0, bad;
    while (i < text.len) {
        size_t n = str_utf8_next((struct str){text.at + i, text.len - i}, &bad);
        if (n == 0)
            break;
        i += n;
    }
    return i;
}

bool str_to_f64(struct str text, double *value)
{
    char copy[64], *end;
    if (text.len == 0 || text.len >= sizeof copy)
        return false;
    memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    if (strspn(copy, "0123456789.eE+-") != text.len) // strtod also reads hexadecimal and "inf"
        return false;
    *value = strtod(copy, &end);
    return *end == '\0' && isfinite(*value);
}
