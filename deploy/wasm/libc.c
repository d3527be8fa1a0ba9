// SPDX-License-Identifier: Apache-2.0
// Calls that wasi-libc lacks, by paths that the module's files know (web/standalone/wasi.mjs).
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int memfd_create(const char *name, unsigned flags)
{
    (void)name, (void)flags;
    return open("/tmp", O_TMPFILE | O_RDWR);
}

// Its position is not shared with the first one's.
int dup(int fd)
{
    char path[32];
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    return open(path, O_RDWR);
}
