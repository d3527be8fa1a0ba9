// SPDX-License-Identifier: Apache-2.0
#include "server/hooks/hook_body.h"

#include "ingest/base/clock.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

enum { MOST_TEXT = 2900, MOST_SECRET = 1024 }; // Slack cuts longer texts

// Slack's three special characters; other characters are text.
static void put_slack(struct str text, struct buf *out)
{
    for (size_t i = 0; i < text.len && i < MOST_TEXT; i++)
        if (text.at[i] == '&')
            buf_puts(out, "&amp;");
        else if (text.at[i] == '<')
            buf_puts(out, "&lt;");
        else if (text.at[i] == '>')
            buf_puts(out, "&gt;");
        else
            buf_putc(out, text.at[i]);
}

static void slack_body(const struct hook_event *event, struct buf *out)
{
    struct buf text = {0};
    put_slack(event->text, &text);
    buf_puts(&text, "\n<");
    put_slack(event->url, &text);
    buf_puts(&text, "|open>");
    buf_puts(out, "{\"text\":");
    buf_json(out, (struct str){text.at, text.len});
    buf_putc(out, '}');
    out->failed |= text.failed;
    buf_free(&text);
}

void hook_body(const struct hook_event *event, enum hook_format format, struct buf *out)
{
    char at[CLOCK_RFC3339_SIZE];
    if (format == HOOK_SLACK) {
        slack_body(event, out);
        return;
    }
    clock_rfc3339(event->at_ns, at);
    buf_printf(out, "{\"type\":\"%s\",\"timestamp\":\"%s\",\"id\":", event->type, at);
    buf_json(out, str_of(event->key));
    buf_puts(out, ",\"project\":");
    buf_json(out, event->project);
    buf_puts(out, ",\"text\":");
    buf_json(out, event->text);
    buf_puts(out, ",\"url\":");
    buf_json(out, event->url);
    buf_puts(out, ",\"data\":");
    buf_add_str(out, event->data.len ? event->data : STR("{}"));
    buf_putc(out, '}');
}

// The length of the key; 0 if it is not what its prefix says.
static size_t key_of(const char *secret, unsigned char key[MOST_SECRET])
{
    size_t len = strlen(secret);
    if (strncmp(secret, "whsec_", 6) != 0) {
        len = len < MOST_SECRET ? len : MOST_SECRET;
        memcpy(key, secret, len);
        return len;
    }
    const char *text = secret + 6;
    len -= 6;
    if (len == 0 || len % 4 != 0 || len / 4 * 3 > MOST_SECRET)
        return 0;
    int got = EVP_DecodeBlock(key, (const unsigned char *)text, (int)len);
    int padding = (text[len - 1] == '=') + (text[len - 2] == '=');
    return got > padding ? (size_t)(got - padding) : 0;
}

bool hook_sign(const char *secret, struct str signed_text, struct buf *out, struct err *err)
{
    unsigned char key[MOST_SECRET], digest[EVP_MAX_MD_SIZE], text[2 * EVP_MAX_MD_SIZE];
    unsigned size = 0;
    size_t key_len = key_of(secret, key);
    if (!key_len)
        return err_set(err, ERR_FORMAT, "found a secret whsec_... that is not base64");
    if (!HMAC(EVP_sha256(), key, (int)key_len, (const unsigned char *)signed_text.at,
              signed_text.len, digest, &size))
        return err_set(err, ERR_INTERNAL, "cannot sign a webhook");
    int len = EVP_EncodeBlock(text, digest, (int)size);
    buf_puts(out, "v1,");
    buf_add(out, text, (size_t)len);
    return buf_ok(out, err);
}
