// SPDX-License-Identifier: Apache-2.0
// An endpoint as seen by requests; server/routes.c lists them.
#ifndef SERVER_ROUTE_H
#define SERVER_ROUTE_H

#include "server/http/response.h"

struct table_desc;

struct route {
    const char *method;  // "GET" also serves HEAD
    const char *pattern; // "/api/v1/runs/{run}/kernels"; a final {name*} takes the rest, {name*?}
                         // also nothing
    unsigned scopes;     // any of them is enough; SCOPE_OPEN: everybody
    bool (*handle)(struct request *request, struct response *response, struct err *err);
    const struct table_desc *table; // run table served by a table endpoint, else NULL
};

#endif
