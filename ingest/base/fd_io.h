// SPDX-License-Identifier: Apache-2.0
// Reads and writes of a descriptor that signals do not cut short. errno says why one failed.
#ifndef INGEST_BASE_FD_IO_H
#define INGEST_BASE_FD_IO_H

#include "ingest/base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// All bytes, or false.
MUST_CHECK bool fd_write(int fd, const void *bytes, size_t size);
MUST_CHECK bool fd_write_at(int fd, const void *bytes, size_t size, uint64_t at);

// One read. 0: the end; negative: failed.
ssize_t fd_read(int fd, void *bytes, size_t size);

// All bytes there are from a place on, at most size. Negative: failed.
ssize_t fd_read_at(int fd, void *bytes, size_t size, uint64_t at);

// Opens the file of a descriptor again, only for reading and with a place of its own. Negative:
// failed.
int fd_reopen(int fd);

#endif
