// SPDX-License-Identifier: Apache-2.0
// In raw JSON, secrets can hide behind escapes of ordinary characters and behind the member's key.
#include "ingest/json/member_clean.h"
#include "ingest/base/secrets.h"

static int hex_of(char c)
{
    return str_is_digit(c)                          ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : -1;
}

// The printable character for the \u00XX at `at`; 0 for any that must stay escaped.
static char escaped_at(struct str text, size_t at)
{
    if (text.len - at < 6 || memcmp(text.at + at, "\\u00", 4) != 0)
        return 0;
    int high = hex_of(text.at[at + 4]), low = hex_of(text.at[at + 5]);
    int c = high * 16 + low;
    return high >= 2 && high < 8 && low >= 0 && c != '"' && c != '\\' && c != 0x7f ? (char)c : 0;
}

// Adds text with such escapes resolved; the JSON value stays the same.
static void add_resolved(struct str text, struct buf *out)
{
    size_t done = 0;
    for (size_t at = 0; at < text.len; at++) {
        if (text.at[at] != '\\')
            continue;
        char c = escaped_at(text, at);
        if (c) {
            buf_add(out, text.at + done, at - done);
            buf_putc(out, c);
            done = at + 6;
        }
        at += c ? 5 : 1;
    }
    buf_add(out, text.at + done, text.len - done);
}

struct str member_clean(struct str key, struct str text, struct buf *clean)
{
    struct buf whole = {0};
    struct secret secret;
    buf_putc(&whole, '"');
    add_resolved(key, &whole);
    buf_puts(&whole, "\": ");
    size_t head = whole.len;
    add_resolved(text, &whole);
    clean->failed |= whole.failed;
    struct str all = {whole.at, whole.len};
    struct str kept = text;
    if (!whole.failed && secrets_find(all, 0, &secret)) {
        bool in_key = secret.at < head; // the key is kept without its secret as well
        struct str body = {all.at + head, all.len - head};
        secrets_redact(in_key ? body : all, NULL, clean);
        kept = in_key ? (struct str){clean->at, clean->len}
                      : (struct str){clean->at + head, clean->len - head};
    }
    buf_free(&whole);
    return clean->failed ? text : kept;
}
