// SPDX-License-Identifier: Apache-2.0
// How much each token, or person behind a proxy, may upload: bytes a day, bytes stored, uploads at
// a time.
#ifndef SERVER_QUOTA_H
#define SERVER_QUOTA_H

#include "server/http/response.h"

struct quota;
struct store;

// Limits of whoever has none of their own. Pair with quota_free.
MUST_CHECK struct quota *quota_new(struct store *store, const struct quota_limits *defaults,
                                   struct err *err);
void quota_free(struct quota *quota); // NULL is allowed

// Lets an upload of so many bytes (BODY_UNKNOWN: of any length, see quota_grow) begin, before its
// body is read. Fails with 429 and Retry-After for the bytes of a day and uploads at a time, with
// 507 for bytes stored. Pair with quota_leave when true.
MUST_CHECK bool quota_admit(struct request *request, struct response *response,
                            uint64_t announced_bytes, struct err *err);

// The same for bytes of which nothing will be stored.
MUST_CHECK bool quota_admit_repeat(struct request *request, struct response *response,
                                   struct err *err);

// Counts what came of the body, or fails as quota_admit does when that is not left: an announced
// length holds nothing back from others. Several uploads at once share what is left.
MUST_CHECK bool quota_grow(struct request *request, struct response *response, struct err *err);

// So many bytes of the body were counted in the store, together with what was made of them.
void quota_settle(struct request *request, uint64_t counted_bytes);

// Ends it, and counts what else came of request->body.
void quota_leave(struct request *request);

#endif
