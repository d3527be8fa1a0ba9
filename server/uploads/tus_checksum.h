// SPDX-License-Identifier: Apache-2.0
// The Upload-Checksum header of the tus protocol: the hash of the bytes of one piece.
#ifndef SERVER_TUS_CHECKSUM_H
#define SERVER_TUS_CHECKSUM_H

#include "server/http/request.h"

struct tus_checksum;

// Starts the checksum that a request announces; *checksum NULL if it announces none. ERR_USAGE for
// an algorithm other than sha1 and sha256.
MUST_CHECK bool tus_checksum_begin(const struct request *request, struct tus_checksum **checksum,
                                   struct err *err);
MUST_CHECK bool tus_checksum_add(struct tus_checksum *checksum, const void *bytes, size_t size,
                                 struct err *err);
// Whether the hash of all bytes matches the announced one.
bool tus_checksum_agrees(struct tus_checksum *checksum);
void tus_checksum_free(struct tus_checksum *checksum); // NULL is allowed

#endif
