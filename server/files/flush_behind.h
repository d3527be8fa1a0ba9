// SPDX-License-Identifier: Apache-2.0
// Writes a growing file back to disk while more arrives, so that the last flush has little left to
// do and dirty memory stays bounded.
#ifndef SERVER_FLUSH_BEHIND_H
#define SERVER_FLUSH_BEHIND_H

#include <stdint.h>

// Call after each write to a file with written_bytes so far; *begun_bytes (0 at first) tracks how
// far writeback has been started.
void flush_behind(int fd, uint64_t written_bytes, uint64_t *begun_bytes);

#endif
