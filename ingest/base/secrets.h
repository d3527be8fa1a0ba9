// SPDX-License-Identifier: Apache-2.0
// Finds what looks like a password, token or key in a text, and writes the text without it.
#ifndef INGEST_BASE_SECRETS_H
#define INGEST_BASE_SECRETS_H

#include "ingest/base/buf.h"

// Stored in trace files: append only; those of older programs count fewer kinds.
enum secret_kind {
    SECRET_HUGGING_FACE,  // hf_...
    SECRET_AWS_KEY_ID,    // AKIA..., ASIA..., ABIA..., ACCA..., A3T...
    SECRET_AWS_SECRET,    // 40 characters near "aws"
    SECRET_GITHUB,        // ghp_... and its like, github_pat_...
    SECRET_GITLAB,        // glpat-...
    SECRET_ANTHROPIC,     // sk-ant-...
    SECRET_OPENAI,        // sk-...
    SECRET_NVIDIA,        // nvapi-...
    SECRET_SLACK,         // xoxb-... and its like
    SECRET_GOOGLE,        // AIza...
    SECRET_JWT,           // eyJ... . ... . ...
    SECRET_PRIVATE_KEY,   // PEM
    SECRET_URL_PASSWORD,  // what stands before @ in a URL
    SECRET_AUTHORIZATION, // the value of such a header, or what stands after "Bearer"
    SECRET_NAMED,         // the value of a variable or option whose name says that it is one
    SECRET_STEPSCOPE,     // ss_..., our own tokens
    SECRET_PACKAGES,      // npm_..., pypi-...
    SECRET_STRIPE,        // sk_live_..., rk_test_..., whsec_...
    SECRET_DOCKER,        // dckr_pat_..., dckr_oat_...
    SECRET_SENDGRID,      // SG. ... . ...
    SECRET_DIGITALOCEAN,  // dop_v1_... and its like
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
    // A JSON value without quotes: its replacement has them, with as many backslashes as those of
    // its name.
    bool bare;
    unsigned backslashes;
};

// The first secret of text that begins at `from` or later, as does what tells that it is one: the
// name before it or its own form. Plain text and JSON text with its
// escapes are both understood. Takes time in proportion to the text; allocates nothing.
bool secrets_find(struct str text, size_t from, struct secret *secret);

// Adds text to `out` with [redacted:KIND] in place of each secret; returns how many there were.
// counts has SECRET_KINDS elements, to which those found are added; NULL is allowed.
size_t secrets_redact(struct str text, uint64_t *counts, struct buf *out);

// The same into room for `cap` bytes; what does not fit is left out, marks only whole. Returns how
// many bytes were written. Allocates nothing.
size_t secrets_redact_into(struct str text, char *room, size_t cap);

// The same as secrets_redact for a value that stands beside its name: all of it goes when the name
// says so.
size_t secrets_redact_value(struct str name, struct str value, struct buf *out);

// Whether a value of this name would be one, as of HF_TOKEN or db_password, unless the value is
// plainly something else (a number, true, none, a reference such as ${HF_TOKEN}).
bool secrets_named(struct str name, struct str value);

#endif
