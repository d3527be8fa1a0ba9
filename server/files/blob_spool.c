// SPDX-License-Identifier: Apache-2.0
// Writes an uploaded file: reserved, hashed and flushed on the way, named by its content at the
// end.
#include "ingest/base/str.h"
#include "server/files/blob_dirs.h"
#include "server/files/flush_behind.h"
#include "server/files/hasher.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SPOOL_NAME_SIZE = 32 };

#define READ_BYTES ((size_t)256 << 10)

struct spool {
    struct blobs *blobs;
    struct hasher *hasher;
    int dir_fd, fd; // of its folder and of itself
    uint64_t bytes, reserved_bytes, flushed_bytes;
    uint64_t expected_bytes; // 0 unknown
    bool is_sealed, is_kept;
    bool is_adopted;            // its first name belongs to someone else
    bool is_unkept;             // there is no file
    char name[SPOOL_NAME_SIZE]; // in the spool folder
    char sha256[BLOB_SHA256_SIZE];
};

// Uploads announced as larger than the free space are refused before they arrive.
static bool check_free(const struct spool *spool, uint64_t bytes, struct err *err)
{
    uint64_t free_bytes = 0;
    return blob_free_bytes(spool->blobs, &free_bytes, err) &&
           (bytes <= free_bytes ||
            err_set(err, ERR_SPACE, "found %llu bytes free, expected %llu for the upload",
                    (unsigned long long)free_bytes, (unsigned long long)bytes));
}

// Reserves about as much again as has arrived, in large pieces for large files: announcing much and
// sending little keeps nobody else out. It is not a failure if the filesystem cannot reserve.
static bool reserve_ahead(struct spool *spool, size_t size, struct err *err)
{
    uint64_t end = spool->bytes + size;
    if (end <= spool->reserved_bytes || end > spool->expected_bytes)
        return true;
    uint64_t target = blob_reserve_until(end, spool->bytes, spool->expected_bytes);
    off_t from = (off_t)spool->reserved_bytes, more = (off_t)(target - spool->reserved_bytes);
    if (fallocate(spool->fd, FALLOC_FL_KEEP_SIZE, from, more) == 0)
        spool->reserved_bytes = target;
    else if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
        return err_set_errno(err, "reserving %lld bytes", (long long)more);
    else
        spool->expected_bytes = 0;
    return true;
}

static bool make_name(char name[SPOOL_NAME_SIZE], struct err *err)
{
    unsigned char random[12];
    if (RAND_bytes(random, sizeof random) != 1)
        return err_set(err, ERR_INTERNAL, "cannot make up a file name");
    str_hex(name, random, sizeof random);
    memcpy(name + 2 * sizeof random, ".part", 6);
    return true;
}

int blob_scratch(const struct blobs *blobs, struct err *err)
{
    char name[SPOOL_NAME_SIZE];
    if (!make_name(name, err))
        return -1;
    int fd =
        openat(blobs->spool_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        bool comes_back = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
        err_set_errno(err, "making a file for tables");
        err->code = comes_back ? ERR_BUSY : err->code;
    } else {
        unlinkat(blobs->spool_fd, name, 0);
    }
    return fd;
}

static bool begin(struct spool *spool, uint64_t expected_bytes, struct err *err)
{
    spool->hasher = hasher_new(err);
    if (!spool->hasher || !make_name(spool->name, err))
        return false;
    spool->dir_fd = spool->blobs->spool_fd;
    spool->fd = openat(spool->dir_fd, spool->name,
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (spool->fd < 0)
        return err_set_errno(err, "spool file");
    spool->expected_bytes = expected_bytes;
    return check_free(spool, expected_bytes, err);
}

struct spool *blob_spool_open(struct blobs *blobs, uint64_t expected_bytes, struct err *err)
{
    struct spool *spool = calloc(1, sizeof *spool);
    if (!spool) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    spool->blobs = blobs;
    spool->fd = -1;
    if (blob_check_writable(blobs, err) && begin(spool, expected_bytes, err))
        return spool;
    blob_spool_close(spool);
    return NULL;
}

struct spool *blob_spool_open_unkept(struct blobs *blobs, struct err *err)
{
    struct spool *spool = calloc(1, sizeof *spool);
    if (!spool) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    *spool = (struct spool){.blobs = blobs, .fd = -1, .is_unkept = true};
    spool->hasher = hasher_new(err);
    if (spool->hasher)
        return spool;
    blob_spool_close(spool);
    return NULL;
}

static bool write_all(struct spool *spool, const char *at, size_t size, struct err *err)
{
    if (spool->is_unkept) {
        spool->bytes += size;
        return true;
    }
    if (!reserve_ahead(spool, size, err))
        return false;
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
    flush_behind(spool->fd, spool->bytes, &spool->flushed_bytes);
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
    if (spool->is_unkept)
        return true;
    bool gives_back = spool->reserved_bytes > spool->bytes;
    if (gives_back && ftruncate(spool->fd, (off_t)spool->bytes) != 0)
        return err_set_errno(err, "ending an uploaded file");
    spool->is_sealed =
        disk_fault_flush_file(&spool->blobs->fault, spool->fd, "an uploaded file", err);
    return spool->is_sealed;
}

// --- a file that is complete --------------------------------------------------------------------

static bool hash_file(struct spool *spool, char *block, struct err *err)
{
    for (;;) {
        ssize_t got = read(spool->fd, block, READ_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set_errno(err, "reading an uploaded file");
        if (got == 0)
            return true;
        spool->bytes += (uint64_t)got;
        if (!hasher_add(spool->hasher, block, (size_t)got, err))
            return false;
    }
}

static bool adopt(struct spool *spool, struct err *err)
{
    spool->fd = openat(spool->dir_fd, spool->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (spool->fd < 0)
        return err_set_errno(err, "uploaded file");
    spool->hasher = hasher_new(err);
    char *block = spool->hasher ? malloc(READ_BYTES) : NULL;
    bool ok = block && hash_file(spool, block, err);
    if (spool->hasher && !block)
        err_set(err, ERR_MEMORY, "out of memory");
    free(block);
    return ok && blob_spool_seal(spool, err);
}

struct spool *blob_spool_adopt(struct blobs *blobs, int dir_fd, const char *name, struct err *err)
{
    struct spool *spool = calloc(1, sizeof *spool);
    if (!spool || strlen(name) >= sizeof spool->name) {
        free(spool);
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    *spool = (struct spool){.blobs = blobs, .dir_fd = dir_fd, .fd = -1, .is_adopted = true};
    memcpy(spool->name, name, strlen(name) + 1);
    if (adopt(spool, err))
        return spool;
    blob_spool_close(spool);
    return NULL;
}

// --- keeping ------------------------------------------------------------------------------------

uint64_t blob_spool_bytes(const struct spool *spool)
{
    return spool->bytes;
}

const char *blob_spool_sha256(const struct spool *spool)
{
    return spool->sha256;
}

// Someone still needs an adopted file's name, so it gets a second one.
static bool give_second_name(const struct spool *spool, int shard_fd, struct err *err)
{
    int spool_fd = spool->blobs->spool_fd;
    bool ok = linkat(spool->dir_fd, spool->name, spool_fd, spool->name, 0) == 0 &&
              renameat(spool_fd, spool->name, shard_fd, spool->sha256) == 0;
    if (!ok)
        err_set_errno(err, "naming an uploaded file");
    unlinkat(spool_fd, spool->name, 0); // remains if both names existed, from before a crash
    return ok;
}

// Even if the name exists: the older bytes may have been damaged since.
static bool give_name(const struct spool *spool, int shard_fd, struct err *err)
{
    if (spool->is_adopted)
        return give_second_name(spool, shard_fd, err);
    return renameat(spool->dir_fd, spool->name, shard_fd, spool->sha256) == 0 ||
           err_set_errno(err, "naming an uploaded file");
}

bool blob_spool_keep(struct spool *spool, struct err *err)
{
    if (!spool->is_sealed)
        return err_set(err, ERR_INTERNAL, "an unsealed file cannot be kept");
    int shard_fd = blob_open_shard(spool->blobs, spool->sha256, err);
    if (shard_fd < 0)
        return false;
    if (!spool->is_kept)
        spool->is_kept = give_name(spool, shard_fd, err);
    bool ok =
        spool->is_kept && disk_fault_flush_folder(&spool->blobs->fault, shard_fd, "a folder", err);
    close(shard_fd);
    return ok;
}

void blob_spool_close(struct spool *spool)
{
    if (!spool)
        return;
    if (spool->fd >= 0) {
        close(spool->fd);
        if (!spool->is_kept && !spool->is_adopted)
            unlinkat(spool->dir_fd, spool->name, 0);
    }
    hasher_free(spool->hasher);
    free(spool);
}
