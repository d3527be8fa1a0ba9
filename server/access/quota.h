// SPDX-License-Identifier: Apache-2.0
// How much each token, or person behind a proxy, may upload: bytes per day, bytes stored,
// concurrent uploads. What else is kept of what they send counts towards the day.
#ifndef SERVER_QUOTA_H
#define SERVER_QUOTA_H

#include "server/http/response.h"

struct quota;
struct store;

// Limits for everyone without their own. Pair with quota_free.
MUST_CHECK struct quota *quota_new(struct store *store, const struct quota_limits *defaults,
                                   struct err *err);
void quota_free(struct quota *quota); // NULL is allowed

// Admits an upload of this length (BODY_UNKNOWN: any, see quota_grow) before its body is read.
// Fails with 429 and Retry-After for bytes per day and concurrent uploads, with 507 for bytes
// stored. Pair with quota_leave when true.
MUST_CHECK bool quota_admit(struct request *request, struct response *response,
                            uint64_t announced_bytes, struct err *err);

// Same for bytes that will not be stored.
MUST_CHECK bool quota_admit_repeat(struct request *request, struct response *response,
                                   struct err *err);

// Counts received bytes of the body, or fails like quota_admit if the limit is reached: an
// announced length reserves nothing. Concurrent uploads share what is left.
MUST_CHECK bool quota_grow(struct request *request, struct response *response, struct err *err);

// This many bytes of the body were counted in the store, in the same transaction as their result.
void quota_settle(struct request *request, uint64_t counted_bytes);

// Ends it, and counts the other received bytes of request->body.
void quota_leave(struct request *request);

// Counts bytes that are kept and of no upload, such as stage times, or fails with 429 if they are
// too many for the day. They come often and are small: the store hears of them once they are 1 MiB
// or a minute old.
MUST_CHECK bool quota_spend(struct request *request, struct response *response, uint64_t bytes,
                            struct err *err);

#endif
