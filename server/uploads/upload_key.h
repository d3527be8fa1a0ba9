// SPDX-License-Identifier: Apache-2.0
// The Idempotency-Key header: the same key with the same request from the same sender means the
// same upload, so that a client that never got its answer may ask again.
#ifndef SERVER_UPLOAD_KEY_H
#define SERVER_UPLOAD_KEY_H

#include "server/http/request.h"
#include "server/store/store.h"

// Its text is "" when there is none. ERR_USAGE for what cannot be one.
MUST_CHECK bool upload_key_read(const struct request *request, struct upload_key *key,
                                struct err *err);

#endif
