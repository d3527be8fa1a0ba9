// SPDX-License-Identifier: Apache-2.0
// The secrets that a request's headers carry, found without judging them.
#ifndef SERVER_CREDENTIALS_H
#define SERVER_CREDENTIALS_H

#include "server/http/request.h"

// The text behind "Bearer "; at is NULL when there is no such header, or one of another scheme.
struct str credentials_bearer(const struct request *request);

// The session's secret in the cookie of that name; at is NULL when there is none, or several, of
// which one may be planted.
struct str credentials_session(const struct request *request, const char *cookie_name);

#endif
