// SPDX-License-Identifier: Apache-2.0
// Writes a growing file back to disk while more arrives, so that the last flush has little left to
// do and dirty memory stays bounded.
#ifndef SERVER_FLUSH_BEHIND_H
#define SERVER_FLUSH_BEHIND_H

#include <stdint.h>

// Call after each write of a file whose first written_bytes are there; *begun_bytes (0 at first)
// remembers how far writing back has begun.
void flush_behind(int fd, uint64_t written_bytes, uint64_t *begun_bytes);

#endif
