// SPDX-License-Identifier: Apache-2.0
// Reserves disk space in a file, and removes it.
#include "server/care/ballast.h"

#include "ingest/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

void ballast_init(struct ballast *ballast, const char *folder, uint64_t bytes)
{
    struct stat info;
    snprintf(ballast->path, sizeof ballast->path, "%s/ballast", folder);
    ballast->bytes = bytes;
    bool is_whole = lstat(ballast->path, &info) == 0 && (uint64_t)info.st_size == bytes && bytes;
    if (!is_whole) // another size was requested, or none
        unlink(ballast->path);
    atomic_init(&ballast->is_there, is_whole);
}

void ballast_drop(void *context)
{
    struct ballast *ballast = context;
    if (!atomic_exchange(&ballast->is_there, false))
        return;
    if (unlink(ballast->path) == 0)
        log_warn("the disk is full: released the reserve of %llu bytes",
                 (unsigned long long)ballast->bytes);
    else
        log_error("removing %s: errno %d", ballast->path, errno);
}

// On a filesystem that cannot reserve there is no ballast; logged once, as it then counts as made.
static bool reserve(int fd, uint64_t bytes, struct err *err)
{
    if (fallocate(fd, 0, 0, (off_t)bytes) == 0)
        return true;
    if (errno != EOPNOTSUPP)
        return err_set_errno(err, "reserving %llu bytes", (unsigned long long)bytes);
    log_warn("this filesystem cannot reserve space: there is no reserve for a full disk");
    return true;
}

bool ballast_make(struct ballast *ballast, uint64_t free_bytes, struct err *err)
{
    if (ballast->bytes == 0 || atomic_load(&ballast->is_there) || free_bytes / 2 < ballast->bytes)
        return true;
    int fd = open(ballast->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set_errno(err, "%s", ballast->path);
    bool ok = reserve(fd, ballast->bytes, err);
    close(fd);
    if (!ok)
        unlink(ballast->path);
    atomic_store(&ballast->is_there, ok);
    return ok;
}
