// SPDX-License-Identifier: Apache-2.0
// What the files of access.h share.
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
    bool secure; // browsers reach us by https
    struct peers proxies;
    const char *user_header;
    struct str admins;         // "alice,bob"
    atomic_bool told_of_proxy; // that requests come from elsewhere, though nobody is asked
};

// A token that somebody presented, where it is good; else fails with 401, or 429 after too many.
MUST_CHECK bool access_check_token(struct request *request, struct response *response,
                                   struct str text, struct token *token, struct err *err);

// Who holds that token.
MUST_CHECK bool access_know(struct request *request, const struct token *token, struct err *err);

// Counts and notes wrong credentials. Fails with 429 when there were too many of that address.
MUST_CHECK bool access_count_failure(struct request *request, struct response *response,
                                     const char *why, struct err *err);

// Fails with 401 and what helps.
bool access_refuse_unknown(struct request *request, struct response *response, const char *why,
                           struct err *err);

// Finds the request's session; request->who stays as it is when there is none, which counts as a
// failure when one was named. Fails with 403 when another page may have made the browser send it,
// with 429 after too many failures.
MUST_CHECK bool access_read_session(struct request *request, struct response *response,
                                    struct err *err);

// Finds whom a trusted proxy names. Fails with 400 or 403 when that cannot be trusted.
MUST_CHECK bool access_read_proxy(struct request *request, struct response *response,
                                  struct err *err);

#endif
