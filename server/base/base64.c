// SPDX-License-Identifier: Apache-2.0
// Strict decoding: ambiguous text is refused.
#include "server/base/base64.h"

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (str_is_digit(c))
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static struct str without_padding(struct str text)
{
    for (int i = 0; i < 2 && (text.len + (size_t)i) % 4 == 0 && text.len; i++)
        if (text.at[text.len - 1] == '=')
            text.len--;
    return text;
}

bool base64_decode(struct str text, struct arena *arena, struct str *bytes, struct err *err)
{
    struct str digits = without_padding(text);
    char *out = arena_alloc(arena, digits.len / 4 * 3 + 3, err);
    size_t len = 0;
    uint32_t bits = 0;
    if (!out)
        return false;
    for (size_t i = 0; i < digits.len; i++) {
        int value = digit(digits.at[i]);
        if (value < 0)
            return err_set(err, ERR_USAGE, "found byte 0x%02x in base64, expected its digits",
                           (unsigned char)digits.at[i]);
        bits = bits << 6 | (uint32_t)value;
        if (i % 4 != 0)
            out[len++] = (char)(bits >> (6 - i % 4 * 2));
    }
    size_t rest = digits.len % 4; // bits of the last digits beyond the last byte must be zero
    if (rest == 1 || (rest == 2 && (bits & 15)) || (rest == 3 && (bits & 3)))
        return err_set(err, ERR_USAGE, "found base64 that ends in the middle of a byte");
    out[len] = '\0';
    *bytes = (struct str){out, len};
    return true;
}

void base64_encode(struct str bytes, struct buf *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t count = bytes.len - i < 3 ? bytes.len - i : 3;
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < count ? (unsigned char)bytes.at[i + k] : 0);
        for (size_t k = 0; k <= count; k++)
            buf_putc(out, digits[bits >> (18 - 6 * k) & 63]);
        for (size_t k = count; k < 3; k++)
            buf_putc(out, '=');
    }
}

// --- for addresses ------------------------------------------------------------------------------

bool base64_decode_url(struct str text, struct arena *arena, struct str *bytes, struct err *err)
{
    char *common = arena_strdup(arena, text, err);
    if (!common)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (memchr("+/=", common[i], 3))
            return err_set(err, ERR_USAGE, "found byte 0x%02x in base64url, expected its digits",
                           (unsigned char)common[i]);
        common[i] = common[i] == '-' ? '+' : common[i] == '_' ? '/' : common[i];
    }
    return base64_decode((struct str){common, text.len}, arena, bytes, err);
}

void base64_encode_url(struct str bytes, struct buf *out)
{
    size_t at = out->len;
    base64_encode(bytes, out);
    if (out->failed || out->len == at)
        return;
    while (out->at[out->len - 1] == '=')
        out->at[--out->len] = '\0';
    for (; at < out->len; at++)
        out->at[at] = out->at[at] == '+' ? '-' : out->at[at] == '/' ? '_' : out->at[at];
}
