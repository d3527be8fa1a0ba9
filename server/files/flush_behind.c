// SPDX-License-Identifier: Apache-2.0
// Starts writing back the newest stretch and waits for the one before.
#include "server/files/flush_behind.h"

#include <fcntl.h>

#define STRETCH_BYTES ((uint64_t)64 << 20)

void flush_behind(int fd, uint64_t written_bytes, uint64_t *begun_bytes)
{
    if (written_bytes - *begun_bytes < STRETCH_BYTES)
        return;
    off_t begin = (off_t)*begun_bytes, size = (off_t)(written_bytes - *begun_bytes);
    sync_file_range(fd, begin, size, SYNC_FILE_RANGE_WRITE);
    if (*begun_bytes >= STRETCH_BYTES)
        sync_file_range(fd, begin - (off_t)STRETCH_BYTES, (off_t)STRETCH_BYTES,
                        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                            SYNC_FILE_RANGE_WAIT_AFTER);
    *begun_bytes = written_bytes;
}
