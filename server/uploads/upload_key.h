// SPDX-License-Identifier: Apache-2.0
// The Idempotency-Key header: the same key with the same bytes for the same run and rank from the
// same sender means the same upload, so that a client that never got its answer may ask again.
#ifndef SERVER_UPLOAD_KEY_H
#define SERVER_UPLOAD_KEY_H

#include "server/uploads/upload_form.h"

// Its text is "" when there is none; what it came with is not known yet. ERR_USAGE for what cannot
// be one.
MUST_CHECK bool upload_key_read(const struct request *request, struct upload_key *key,
                                struct err *err);

// A hash of all that an upload is: its fields and, once they came, its files' names and bytes.
int64_t upload_key_hash(const struct upload_form *form);

#endif
