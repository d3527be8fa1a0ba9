// SPDX-License-Identifier: Apache-2.0
// Who sends a request, and whether that may do what the request asks for.
#ifndef SERVER_ACCESS_H
#define SERVER_ACCESS_H

#include "ingest/base/err.h"
#include "ingest/base/str.h"

struct access;
struct request;
struct response;
struct store;

// What a token, or a person behind a proxy, may do. A route names those of which any admits.
enum scope {
    SCOPE_OPEN = 0,        // of a route: everybody, known or not
    SCOPE_READ = 1 << 0,   // look at everything but secrets
    SCOPE_UPLOAD = 1 << 1, // send traces, and see what became of them
    SCOPE_WRITE = 1 << 2,  // change what is said of runs
    SCOPE_ADMIN = 1 << 3,  // delete runs, see raw files with secrets, manage tokens
};
#define SCOPE_ALL ((unsigned)(SCOPE_READ | SCOPE_UPLOAD | SCOPE_WRITE | SCOPE_ADMIN))

enum principal_kind {
    WHO_NOBODY, // unknown; only open routes serve them
    WHO_LOCAL,  // everybody, where nobody is asked who they are
    WHO_TOKEN,  // holds a token, or a session that a token began
    WHO_USER,   // named by a proxy that is trusted
};

// How much somebody may upload. 0: no limit; of a token's own, -1: as the service says.
struct quota_limits {
    int64_t day_bytes;    // between two midnights, UTC
    int64_t stored_bytes; // of traces that are still there
    int64_t in_flight;    // uploads at a time
};

struct principal {
    enum principal_kind kind;
    bool by_session;  // a browser's cookie says so
    struct str name;  // "local", "token k_7q2k9d0x (ci)", "user alice"; for the audit log
    struct str key;   // what quotas are counted by: "k_7q2k9d0x", "user alice"; "" none
    unsigned scopes;  // with those that they include
    int64_t until_ns; // when the token expires, 0: never
    struct quota_limits limits;
};

struct access_config {
    struct store *store;
    const char *data_dir;          // for what to do when nobody could get in
    const char *auth;              // "auto", "required" or "off"
    const char *listen;            // "127.0.0.1:8080"
    const char *public_url;        // NULL: none
    const char *trusted_proxies;   // "127.0.0.1,10.0.0.0/8"; NULL: none
    const char *proxy_user_header; // in which they name the user
    const char *proxy_admins;      // "alice,bob"; NULL: none
};

// Decides once how requests are admitted. ERR_USAGE when that would let in whoever reaches the
// port from elsewhere, or nobody. Texts of the config outlive it. Pair with access_close.
MUST_CHECK struct access *access_open(const struct access_config *config, struct err *err);
void access_close(struct access *access); // NULL is allowed

// Whether requests must say who sends them. NULL: no.
bool access_is_required(const struct access *access);

// Puts the client's address in request->peer where a trusted proxy passes the request on. Before
// anything that logs or counts by it.
void access_find_peer(struct request *request);

// Sets request->who, also WHO_NOBODY, whatever the route. Fails with 400, 401, 403 or 429 for
// credentials that are wrong.
MUST_CHECK bool access_identify(struct request *request, struct response *response,
                                struct err *err);

// Sets request->who. Fails with 401 when nobody known sends it and the route is not open, with 403
// when their scopes do not do.
MUST_CHECK bool access_admit(struct request *request, struct response *response, struct err *err);

// True when the response sends a browser that nobody knows from a page to the one to sign in.
bool access_sends_to_login(struct request *request, struct response *response);

// --- sessions of browsers (access_session.c) ----------------------------------------------------

// Begins a session with a token and sets its cookie. Fails as access_identify does.
MUST_CHECK bool access_begin_session(struct request *request, struct response *response,
                                     struct str token, struct err *err);
// Ends the request's session, if any, and takes the cookie away.
MUST_CHECK bool access_end_session(struct request *request, struct response *response,
                                   struct err *err);

#endif
