// SPDX-License-Identifier: Apache-2.0
// Sets up access control from the options.
#ifndef SERVER_SERVE_ACCESS_H
#define SERVER_SERVE_ACCESS_H

#include "server/access/access.h"
#include "server/access/audit.h"
#include "server/access/quota.h"
#include "server/cli/serve_options.h"

struct serve_access {
    struct access *access;
    struct quota *quota;
    struct audit *audit;
};

// The limits of whoever has none of their own.
struct quota_limits serve_quota(const struct serve_options *options);

// Pair with serve_access_close, whether it failed or not.
MUST_CHECK bool serve_access_open(struct serve_access *guards, const struct serve_options *options,
                                  struct store *store, struct err *err);
void serve_access_close(struct serve_access *guards);

#endif
