// SPDX-License-Identifier: Apache-2.0
// The second step of the search for secrets: what stands around an anchor, and how far it goes.
#ifndef INGEST_BASE_SECRET_RULES_H
#define INGEST_BASE_SECRET_RULES_H

#include "ingest/base/secrets.h"

// Whether the anchor at `at` belongs to a secret: by its own form, or by the name before it.
bool secret_of_form(struct str text, size_t at, struct secret *secret);
bool secret_of_name(struct str text, size_t at, struct secret *secret);
// Or by the command whose argument it is, or the entry of a .netrc.
bool secret_of_command(struct str text, size_t at, struct secret *secret);

// The argument that stands at `at`, without its quotes; *end is behind them.
struct str secret_argument(struct str text, size_t at, size_t *end);

// False for what is plainly no password, as $PASSWORD.
bool secret_is_password(struct str value);

// Whether a word may begin at `at`: no letter, digit or dash stands before it, but an escape may.
bool secret_word_begins(struct str text, size_t at);

// Whether text has `lower` at `at`, in either case.
bool secret_says(struct str text, size_t at, struct str lower);

static inline bool secret_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool secret_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool secret_is_space(char c)
{
    return (unsigned char)c <= ' ';
}

#endif
