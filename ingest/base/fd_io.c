// SPDX-License-Identifier: Apache-2.0
#include "ingest/base/fd_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

// Counts what a call moved. False: it failed, or can move no more.
static bool moved(ssize_t count, size_t *done)
{
    *done += count > 0 ? (size_t)count : 0;
    return count > 0 || (count < 0 && errno == EINTR);
}

bool fd_write(int fd, const void *bytes, size_t size)
{
    size_t done = 0;
    while (done < size)
        if (!moved(write(fd, (const char *)bytes + done, size - done), &done))
            return false;
    return true;
}

bool fd_write_at(int fd, const void *bytes, size_t size, uint64_t at)
{
    size_t done = 0;
    while (done < size)
        if (!moved(pwrite(fd, (const char *)bytes + done, size - done, (off_t)(at + done)), &done))
            return false;
    return true;
}

ssize_t fd_read(int fd, void *bytes, size_t size)
{
    ssize_t got;
    do
        got = read(fd, bytes, size);
    while (got < 0 && errno == EINTR);
    return got;
}

ssize_t fd_read_at(int fd, void *bytes, size_t size, uint64_t at)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(fd, (char *)bytes + done, size - done, (off_t)(at + done));
        if (got == 0)
            break;
        if (!moved(got, &done))
            return -1;
    }
    return (ssize_t)done;
}

int fd_reopen(int fd)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_RDONLY | O_CLOEXEC);
}
