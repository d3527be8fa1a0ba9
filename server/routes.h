// SPDX-License-Identifier: Apache-2.0
// Every endpoint is one row: to add one, add a row here and a path to schema/openapi.json.
#ifndef SERVER_ROUTES_H
#define SERVER_ROUTES_H

#include "server/http/route.h"

extern const struct route routes[];
extern const size_t routes_count;

// Finds the row for request->method and path and sets route and captures. Fails with 404, or 405
// with Allow.
MUST_CHECK bool routes_find(struct request *request, struct response *response, struct err *err);

// Answers a request that passed the pre-check: route, handler, problem. Never fails.
void routes_answer(struct request *request, struct response *response);

#endif
