// SPDX-License-Identifier: Apache-2.0
// The Idempotency-Key header: the same key with the same bytes for the same run and rank from the
// same sender means the same upload, so a client that never got its answer can ask again.
#ifndef SERVER_UPLOAD_KEY_H
#define SERVER_UPLOAD_KEY_H

#include "server/uploads/upload_form.h"

// Its text is "" if there is none; the request it came with is not known yet. ERR_USAGE for an
// invalid one.
MUST_CHECK bool upload_key_read(const struct request *request, struct upload_key *key,
                                struct err *err);

// A hash of the whole upload: its fields and, once received, its files' names and bytes.
int64_t upload_key_hash(const struct upload_form *form);

#endif
