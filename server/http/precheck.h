// SPDX-License-Identifier: Apache-2.0
// What every request must pass before a handler sees it: one known Host, one honest length, not
// sent by a browser on behalf of another site.
#ifndef SERVER_PRECHECK_H
#define SERVER_PRECHECK_H

#include "server/http/response.h"

struct precheck {
    struct str listen;      // "127.0.0.1:8080": its host is known
    struct str public_url;  // "" none; its host is known
    struct str allow_hosts; // "a.example,b.example": also known; "" none
};

// Fails with the answer's status and word set.
MUST_CHECK bool precheck_request(const struct precheck *precheck, const struct request *request,
                                 struct response *response, struct err *err);

// The announced length of the body: 0 if there is none, BODY_UNKNOWN if it is chunked. Only for
// requests that passed.
uint64_t precheck_length(const struct request *request);

#endif
