// SPDX-License-Identifier: Apache-2.0
// Errors as application/problem+json (RFC 9457).
#ifndef SERVER_PROBLEM_H
#define SERVER_PROBLEM_H

#include "server/http/response.h"

// The only place where error codes become HTTP statuses.
int problem_status(enum err_code code);

// Turns a response into the answer for an error.
void problem_write(const struct request *request, struct response *response, const struct err *err);

#endif
