// SPDX-License-Identifier: Apache-2.0
// Copies files by cloning their blocks, by a hard link, or by bytes.
#include "server/files/file_copy.h"

#include "ingest/base/fd_io.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES ((size_t)16 << 10)
enum { PATH_BYTES = 4096 };

static bool copy_through_memory(int from_fd, int to_fd)
{
    char block[BLOCK_BYTES];
    for (;;) {
        ssize_t got = fd_read(from_fd, block, sizeof block);
        if (got <= 0)
            return got == 0;
        if (!fd_write(to_fd, block, (size_t)got))
            return false;
    }
}

static int open_source(const char *from, struct err *err)
{
    int fd = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT)
        err_set(err, ERR_NOT_FOUND, "found no %s", from);
    else if (fd < 0)
        err_set_errno(err, "%s", from);
    return fd;
}

// Fills a new file in one of two ways.
static bool fill(const char *from, const char *part, bool (*way)(int from_fd, int to_fd),
                 struct err *err)
{
    int from_fd = open_source(from, err);
    if (from_fd < 0)
        return false;
    int to_fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = (to_fd >= 0 && way(from_fd, to_fd)) || err_set_errno(err, "copying %s", from);
    if (to_fd >= 0)
        close(to_fd);
    close(from_fd);
    if (!ok)
        unlink(part);
    return ok;
}

static bool clone(int from_fd, int to_fd)
{
    return ioctl(to_fd, FICLONE, from_fd) == 0;
}

static bool part_of(const char *to, char part[PATH_BYTES], struct err *err)
{
    int len = snprintf(part, PATH_BYTES, "%s.part", to);
    if (len < 0 || len >= PATH_BYTES)
        return err_set(err, ERR_USAGE, "the path %s is too long", to);
    unlink(part); // from an interrupted copy
    return true;
}

static bool name(const char *part, const char *to, struct err *err)
{
    bool ok = rename(part, to) == 0 || err_set_errno(err, "naming %s", to);
    unlink(part); // remains if both were already one file
    return ok;
}

bool file_copy_bytes(const char *from, const char *to, struct err *err)
{
    char part[PATH_BYTES];
    return part_of(to, part, err) && fill(from, part, copy_through_memory, err) &&
           name(part, to, err);
}

bool file_copy(const char *from, const char *to, enum file_copy *how, struct err *err)
{
    char part[PATH_BYTES];
    if (!part_of(to, part, err))
        return false;
    struct err ignored; // trying shows whether blocks can be shared
    *how = FILE_CLONED;
    if (fill(from, part, clone, &ignored))
        return name(part, to, err);
    *how = FILE_LINKED;
    if (link(from, part) == 0)
        return name(part, to, err);
    *how = FILE_COPIED;
    return fill(from, part, copy_through_memory, err) && name(part, to, err);
}

bool folder_make(const char *path, struct err *err)
{
    char copy[PATH_BYTES];
    int len = snprintf(copy, sizeof copy, "%s", path);
    if (len <= 0 || (size_t)len >= sizeof copy)
        return err_set(err, ERR_USAGE, "the path of a folder is %s", len ? "too long" : "empty");
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(copy, 0700); // the last one reports
        *slash = '/';
    }
    return mkdir(copy, 0700) == 0 || errno == EEXIST || err_set_errno(err, "folder %s", path);
}

bool folder_flush(const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && syncfs(fd) == 0;
    if (!ok)
        err_set_errno(err, "flushing %s", path);
    if (fd >= 0)
        close(fd);
    return ok;
}
