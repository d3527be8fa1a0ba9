// SPDX-License-Identifier: Apache-2.0
// Growing buffer.
#include "ingest/base/buf.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void buf_free(struct buf *buf)
{
    free(buf->at);
    *buf = (struct buf){0};
}

void buf_clear(struct buf *buf)
{
    buf->len = 0;
    buf->failed = false;
    if (buf->at)
        buf->at[0] = '\0';
}

static bool reserve(struct buf *buf, size_t more)
{
    if (buf->failed)
        return false;
    if (more < buf->cap - buf->len)
        return true;
    size_t cap = buf->cap ? buf->cap : 256;
    while (cap - buf->len <= more && cap <= SIZE_MAX / 4)
        cap *= 2;
    char *grown = cap - buf->len > more ? realloc(buf->at, cap) : NULL;
    if (!grown) {
        buf->failed = true;
        return false;
    }
    buf->at = grown;
    buf->cap = cap;
    return true;
}

void buf_add(struct buf *buf, const void *bytes, size_t len)
{
    if (!reserve(buf, len))
        return;
    if (len)
        memcpy(buf->at + buf->len, bytes, len);
    buf->len += len;
    buf->at[buf->len] = '\0';
}

void buf_add_str(struct buf *buf, struct str text)
{
    buf_add(buf, text.at, text.len);
}

void buf_puts(struct buf *buf, const char *text)
{
    buf_add(buf, text, strlen(text));
}

void buf_putc(struct buf *buf, char c)
{
    buf_add(buf, &c, 1);
}

void buf_i64(struct buf *buf, int64_t value)
{
    char text[20]; // fits UINT64_MAX; filled from the end
    size_t at = sizeof text;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        text[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    if (value < 0)
        buf_putc(buf, '-');
    buf_add(buf, text + at, sizeof text - at);
}

void buf_printf(struct buf *buf, const char *fmt, ...)
{
    va_list args;
    va_list again;
    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (len >= 0 && reserve(buf, (size_t)len)) {
        vsnprintf(buf->at + buf->len, (size_t)len + 1, fmt, again);
        buf->len += (size_t)len;
    }
    va_end(again);
}

// For a value from 1e-4 to 1e15: if a decimal of at most 15 digits reads back as the value, it is
// the only one, and what %.15g prints. All factors are exact, so the division rounds as reading
// does.
static bool put_short_f64(struct buf *buf, double value)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                    1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    double size = fabs(value);
    int places = 0;
    while (places < 18 && size * powers[places + 1] < 1e15)
        places++;
    int64_t digits = llrint(size * powers[places]);
    if ((double)digits / powers[places] != size)
        return false;
    while (places && digits % 10 == 0) {
        digits /= 10;
        places--;
    }
    int64_t unit = (int64_t)powers[places];
    buf_puts(buf, value < 0 ? "-" : "");
    buf_i64(buf, digits / unit);
    if (!places)
        return true;
    char fraction[20] = ".";
    for (int64_t at = places, rest = digits % unit; at > 0; at--, rest /= 10)
        fraction[at] = (char)('0' + rest % 10);
    buf_add(buf, fraction, (size_t)places + 1);
    return true;
}

void buf_f64(struct buf *buf, double value)
{
    if (!isfinite(value)) {
        buf_puts(buf, "null");
        return;
    }
    bool is_plain = fabs(value) >= 1e-4 && fabs(value) < 1e15;
    if (is_plain && put_short_f64(buf, value))
        return;
    char text[32];
    for (int digits = is_plain ? 16 : 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (digits == 17 || strtod(text, NULL) == value)
            break;
    }
    buf_puts(buf, text);
}

static void escape(struct buf *buf, unsigned char c)
{
    static const char *const short_form[] = {
        ['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f",
        ['\r'] = "\\r", ['"'] = "\\\"", ['\\'] = "\\\\"};
    if (c < sizeof short_form / sizeof *short_form && short_form[c])
        buf_puts(buf, short_form[c]);
    else
        buf_printf(buf, "\\u%04x", c);
}

void buf_add_shown(struct buf *buf, struct str raw)
{
    while (raw.len) {
        size_t bad = 1, step = str_utf8_next(raw, &bad);
        bool keeps = step && (unsigned char)*raw.at >= ' ';
        buf_add(buf, keeps ? raw.at : "\xEF\xBF\xBD", keeps ? step : 3);
        step = step ? step : bad;
        raw = (struct str){raw.at + step, raw.len - step};
    }
}

// Whether some of eight bytes may be more than printable ASCII without escapes: that is looked at
// closer, and may turn out to be none.
static bool may_be_special(const char *at)
{
    const uint64_t ones = UINT64_MAX / 255, high = ones << 7;
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    uint64_t quote = (bytes ^ ones * '"') - ones, slash = (bytes ^ ones * '\\') - ones;
    uint64_t erase = (bytes ^ ones * 0x7f) - ones, control = bytes - ones * ' ';
    return (bytes | quote | slash | erase | control) & high;
}

// How many of the first bytes JSON takes as they are, in steps of eight.
static size_t plain_bytes(struct str text)
{
    size_t count = 0;
    while (text.len - count >= 8 && !may_be_special(text.at + count))
        count += 8;
    return count;
}

void buf_json(struct buf *buf, struct str text)
{
    size_t plain = plain_bytes(text);
    buf_putc(buf, '"');
    if (plain) { // its address may be NULL if it is empty
        buf_add(buf, text.at, plain);
        text = (struct str){text.at + plain, text.len - plain};
    }
    while (text.len) {
        size_t valid = str_valid_utf8(text);
        size_t from = 0;
        for (size_t i = 0; i < valid; i++) {
            unsigned char c = (unsigned char)text.at[i];
            if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
                continue;
            buf_add(buf, text.at + from, i - from);
            escape(buf, c);
            from = i + 1;
        }
        buf_add(buf, text.at + from, valid - from);
        if (valid < text.len) {
            buf_puts(buf, "\xEF\xBF\xBD");
            valid++;
        }
        text = (struct str){text.at + valid, text.len - valid};
    }
    buf_putc(buf, '"');
}

void buf_json_or_null(struct buf *buf, const char *text)
{
    if (text)
        buf_json(buf, str_of(text));
    else
        buf_puts(buf, "null");
}

bool buf_ok(const struct buf *buf, struct err *err)
{
    return buf->failed ? err_set(err, ERR_MEMORY, "out of memory building an answer") : true;
}
