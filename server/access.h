// SPDX-License-Identifier: Apache-2.0
// Who sends a request, and whether that may do what the request asks for.
#ifndef SERVER_ACCESS_H
#define SERVER_ACCESS_H

#include "ingest/base/err.h"
#include "ingest/base/str.h"

struct request;
struct response;

// What a token, or a person behind a proxy, may do. A route names those of which any admits.
enum scope {
    SCOPE_OPEN = 0,        // of a route: everybody, known or not
    SCOPE_READ = 1 << 0,   // look at everything but secrets
    SCOPE_UPLOAD = 1 << 1, // send traces, and see what became of them
    SCOPE_WRITE = 1 << 2,  // change what is said of runs
    SCOPE_ADMIN = 1 << 3,  // delete runs, see raw files with secrets, manage tokens
};
#define SCOPE_ALL ((unsigned)(SCOPE_READ | SCOPE_UPLOAD | SCOPE_WRITE | SCOPE_ADMIN))

struct principal {
    struct str name; // "local", "token t_7q2k9d0x", "user alice"; for the audit log
    unsigned scopes;
};

// Sets request->who. Fails with 401 when nobody known sends it and the route is not open, with 403
// when their scopes do not do.
MUST_CHECK bool access_admit(struct request *request, struct response *response, struct err *err);

#endif
