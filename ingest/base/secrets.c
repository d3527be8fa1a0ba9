// SPDX-License-Identifier: Apache-2.0
// The search for secrets, sieve by sieve, and redaction.
#include "ingest/base/secrets.h"
#include "ingest/base/secret_anchors.h"
#include "ingest/base/secret_rules.h"

#include <stdio.h>

static const char *const words[SECRET_KINDS] = {
    [SECRET_HUGGING_FACE] = "hugging-face",
    [SECRET_AWS_KEY_ID] = "aws-key-id",
    [SECRET_AWS_SECRET] = "aws-secret",
    [SECRET_GITHUB] = "github",
    [SECRET_GITLAB] = "gitlab",
    [SECRET_ANTHROPIC] = "anthropic",
    [SECRET_OPENAI] = "openai",
    [SECRET_NVIDIA] = "nvidia",
    [SECRET_SLACK] = "slack",
    [SECRET_GOOGLE] = "google",
    [SECRET_JWT] = "jwt",
    [SECRET_PRIVATE_KEY] = "private-key",
    [SECRET_URL_PASSWORD] = "url-password",
    [SECRET_AUTHORIZATION] = "authorization",
    [SECRET_NAMED] = "named",
    [SECRET_STEPSCOPE] = "stepscope",
    [SECRET_PACKAGES] = "packages",
    [SECRET_STRIPE] = "stripe",
    [SECRET_DOCKER] = "docker",
    [SECRET_SENDGRID] = "sendgrid",
    [SECRET_DIGITALOCEAN] = "digitalocean",
    [SECRET_DATABRICKS] = "databricks",
    [SECRET_TELEGRAM] = "telegram",
    [SECRET_TWILIO] = "twilio",
    [SECRET_AZURE_SAS] = "azure-sas",
    [SECRET_WEBHOOK] = "webhook",
    [SECRET_COOKIE] = "cookie",
};

const char *secret_word(enum secret_kind kind)
{
    return words[kind];
}

bool secret_says(struct str text, size_t at, struct str lower)
{
    if (at > text.len || text.len - at < lower.len)
        return false;
    for (size_t i = 0; i < lower.len; i++) {
        char c = text.at[at + i];
        if ((c >= 'A' && c <= 'Z' ? c | 0x20 : c) != lower.at[i])
            return false;
    }
    return true;
}

bool secret_word_begins(struct str text, size_t at)
{
    if (at == 0)
        return true;
    const char *here = text.at + at;
    if (!secret_is_letter(here[-1]) && !str_is_digit(here[-1]) && here[-1] != '-' &&
        here[-1] != '_')
        return true;
    return (at >= 2 && here[-2] == '\\' && strchr("nrtbf", here[-1])) ||
           (at >= 3 && here[-3] == '%') || (at >= 6 && here[-6] == '\\' && here[-5] == 'u');
}

// A name can make a longer value a secret than the value's own form does, so it goes first.
static bool match(struct str text, size_t anchor, struct secret *secret)
{
    return secret_of_name(text, anchor, secret) || secret_of_form(text, anchor, secret) ||
           secret_of_command(text, anchor, secret);
}

bool secrets_find(struct str text, size_t from, struct secret *secret)
{
    bool found = false;
    size_t end = text.len; // a secret with a later anchor may start before this one
    for (size_t at = secret_anchor_next(text, from); at < end;
         at = secret_anchor_next(text, at + 1)) {
        struct secret one;
        if (!match(text, at, &one) || one.at < from || (found && one.at >= secret->at))
            continue;
        *secret = one;
        found = true;
        end = one.at;
    }
    return found;
}

static void add_mark(const struct secret *secret, struct buf *out)
{
    for (unsigned i = 0; secret->bare && i < secret->backslashes; i++)
        buf_putc(out, '\\');
    if (secret->bare)
        buf_putc(out, '"');
    buf_puts(out, "[redacted:");
    buf_puts(out, words[secret->kind]);
    buf_putc(out, ']');
    for (unsigned i = 0; secret->bare && i < secret->backslashes; i++)
        buf_putc(out, '\\');
    if (secret->bare)
        buf_putc(out, '"');
}

size_t secrets_redact(struct str text, uint64_t *counts, struct buf *out)
{
    size_t count = 0, done = 0;
    struct secret secret;
    while (secrets_find(text, done, &secret)) {
        buf_add(out, text.at + done, secret.at - done);
        add_mark(&secret, out);
        done = secret.at + secret.len;
        count++;
        if (counts)
            counts[secret.kind]++;
    }
    buf_add(out, text.at + done, text.len - done);
    return count;
}

size_t secrets_redact_into(struct str text, char *room, size_t cap)
{
    size_t done = 0, used = 0;
    struct secret secret;
    while (done < text.len) {
        bool found = secrets_find(text, done, &secret);
        size_t plain = (found ? secret.at : text.len) - done;
        size_t fits = plain < cap - used ? plain : cap - used;
        memcpy(room + used, text.at + done, fits);
        used += fits;
        if (!found || fits < plain)
            break;
        char mark[48];
        int len = snprintf(mark, sizeof mark, "[redacted:%s]", words[secret.kind]);
        if (len < 0 || (size_t)len > cap - used)
            break;
        memcpy(room + used, mark, (size_t)len);
        used += (size_t)len;
        done = secret.at + secret.len;
    }
    return used;
}

size_t secrets_redact_value(struct str name, struct str value, struct buf *out)
{
    if (!secrets_named(name, value))
        return secrets_redact(value, NULL, out);
    add_mark(&(struct secret){.kind = SECRET_NAMED}, out);
    return 1;
}
