// SPDX-License-Identifier: Apache-2.0
// Shared by the files behind access.h.
#ifndef SERVER_ACCESS_PARTS_H
#define SERVER_ACCESS_PARTS_H

#include "server/access/access.h"
#include "server/access/login_guard.h"
#include "server/access/peers.h"
#include "server/base/services.h"
#include "server/http/response.h"
#include "server/store/store_access.h"

struct access {
    struct store *store;
    struct login_guard *guard;
    bool required;
    bool secure; // browsers reach us over https
    struct peers proxies;
    const char *user_header;
    struct str admins;           // "alice,bob"
    atomic_bool warned_of_proxy; // warned that requests come from elsewhere though no
                                 // authentication is required
};

// Checks a presented token; fails with 401 if it is wrong, or 429 after too many attempts.
MUST_CHECK bool access_check_token(struct request *request, struct response *response,
                                   struct str text, struct token *token, struct err *err);

// Sets request->who to the holder of that token.
MUST_CHECK bool access_know(struct request *request, const struct token *token, struct err *err);

// Counts and records wrong credentials. Fails with 429 if there were too many from that address.
MUST_CHECK bool access_count_failure(struct request *request, struct response *response,
                                     const char *why, struct err *err);

// Fails with 401 and advice.
bool access_refuse_unknown(struct request *request, struct response *response, const char *why,
                           struct err *err);

// Finds the request's session; leaves request->who unchanged if there is none, which counts as a
// failure if one was named. Fails with 403 if another site may have made the browser send it, with
// 429 after too many failures.
MUST_CHECK bool access_read_session(struct request *request, struct response *response,
                                    struct err *err);

// Finds the user named by a trusted proxy. Fails with 400 or 403 if that cannot be trusted.
MUST_CHECK bool access_read_proxy(struct request *request, struct response *response,
                                  struct err *err);

#endif
