// SPDX-License-Identifier: Apache-2.0
// SHA-256 of a stream.
#ifndef SERVER_HASHER_H
#define SERVER_HASHER_H

#include "ingest/base/err.h"

#include <stddef.h>

struct hasher;

#define HASHER_TEXT_SIZE 65 // lower-case hex and its NUL

MUST_CHECK struct hasher *hasher_new(struct err *err);
void hasher_free(struct hasher *hasher); // NULL is allowed

// Takes the next bytes. ERR_INTERNAL if the hash library fails.
MUST_CHECK bool hasher_add(struct hasher *hasher, const void *bytes, size_t size, struct err *err);

// The hash of all bytes; nothing may follow.
MUST_CHECK bool hasher_end(struct hasher *hasher, char sha256[HASHER_TEXT_SIZE], struct err *err);

#endif
