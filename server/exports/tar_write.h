// SPDX-License-Identifier: Apache-2.0
// A tar archive, as POSIX's ustar: a head before each file, padding after it, and an end.
#ifndef SERVER_TAR_WRITE_H
#define SERVER_TAR_WRITE_H

#include "ingest/base/buf.h"

#define TAR_BLOCK 512u

// name: at most 99 bytes. The time is 1970, so that the same content gives the same bytes.
void tar_head(struct buf *out, const char *name, uint64_t size);
void tar_pad(struct buf *out, uint64_t size); // to the end of the block
void tar_end(struct buf *out);

// The size in a head that tar_head wrote.
uint64_t tar_size(const char head[TAR_BLOCK]);

#endif
