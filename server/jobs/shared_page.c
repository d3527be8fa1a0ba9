// SPDX-License-Identifier: Apache-2.0
// Unnamed memory files, mapped.
#include "server/jobs/shared_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert(sizeof(struct job_page) <= SHARED_PAGE_BYTES, "a job's page is one page");

void *shared_page_map(int fd, struct err *err)
{
    void *page = mmap(NULL, SHARED_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page != MAP_FAILED)
        return page;
    err_set_errno(err, "mapping shared memory");
    return NULL;
}

void *shared_page_new(int *fd, struct err *err)
{
    // Sealed, so that no process can shrink the memory under another one.
    *fd = memfd_create("stepscope-job", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0 || ftruncate(*fd, SHARED_PAGE_BYTES) != 0 ||
        fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        err_set_errno(err, "making shared memory");
        shared_page_close(NULL, *fd);
        *fd = -1;
        return NULL;
    }
    void *page = shared_page_map(*fd, err);
    if (page)
        return page;
    close(*fd);
    *fd = -1;
    return NULL;
}

void shared_page_close(void *page, int fd)
{
    if (page)
        munmap(page, SHARED_PAGE_BYTES);
    if (fd >= 0)
        close(fd);
}
