// SPDX-License-Identifier: Apache-2.0
// Base64 (RFC 4648) as used in headers, and its form for addresses (section 5).
#ifndef SERVER_BASE64_H
#define SERVER_BASE64_H

#include "ingest/base/arena.h"
#include "ingest/base/buf.h"

// Decodes text, with or without padding, into the arena; a NUL follows the bytes. ERR_USAGE.
MUST_CHECK bool base64_decode(struct str text, struct arena *arena, struct str *bytes,
                              struct err *err);

// The same for the form for addresses, which has no padding.
MUST_CHECK bool base64_decode_url(struct str text, struct arena *arena, struct str *bytes,
                                  struct err *err);

// Appends the bytes as text with padding.
void base64_encode(struct str bytes, struct buf *out);

// Appends them in the form for addresses.
void base64_encode_url(struct str bytes, struct buf *out);

#endif
