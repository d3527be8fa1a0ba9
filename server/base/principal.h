// SPDX-License-Identifier: Apache-2.0
// The sender of a request: identity, scopes and limits.
#ifndef SERVER_PRINCIPAL_H
#define SERVER_PRINCIPAL_H

#include "ingest/base/str.h"

// What a token or a user named by a proxy may do. Any of the scopes of a route admits.
enum scope {
    SCOPE_OPEN = 0,        // of a route: everybody, known or not
    SCOPE_READ = 1 << 0,   // look at everything but secrets
    SCOPE_UPLOAD = 1 << 1, // send traces, and see what became of them
    SCOPE_WRITE = 1 << 2,  // edit runs
    SCOPE_ADMIN = 1 << 3,  // delete runs, see raw files with secrets, manage tokens
};
#define SCOPE_ALL ((unsigned)(SCOPE_READ | SCOPE_UPLOAD | SCOPE_WRITE | SCOPE_ADMIN))

enum principal_kind {
    WHO_NOBODY, // unknown; only open routes serve them
    WHO_LOCAL,  // everybody, where nobody is asked who they are
    WHO_TOKEN,  // has a token, or a session started with one
    WHO_USER,   // named by a proxy that is trusted
};

// How much someone may upload. 0: no limit; in a token's own limits, -1: the service's default.
struct quota_limits {
    int64_t day_bytes;    // per calendar day, UTC
    int64_t stored_bytes; // of traces that still exist
    int64_t in_flight;    // uploads at a time
};

struct principal {
    enum principal_kind kind;
    bool by_session;  // identified by a browser's cookie
    struct str name;  // "local", "token k_7q2k9d0x (ci)", "user alice"; for the audit log
    struct str key;   // what quotas are counted by: "k_7q2k9d0x", "user alice"; "" none
    unsigned scopes;  // including implied ones
    int64_t until_ns; // when the token expires, 0: never
    struct quota_limits limits;
};

#endif
