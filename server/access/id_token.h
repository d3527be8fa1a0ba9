// SPDX-License-Identifier: Apache-2.0
// ID tokens of OpenID Connect: signed statements of a provider on who has signed in.
#ifndef SERVER_ID_TOKEN_H
#define SERVER_ID_TOKEN_H

#include "ingest/base/arena.h"

#include <jansson.h>

#define ID_TOKEN_MAX_BYTES  ((size_t)64 << 10)
#define ID_TOKEN_LEEWAY_S   60 // by which clocks may differ
#define ID_TOKEN_MAX_AGE_S  600
#define ID_TOKEN_LEAST_BITS 2048 // of an RSA key

struct id_token_terms {
    const char *issuer, *client_id;
    const char *nonce; // that the sign-in was started with
    const char *claim; // that names the user, such as "email"
    int64_t now_s;     // since 1970
};

// Checks the signature by one of the provider's keys (a JSON Web Key Set), then what it says, and
// returns the user it names, in the arena. ERR_DENIED with the reason; ERR_NOT_FOUND if the key is
// none of these: the provider may have a new one.
MUST_CHECK bool id_token_check(struct str token, const json_t *keys,
                               const struct id_token_terms *terms, struct arena *arena,
                               struct str *user, struct err *err);

#endif
