// SPDX-License-Identifier: Apache-2.0
// The second step of the search for secrets: what surrounds an anchor, and how far the secret
// extends.
#ifndef INGEST_BASE_SECRET_RULES_H
#define INGEST_BASE_SECRET_RULES_H

#include "ingest/base/secrets.h"

// Whether the anchor at `at` belongs to a secret: by its own form, or by the name before it.
bool secret_of_form(struct str text, size_t at, struct secret *secret);
bool secret_of_name(struct str text, size_t at, struct secret *secret);
// Or by the command whose argument it is, or by the .netrc entry it is in.
bool secret_of_command(struct str text, size_t at, struct secret *secret);

// The argument at `at`, without its quotes; *end is after them.
struct str secret_argument(struct str text, size_t at, size_t *end);

// False for what is plainly not a password, such as $PASSWORD.
bool secret_is_password(struct str value);

// Whether a word may start at `at`: not after a letter, digit or dash, but after an escape.
bool secret_word_begins(struct str text, size_t at);

// Whether text has `lower` at `at`, ignoring case.
bool secret_says(struct str text, size_t at, struct str lower);

static inline bool secret_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool secret_is_space(char c)
{
    return (unsigned char)c <= ' ';
}

#endif
