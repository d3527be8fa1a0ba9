// SPDX-License-Identifier: Apache-2.0
// The Idempotency-Key header: the same key from the same sender means the same upload, so that a
// client that never got its answer may ask again.
#ifndef SERVER_UPLOAD_KEY_H
#define SERVER_UPLOAD_KEY_H

#include "server/request.h"

// "" when there is none. ERR_USAGE for what cannot be one.
MUST_CHECK bool upload_key_read(const struct request *request, struct str *key, struct err *err);

#endif
