// SPDX-License-Identifier: Apache-2.0
// The secrets of tokens and sessions: created, hashed, compared; and the words for scopes.
#ifndef SERVER_TOKEN_H
#define SERVER_TOKEN_H

#include "ingest/base/err.h"
#include "ingest/base/str.h"

#define TOKEN_PREFIX    "ss_"    // so that secret scanners can find tokens
#define SESSION_PREFIX  "ssweb_" // for the secrets in cookies
#define TOKEN_CHARS     43       // letters and digits after the prefix: 256 bits
#define TOKEN_SIZE      64       // prefix, letters and digits, NUL
#define TOKEN_HASH_SIZE 65       // SHA-256 as lower-case hex, and its NUL

// A new secret from the system's random source.
MUST_CHECK bool token_make(const char *prefix, char token[TOKEN_SIZE], struct err *err);

// Whether the text has the form of a secret with that prefix.
bool token_has_form(struct str text, const char *prefix);

MUST_CHECK bool token_hash(struct str token, char hash[TOKEN_HASH_SIZE], struct err *err);

// Takes the same time wherever they differ.
bool token_same_hash(struct str a, struct str b);

// Scopes from "read,upload". ERR_USAGE, listing the known ones.
MUST_CHECK bool token_parse_scopes(struct str words, unsigned *scopes, struct err *err);

#define TOKEN_SCOPES_SIZE 32 // "read,upload,write,admin" and its NUL
void token_write_scopes(unsigned scopes, char words[TOKEN_SCOPES_SIZE]);

// Including implied scopes: admin implies all others, write implies read.
unsigned token_all_scopes(unsigned scopes);

#endif
