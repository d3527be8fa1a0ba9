// SPDX-License-Identifier: Apache-2.0
// Base64 (RFC 4648, section 4) as used in headers.
#ifndef SERVER_BASE64_H
#define SERVER_BASE64_H

#include "ingest/base/arena.h"
#include "ingest/base/buf.h"

// Decodes text, with or without padding, into the arena; a NUL follows the bytes. ERR_USAGE.
MUST_CHECK bool base64_decode(struct str text, struct arena *arena, struct str *bytes,
                              struct err *err);

// Appends the bytes as text with padding.
void base64_encode(struct str bytes, struct buf *out);

#endif
