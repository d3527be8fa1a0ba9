// SPDX-License-Identifier: Apache-2.0
// Base64 (RFC 4648, section 4) as headers carry it.
#ifndef SERVER_BASE64_H
#define SERVER_BASE64_H

#include "ingest/base/arena.h"
#include "ingest/base/buf.h"

// Decodes text, with or without its padding, into the arena; a NUL follows the bytes. ERR_USAGE.
MUST_CHECK bool base64_decode(struct str text, struct arena *arena, struct str *bytes,
                              struct err *err);

// Adds the bytes as text with its padding.
void base64_encode(struct str bytes, struct buf *out);

#endif
