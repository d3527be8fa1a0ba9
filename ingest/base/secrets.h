// SPDX-License-Identifier: Apache-2.0
// Finds what looks like a password, token or key in a text, and writes the text without it.
#ifndef INGEST_BASE_SECRETS_H
#define INGEST_BASE_SECRETS_H

#include "ingest/base/buf.h"

// Stored in trace files: append only; files from older versions count fewer kinds.
enum secret_kind {
    SECRET_HUGGING_FACE,  // hf_...
    SECRET_AWS_KEY_ID,    // AKIA..., ASIA..., ABIA..., ACCA..., A3T...
    SECRET_AWS_SECRET,    // 40 characters near "aws"
    SECRET_GITHUB,        // ghp_... and similar, github_pat_...
    SECRET_GITLAB,        // glpat-...
    SECRET_ANTHROPIC,     // sk-ant-...
    SECRET_OPENAI,        // sk-...
    SECRET_NVIDIA,        // nvapi-...
    SECRET_SLACK,         // xoxb-... and similar
    SECRET_GOOGLE,        // AIza...
    SECRET_JWT,           // eyJ... . ... . ...
    SECRET_PRIVATE_KEY,   // PEM
    SECRET_URL_PASSWORD,  // what is before @ in a URL
    SECRET_AUTHORIZATION, // the value of such a header, or what follows "Bearer"
    SECRET_NAMED,         // the value of a variable or option named like a secret
    SECRET_STEPSCOPE,     // ss_..., our own tokens
    SECRET_PACKAGES,      // npm_..., pypi-...
    SECRET_STRIPE,        // sk_live_..., rk_test_..., whsec_...
    SECRET_DOCKER,        // dckr_pat_..., dckr_oat_...
    SECRET_SENDGRID,      // SG. ... . ...
    SECRET_DIGITALOCEAN,  // dop_v1_... and similar
    SECRET_DATABRICKS,    // dapi...
    SECRET_TELEGRAM,      // 123456789:AA...
    SECRET_TWILIO,        // SK and 32 hex digits
    SECRET_AZURE_SAS,     // sig=... of a shared access signature
    SECRET_WEBHOOK,       // the path of a chat's webhook: Slack, Discord
    SECRET_COOKIE,        // the value of such a header
    SECRET_KINDS
};

// Its stable word: "hugging-face", "named", ...
const char *secret_word(enum secret_kind kind);

struct secret {
    size_t at, len;
    enum secret_kind kind;
    // A JSON value without quotes: its replacement gets them, with as many backslashes as the
    // name's.
    bool bare;
    unsigned backslashes;
};

// The first secret of text that starts, with the name or form that gives it away, at `from` or
// later. Handles plain text and JSON text with its
// escapes. Takes time proportional to the text; allocates nothing.
bool secrets_find(struct str text, size_t from, struct secret *secret);

// Appends text to `out` with [redacted:KIND] in place of each secret; returns how many there were.
// Adds them to counts, which has SECRET_KINDS elements or is NULL.
size_t secrets_redact(struct str text, uint64_t *counts, struct buf *out);

// Same into a buffer of `cap` bytes; what does not fit is left out, but no mark is cut. Returns how
// many bytes were written. Allocates nothing.
size_t secrets_redact_into(struct str text, char *room, size_t cap);

// Same as secrets_redact for a value whose name is known: if the name is that of a secret, the
// whole value goes.
size_t secrets_redact_value(struct str name, struct str value, struct buf *out);

// Whether a value with this name, e.g. HF_TOKEN or db_password, would be a secret, unless it is
// plainly something else (a number, true, none, a reference such as ${HF_TOKEN}).
bool secrets_named(struct str name, struct str value);

#endif
