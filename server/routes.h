// SPDX-License-Identifier: Apache-2.0
// Every endpoint is one row: adding one is adding a row here and a path to schema/openapi.json.
#ifndef SERVER_ROUTES_H
#define SERVER_ROUTES_H

#include "analysis/report/report.h"
#include "server/access/access.h"
#include "server/http/response.h"

struct route {
    const char *method;  // "GET" serves HEAD, too
    const char *pattern; // "/api/v1/runs/{run}/kernels"; a last {name*} takes the rest
    unsigned scopes;     // any of them admits; SCOPE_OPEN: everybody
    bool (*handle)(struct request *request, struct response *response, struct err *err);
    const struct table_desc *table; // run table that a table endpoint serves, else NULL
};

extern const struct route routes[];
extern const size_t routes_count;

// Finds the row for request->method and path and fills route and captures. Fails with 404, or 405
// with Allow.
MUST_CHECK bool routes_find(struct request *request, struct response *response, struct err *err);

// Answers a request that passed the pre-check: route, handler, problem. Never fails.
void routes_answer(struct request *request, struct response *response);

#endif
