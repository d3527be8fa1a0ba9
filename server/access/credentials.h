// SPDX-License-Identifier: Apache-2.0
// The secrets in a request's headers, extracted without judging them.
#ifndef SERVER_CREDENTIALS_H
#define SERVER_CREDENTIALS_H

#include "server/http/request.h"

// The text after "Bearer "; at is NULL if there is no such header, or it uses another scheme.
struct str credentials_bearer(const struct request *request);

// The session's secret in the cookie of that name; at is NULL if there is none, or several, one of
// which may be planted.
struct str credentials_session(const struct request *request, const char *cookie_name);

// The value of the cookie of that name, whatever it is; at is NULL as above.
struct str credentials_cookie(const struct request *request, const char *cookie_name);

#endif
