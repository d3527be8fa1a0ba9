// SPDX-License-Identifier: Apache-2.0
// A borrowed piece of text with its length; not NUL-terminated.
#ifndef INGEST_BASE_STR_H
#define INGEST_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
    const char *at;
    size_t len;
};

// A struct str from a string literal.
#define STR(literal) ((struct str){"" literal, sizeof(literal) - 1})

static inline struct str str_of(const char *text)
{
    return (struct str){text, text ? strlen(text) : 0};
}

static inline bool str_equal(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

static inline bool str_starts_with(struct str text, struct str prefix)
{
    return text.len >= prefix.len && memcmp(text.at, prefix.at, prefix.len) == 0;
}

static inline bool str_ends_with(struct str text, struct str end)
{
    return text.len >= end.len && memcmp(text.at + text.len - end.len, end.at, end.len) == 0;
}

// The place of a text among words, or their count.
static inline size_t str_place(struct str text, const char *const *words, size_t count)
{
    size_t i = 0;
    while (i < count && !str_equal(text, str_of(words[i])))
        i++;
    return i;
}

static inline bool str_is_one_of(struct str text, const char *const *words, size_t count)
{
    return str_place(text, words, count) < count;
}

// Whether it is among words that end with NULL.
static inline bool str_is_listed(struct str text, const char *const *words)
{
    while (*words && !str_equal(text, str_of(*words)))
        words++;
    return *words != NULL;
}

static inline bool str_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Where the digits that start at a place end, and where those that end there start.
static inline size_t str_digits_end(struct str text, size_t at)
{
    while (at < text.len && str_is_digit(text.at[at]))
        at++;
    return at;
}

static inline size_t str_digits_start(struct str text, size_t at)
{
    while (at > 0 && str_is_digit(text.at[at - 1]))
        at--;
    return at;
}

// Byte order, shorter first on a tie; on UTF-8 this is code point order.
int str_compare(struct str a, struct str b);

// The position of needle in text, or SIZE_MAX.
size_t str_find(struct str text, struct str needle);

// Ignoring ASCII case.
bool str_equal_nocase(struct str a, struct str b);
bool str_contains_nocase(struct str text, struct str lower_needle);

// Without those characters at both ends.
struct str str_trim(struct str text, const char *characters);

// Parses all of text as a decimal integer; false if it is anything else or out of range.
bool str_to_i64(struct str text, int64_t *value);

// Cuts off the number that a text starts with, all its digits; false, and cuts nothing, if there is
// none or it is out of range.
bool str_take_i64(struct str *text, int64_t *value);

// The whole text as a finite decimal number of at most 63 characters, such as "-1.5e3".
bool str_to_f64(struct str text, double *value);

// Writes count bytes as 2 * count lower-case hex digits and a NUL.
void str_hex(char *out, const unsigned char *bytes, size_t count);

// The length of the well-formed UTF-8 sequence at the start of text; 0 if there is none, and then
// *bad is how many bytes to replace by one U+FFFD (the maximal subpart).
size_t str_utf8_next(struct str text, size_t *bad);

// Length of the longest prefix that is well-formed UTF-8.
size_t str_valid_utf8(struct str text);

#endif
