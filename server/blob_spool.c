// SPDX-License-Identifier: Apache-2.0
// Writes an uploaded file: reserved, hashed and flushed on the way, named by its content at the
// end.
#include "ingest/base/str.h"
#include "server/blob_dirs.h"
#include "server/hasher.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Written back while more arrives, so that the last flush has little left to do.
#define FLUSH_BYTES ((uint64_t)64 << 20)

struct spool {
    struct blobs *blobs;
    struct hasher *hasher;
    int fd;
    uint64_t bytes, reserved_bytes, flushed_bytes;
    bool is_sealed, is_kept;
    char name[32]; // in the spool folder
    char sha256[BLOB_SHA256_SIZE];
};

// A full disk shows here and not after a gigabyte; a filesystem that cannot reserve is no failure.
static bool reserve(struct spool *spool, uint64_t bytes, struct err *err)
{
    if (bytes == 0 || bytes > INT64_MAX)
        return true;
    if (fallocate(spool->fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes) == 0)
        spool->reserved_bytes = bytes;
    else if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
        return err_set_errno(err, "reserving %llu bytes", (unsigned long long)bytes);
    return true;
}

static bool begin(struct spool *spool, uint64_t expected_bytes, struct err *err)
{
    unsigned char random[12];
    spool->hasher = hasher_new(err);
    if (!spool->hasher)
        return false;
    if (RAND_bytes(random, sizeof random) != 1)
        return err_set(err, ERR_INTERNAL, "cannot make up a file name");
    str_hex(spool->name, random, sizeof random);
    memcpy(spool->name + 2 * sizeof random, ".part", 6);
    spool->fd = openat(spool->blobs->spool_fd, spool->name,
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (spool->fd < 0)
        return err_set_errno(err, "spool file");
    return reserve(spool, expected_bytes, err);
}

struct spool *blob_spool_open(struct blobs *blobs, uint64_t expected_bytes, struct err *err)
{
    struct spool *spool = calloc(1, sizeof *spool);
    if (!spool) {
        err_set(err, ERR_LIMIT, "out of memory");
        return NULL;
    }
    spool->blobs = blobs;
    spool->fd = -1;
    if (begin(spool, expected_bytes, err))
        return spool;
    blob_spool_close(spool);
    return NULL;
}

// Starts writing back the newest stretch and waits for the one before: dirty memory stays bounded.
static void flush_behind(struct spool *spool)
{
    if (spool->bytes - spool->flushed_bytes < FLUSH_BYTES)
        return;
    off_t begin = (off_t)spool->flushed_bytes, size = (off_t)(spool->bytes - spool->flushed_bytes);
    sync_file_range(spool->fd, begin, size, SYNC_FILE_RANGE_WRITE);
    if (spool->flushed_bytes >= FLUSH_BYTES)
        sync_file_range(spool->fd, begin - (off_t)FLUSH_BYTES, (off_t)FLUSH_BYTES,
                        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                            SYNC_FILE_RANGE_WAIT_AFTER);
    spool->flushed_bytes = spool->bytes;
}

static bool write_all(struct spool *spool, const char *at, size_t size, struct err *err)
{
    while (size > 0) {
        ssize_t written = write(spool->fd, at, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return err_set_errno(err, "writing an uploaded file at byte %llu",
                                 (unsigned long long)spool->bytes);
        at += written;
        size -= (size_t)written;
        spool->bytes += (uint64_t)written;
    }
    flush_behind(spool);
    return true;
}

bool blob_spool_write(struct spool *spool, const void *bytes, size_t size, struct err *err)
{
    return hasher_add(spool->hasher, bytes, size, err) && write_all(spool, bytes, size, err);
}

bool blob_spool_seal(struct spool *spool, struct err *err)
{
    if (!hasher_end(spool->hasher, spool->sha256, err))
        return false;
    bool gives_back = spool->reserved_bytes > spool->bytes;
    if ((gives_back && ftruncate(spool->fd, (off_t)spool->bytes) != 0) || fdatasync(spool->fd) != 0)
        return err_set_errno(err, "flushing an uploaded file");
    spool->is_sealed = true;
    return true;
}

uint64_t blob_spool_bytes(const struct spool *spool)
{
    return spool->bytes;
}

const char *blob_spool_sha256(const struct spool *spool)
{
    return spool->sha256;
}

static bool is_there(const struct spool *spool, int shard_fd)
{
    struct stat info;
    return fstatat(shard_fd, spool->sha256, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(info.st_mode) && (uint64_t)info.st_size == spool->bytes;
}

bool blob_spool_keep(struct spool *spool, struct err *err)
{
    if (!spool->is_sealed)
        return err_set(err, ERR_INTERNAL, "an unsealed file cannot be kept");
    int shard_fd = blob_open_shard(spool->blobs->blobs_fd, spool->sha256, err);
    if (shard_fd < 0)
        return false;
    bool ok = true;
    if (!spool->is_kept && !is_there(spool, shard_fd)) {
        spool->is_kept =
            renameat(spool->blobs->spool_fd, spool->name, shard_fd, spool->sha256) == 0;
        ok = spool->is_kept || err_set_errno(err, "naming an uploaded file");
    }
    // Also when it was there: another upload may not have come so far yet.
    if (ok && fsync(shard_fd) != 0)
        ok = err_set_errno(err, "flushing a folder");
    close(shard_fd);
    return ok;
}

void blob_spool_close(struct spool *spool)
{
    if (!spool)
        return;
    if (spool->fd >= 0) {
        close(spool->fd);
        if (!spool->is_kept)
            unlinkat(spool->blobs->spool_fd, spool->name, 0);
    }
    hasher_free(spool->hasher);
    free(spool);
}
