// SPDX-License-Identifier: Apache-2.0
// Numbers and strings as text, written at a cursor into memory known to be large enough.
#pragma once

#include <stdint.h>
#include <string.h>

static inline char *put_bytes(char *p, const char *text, size_t length)
{
    memcpy(p, text, length);
    return p + length;
}

static inline char *put_text(char *p, const char *text)
{
    return put_bytes(p, text, strlen(text));
}

static inline char *put_u64(char *p, uint64_t value)
{
    char digits[20];
    int n = 20;
    do {
        digits[--n] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    return put_bytes(p, digits + n, (size_t)(20 - n));
}

static inline char *put_i64(char *p, int64_t value)
{
    if (value < 0)
        *p++ = '-';
    return put_u64(p, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

// Nanoseconds as microseconds with three decimals, as profilers print times.
static inline char *put_us(char *p, int64_t ns)
{
    uint64_t rest = (uint64_t)(ns % 1000);
    p = put_u64(p, (uint64_t)(ns / 1000));
    *p++ = '.';
    *p++ = (char)('0' + rest / 100);
    *p++ = (char)('0' + rest / 10 % 10);
    *p++ = (char)('0' + rest % 10);
    return p;
}

// Millionths as a decimal fraction with six digits.
static inline char *put_millionths(char *p, uint64_t value)
{
    p = put_u64(p, value / 1000000);
    *p++ = '.';
    for (uint64_t unit = 100000; unit > 0; unit /= 10)
        *p++ = (char)('0' + value / unit % 10);
    return p;
}
