// SPDX-License-Identifier: Apache-2.0
// Remembers the first flush that failed.
#include "server/base/disk_fault.h"

#include "ingest/base/log.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

void disk_fault_set(struct disk_fault *fault, const char *what)
{
    int none = 0;
    if (!atomic_compare_exchange_strong(&fault->state, &none, 1))
        return;
    snprintf(fault->what, sizeof fault->what, "%s", what);
    atomic_store(&fault->state, 2);
    log_error("a disk write failed (%s): nothing more is written until a restart", fault->what);
}

bool disk_fault_check(const struct disk_fault *fault, struct err *err)
{
    int state = atomic_load(&fault->state);
    return state == 0 ||
           err_set(err, ERR_BUSY,
                   "a disk write failed (%s): nothing is written until the service is restarted",
                   state == 2 ? fault->what : "just now");
}

static bool flush(struct disk_fault *fault, int fd, int (*sync)(int fd), const char *what,
                  struct err *err)
{
    int rc;
    do
        rc = sync(fd);
    while (rc != 0 && errno == EINTR); // says nothing about the bytes
    if (rc == 0)
        return true;
    err_set_errno(err, "flushing %s", what);
    disk_fault_set(fault, err->msg);
    return false;
}

bool disk_fault_flush_file(struct disk_fault *fault, int fd, const char *what, struct err *err)
{
    return flush(fault, fd, fdatasync, what, err);
}

bool disk_fault_flush_folder(struct disk_fault *fault, int fd, struct err *err)
{
    return flush(fault, fd, fsync, "a folder", err);
}
