// SPDX-License-Identifier: Apache-2.0
// Bytes of a file.
#include "ingest/source/source.h"

#include "ingest/base/fd_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    struct source source;
    int fd;
    bool owns_fd;
    bool regular;   // can be read at any position
    uint64_t first; // offset in the file of the source's first byte
    uint64_t end;   // of a regular file when it was opened; 0 unknown
    uint64_t consumed;
};

static uint64_t left_of(const struct file *file)
{
    uint64_t at = file->first + file->consumed;
    return file->end > at ? file->end - at : 0;
}

static bool file_read(struct source *source, void *bytes, size_t cap, size_t *got, struct err *err)
{
    struct file *file = (struct file *)source;
    // Whoever copies from a file to its end must not read the copy.
    if (file->end && cap > left_of(file))
        cap = (size_t)left_of(file);
    ssize_t n = fd_read(file->fd, bytes, cap);
    if (n < 0)
        return err_set_errno(err, "cannot read the file");
    *got = (size_t)n;
    file->consumed += (size_t)n;
    return true;
}

static void file_close(struct source *source)
{
    struct file *file = (struct file *)source;
    if (file->owns_fd)
        close(file->fd);
    free(source);
}

static uint64_t file_consumed(const struct source *source)
{
    return ((const struct file *)source)->consumed;
}

static bool file_size(const struct source *source, uint64_t *size)
{
    const struct file *file = (const struct file *)source;
    struct stat st;
    if (!file->regular || fstat(file->fd, &st) != 0)
        return false;
    uint64_t end = (uint64_t)st.st_size;
    *size = end > file->first ? end - file->first : 0;
    return true;
}

static bool file_read_at(struct source *source, const struct source_place *place, size_t *got,
                         struct err *err)
{
    struct file *file = (struct file *)source;
    *got = 0;
    if (place->offset > INT64_MAX - file->first)
        return true;
    ssize_t n = fd_read_at(file->fd, place->bytes, place->cap, file->first + place->offset);
    if (n < 0)
        return err_set_errno(err, "cannot read the file");
    *got = (size_t)n;
    return true;
}

static const struct source_ops file_ops = {.read = file_read,
                                           .close = file_close,
                                           .consumed = file_consumed,
                                           .size = file_size,
                                           .read_at = file_read_at};

static bool is_readable_kind(int fd, const char *path, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return err_set_errno(err, "cannot stat %s", path);
    if (S_ISDIR(st.st_mode))
        return err_set(err, ERR_USAGE, "%s is a folder; give the trace files in it", path);
    return true;
}

bool source_open_path(const char *path, int *fd, struct err *err)
{
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0) {
        bool missing = errno == ENOENT;
        err_set_errno(err, "cannot open %s", path);
        if (missing && err)
            err->code = ERR_NOT_FOUND;
        return false;
    }
    if (is_readable_kind(*fd, path, err))
        return true;
    close(*fd);
    return false;
}

static struct source *open_fd(int fd, bool owns_fd, struct err *err)
{
    struct file *file = malloc(sizeof *file);
    if (!file) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    struct stat st;
    off_t first = lseek(fd, 0, SEEK_CUR);
    *file = (struct file){.source = {&file_ops}, .fd = fd, .owns_fd = owns_fd};
    file->regular = first >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    file->first = first >= 0 ? (uint64_t)first : 0;
    file->end = file->regular && st.st_size > 0 ? (uint64_t)st.st_size : 0;
    return &file->source;
}

struct source *source_fd_open(int fd, struct err *err)
{
    return open_fd(fd, false, err);
}

struct source *source_fd_take(int fd, struct err *err)
{
    struct source *source = open_fd(fd, true, err);
    if (!source)
        close(fd);
    return source;
}

struct source *source_file_open(const char *path, struct err *err)
{
    int fd;
    return source_open_path(path, &fd, err) ? source_fd_take(fd, err) : NULL;
}
