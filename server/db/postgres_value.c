// SPDX-License-Identifier: Apache-2.0
// Values as PostgreSQL sends and takes them in binary: big-endian.
#include "server/db/postgres_value.h"

bool postgres_is_i64(unsigned type)
{
    return type == POSTGRES_BOOL || type == POSTGRES_INT2 || type == POSTGRES_INT4 ||
           type == POSTGRES_INT8 || type == POSTGRES_NUMERIC;
}

static uint64_t big_endian(const char *at, size_t len)
{
    uint64_t value = 0;
    for (size_t i = 0; i < len; i++)
        value = value << 8 | (unsigned char)at[i];
    return value;
}

static int16_t short_at(struct str bytes, size_t index)
{
    return (int16_t)big_endian(bytes.at + 2 * index, 2);
}

// Digits in base 10,000: their count, the weight of the first, the sign, a scale, and the digits.
// Sums of integers are such numbers, and averages of them.
static long double numeric(struct str bytes)
{
    enum { COUNT, WEIGHT, SIGN, DIGITS = 4, BASE = 10000 };
    long double value = 0;
    if (bytes.len < 2 * DIGITS ||
        bytes.len != 2 * (DIGITS + (size_t)(uint16_t)short_at(bytes, COUNT)))
        return 0;
    int count = short_at(bytes, COUNT), weight = short_at(bytes, WEIGHT);
    for (int i = 0; i < count; i++)
        value = value * BASE + short_at(bytes, (size_t)(DIGITS + i));
    for (int left = weight - count + 1; left > 0; left--)
        value *= BASE;
    for (int left = weight - count + 1; left < 0; left++)
        value /= BASE;
    return short_at(bytes, SIGN) ? -value : value;
}

// NaN becomes 0.
static int64_t saturate(long double value)
{
    if (value != value)
        return 0;
    if (value >= 0x1p63L)
        return INT64_MAX;
    return value <= -0x1p63L ? INT64_MIN : (int64_t)value;
}

int64_t postgres_i64(unsigned type, struct str bytes)
{
    if (type == POSTGRES_NUMERIC)
        return saturate(numeric(bytes));
    if (type == POSTGRES_FLOAT8)
        return saturate(postgres_f64(type, bytes));
    if (!postgres_is_i64(type))
        return 0;
    switch (bytes.len) {
    case 1: return bytes.at[0] != 0;
    case 2: return (int16_t)big_endian(bytes.at, 2);
    case 4: return (int32_t)big_endian(bytes.at, 4);
    case 8: return (int64_t)big_endian(bytes.at, 8);
    default: return 0;
    }
}

double postgres_f64(unsigned type, struct str bytes)
{
    double value = 0;
    if (type == POSTGRES_NUMERIC)
        return (double)numeric(bytes);
    if (type != POSTGRES_FLOAT8)
        return (double)postgres_i64(type, bytes);
    if (bytes.len == sizeof value) {
        uint64_t bits = big_endian(bytes.at, 8);
        memcpy(&value, &bits, sizeof value);
    }
    return value;
}

void postgres_put_i64(int64_t value, unsigned char bytes[8])
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)value >> (56 - 8 * i));
}

void postgres_put_f64(double value, unsigned char bytes[8])
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    postgres_put_i64(bits, bytes);
}

// The first bytes that PostgreSQL takes.
static size_t clean_bytes(struct str text)
{
    const char *zero = text.len ? memchr(text.at, '\0', text.len) : NULL;
    struct str before = {text.at, zero ? (size_t)(zero - text.at) : text.len};
    return str_valid_utf8(before);
}

bool postgres_is_clean(struct str text)
{
    return clean_bytes(text) == text.len;
}

void postgres_clean_text(struct str text, struct buf *out)
{
    while (text.len) {
        size_t clean = clean_bytes(text);
        buf_add(out, text.at, clean);
        if (clean == text.len)
            return;
        buf_puts(out, "\xef\xbf\xbd");
        text = (struct str){text.at + clean + 1, text.len - clean - 1};
    }
}
