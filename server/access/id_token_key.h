// SPDX-License-Identifier: Apache-2.0
// Public keys as JSON Web Keys (RFC 7517), and signatures by them (RFC 7518).
#ifndef SERVER_ID_TOKEN_KEY_H
#define SERVER_ID_TOKEN_KEY_H

#include "ingest/base/arena.h"

#include <jansson.h>

struct id_token_algorithm;

// NULL for any but RS256 and ES256, and for NULL.
const struct id_token_algorithm *id_token_algorithm_of(const char *name);

// Whether the key is of the kind that the algorithm uses, and is meant for signatures by it.
bool id_token_key_fits(const json_t *key, const struct id_token_algorithm *algorithm);

// ERR_DENIED if the key is unusable or has not made this signature of the text.
MUST_CHECK bool id_token_key_verify(const json_t *key, const struct id_token_algorithm *algorithm,
                                    struct str text, struct str signature, struct arena *arena,
                                    struct err *err);

#endif
