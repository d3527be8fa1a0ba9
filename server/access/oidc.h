// SPDX-License-Identifier: Apache-2.0
// A provider of OpenID Connect that says who people are: authorization code with PKCE.
#ifndef SERVER_OIDC_H
#define SERVER_OIDC_H

#include "ingest/base/arena.h"

#define OIDC_CALLBACK "/login/oidc/callback"

struct oidc;

struct oidc_config {
    const char *issuer;      // "https://login.example"; NULL: none
    const char *client_id;   // that the provider knows us by
    const char *secret_file; // NULL or "": a public client
    const char *claim;       // of the ID token that names the user
    const char *users;  // "alice@example.com,@example.com"; or "*": all that the provider names
    const char *admins; // NULL: none
    const char *public_url;
};

// Does not contact the provider yet: the service also starts while it is down. ERR_USAGE for
// settings that cannot work. Texts of the config outlive it. Pair with oidc_close.
MUST_CHECK struct oidc *oidc_open(const struct oidc_config *config, struct err *err);
void oidc_close(struct oidc *oidc); // NULL is allowed

const struct oidc_config *oidc_settings(const struct oidc *oidc);

#define OIDC_SECRET_SIZE 65

// What ties the answer of the provider to the browser that asked for it.
struct oidc_flow {
    char state[OIDC_SECRET_SIZE], nonce[OIDC_SECRET_SIZE], verifier[OIDC_SECRET_SIZE];
};

// The address at the provider where people sign in. ERR_BUSY while it cannot be reached.
MUST_CHECK bool oidc_start_url(struct oidc *oidc, const struct oidc_flow *flow, struct arena *arena,
                               const char **url, struct err *err);

// The user whom the provider names for that code. ERR_DENIED if its answer is not valid, ERR_BUSY
// while it cannot be reached.
MUST_CHECK bool oidc_redeem(struct oidc *oidc, const struct oidc_flow *flow, struct str code,
                            struct arena *arena, struct str *user, struct err *err);

#endif
