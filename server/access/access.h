// SPDX-License-Identifier: Apache-2.0
// Who sends a request, and whether they may do what it asks for.
#ifndef SERVER_ACCESS_H
#define SERVER_ACCESS_H

#include "server/access/oidc.h"
#include "server/base/principal.h"

#include "ingest/base/err.h"

struct access;
struct request;
struct response;
struct store;

struct access_config {
    struct store *store;
    const char *data_dir;          // for advice if nobody could get in
    const char *auth;              // "auto", "required" or "off"
    const char *listen;            // "127.0.0.1:8080"
    const char *public_url;        // NULL: none
    const char *trusted_proxies;   // "127.0.0.1,10.0.0.0/8"; NULL: none
    const char *proxy_user_header; // header in which they name the user
    const char *proxy_admins;      // "alice,bob"; NULL: none
    struct oidc_config oidc;       // .issuer NULL or "": nobody signs in elsewhere
};

// Decides once how requests are admitted. ERR_USAGE if that would let in anyone who reaches the
// port from elsewhere, or nobody. Texts of the config outlive it. Pair with access_close.
MUST_CHECK struct access *access_open(const struct access_config *config, struct err *err);
void access_close(struct access *access); // NULL is allowed

// Whether requests must authenticate. NULL: no.
bool access_is_required(const struct access *access);

// Sets request->peer to the client's address if a trusted proxy forwards the request. Must run
// before anything that logs the address or counts by it.
void access_find_peer(struct request *request);

// Sets request->who, possibly to WHO_NOBODY, whatever the route. Fails with 400, 401, 403 or 429 if
// the credentials are wrong.
MUST_CHECK bool access_identify(struct request *request, struct response *response,
                                struct err *err);

// Sets request->who. Fails with 401 if the sender is unknown and the route is not open, with 403 if
// their scopes are not enough.
MUST_CHECK bool access_admit(struct request *request, struct response *response, struct err *err);

// True if the response redirects an unknown browser to the sign-in page.
bool access_sends_to_login(struct request *request, struct response *response);

// --- sessions of browsers (access_session.c, access_oidc.c) -------------------------------------

// Starts a session with a token and sets its cookie. Fails as access_identify does.
MUST_CHECK bool access_begin_session(struct request *request, struct response *response,
                                     struct str token, struct err *err);
// Sends the browser to the provider, to sign in there, and takes its answer when it comes back.
MUST_CHECK bool access_get_oidc(struct request *request, struct response *response,
                                struct err *err);
MUST_CHECK bool access_get_oidc_callback(struct request *request, struct response *response,
                                         struct err *err);
// The provider's host, where people can sign in; "" if nowhere.
struct str access_provider(const struct access *access);
// Ends the request's session, if any, and removes the cookie.
MUST_CHECK bool access_end_session(struct request *request, struct response *response,
                                   struct err *err);

#endif
