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
    struct oidc *oidc;           // NULL: nobody signs in elsewhere
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

// Finds the request's session; leaves request->who unchanged if there is none. Fails with 403 if
// another site may have made the browser send it.
MUST_CHECK bool access_read_session(struct request *request, struct response *response,
                                    struct err *err);

// Starts a session of someone whom the provider named, and sets its cookie.
MUST_CHECK bool access_begin_user_session(struct request *request, struct response *response,
                                          struct str user, struct err *err);

// Whether these people may sign in at the provider.
bool access_may_sign_in(const struct access *access, struct str user);

// A name without space, comma or quote: those would mean several names, or an injected header.
bool access_is_user(struct str name);
// Whether a comma-separated list has the name, or, as "@example.com", its end.
bool access_is_listed(struct str names, struct str name);
// Sets request->who to a user, who has all scopes if the list of administrators has the name.
MUST_CHECK bool access_know_user(struct request *request, struct str user, struct str admins,
                                 struct err *err);

// Whether the host in a URL is this machine.
bool access_is_loopback(const char *url);
// The host in a URL, without the port.
struct str access_host_of(struct str url);
// Appends the text, escaped as a value in a URL.
void access_write_escaped(struct buf *out, struct str text);

// Finds the user named by a trusted proxy. Fails with 400 or 403 if that cannot be trusted.
MUST_CHECK bool access_read_proxy(struct request *request, struct response *response,
                                  struct err *err);

#endif
