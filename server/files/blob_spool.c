// SPDX-License-Identifier: Apache-2.0
// Writes an uploaded file: reserved, hashed and flushed on the way, named by its content at the
// end.
#include "ingest/base/str.h"
#include "ingest/base/fd_io.h"
#include "ingest/source/source.h"
#include "server/files/blob_dirs.h"
#include "server/files/flush_behind.h"
#include "server/files/hasher.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES ((size_t)256 << 10)

struct spool {
    struct blobs *blobs;
    struct hasher *hasher;
    struct blob_part part;
    uint64_t bytes, reserved_bytes, flushed_bytes;
    uint64_t expected_bytes; // 0 unknown
    bool is_sealed;
    bool is_adopted; // its first name belongs to someone else
    bool is_unkept;  // there is no file
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

// Reserves about as much again as has arrived, in large pieces for large files: a client that
// announces much and sends little takes no space from others. It is not a failure if the filesystem
// cannot reserve.
static bool reserve_ahead(struct spool *spool, size_t size, struct err *err)
{
    uint64_t end = spool->bytes + size;
    if (end <= spool->reserved_bytes || end > spool->expected_bytes)
        return true;
    uint64_t target = blob_reserve_until(end, spool->bytes, spool->expected_bytes);
    off_t from = (off_t)spool->reserved_bytes, more = (off_t)(target - spool->reserved_bytes);
    if (fallocate(spool->part.fd, FALLOC_FL_KEEP_SIZE, from, more) == 0)
        spool->reserved_bytes = target;
    else if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
        return err_set_errno(err, "reserving %lld bytes", (long long)more);
    else
        spool->expected_bytes = 0;
    return true;
}

static bool make_name(struct blob_part *part, struct err *err)
{
    unsigned char random[12];
    if (RAND_bytes(random, sizeof random) != 1)
        return err_set(err, ERR_INTERNAL, "cannot generate a file name");
    str_hex(part->name, random, sizeof random);
    memcpy(part->name + 2 * sizeof random, ".part", 6);
    return true;
}

bool blob_part_open(const struct blobs *blobs, struct blob_part *part, struct err *err)
{
    *part = (struct blob_part){.dir_fd = blobs->spool_fd, .fd = -1};
    if (!make_name(part, err))
        return false;
    part->fd =
        openat(part->dir_fd, part->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (part->fd >= 0)
        return true;
    bool comes_back = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
    err_set_errno(err, "making a file in the folder spool");
    err->code = comes_back ? ERR_BUSY : err->code;
    return false;
}

// Removes the part, whose name is gone already if it was stored.
void blob_part_close(const struct blob_part *part)
{
    if (part->fd < 0)
        return;
    close(part->fd);
    unlinkat(part->dir_fd, part->name, 0);
}

bool blob_keep_trace(const struct blobs *blobs, const char *trace_id, const struct blob_part *part,
                     struct err *err)
{
    return blob_store_put(blobs->store, (struct blob_key){BLOB_TRACE, trace_id}, part, err);
}

int blob_scratch(const struct blobs *blobs, struct err *err)
{
    struct blob_part part;
    if (!blob_part_open(blobs, &part, err))
        return -1;
    unlinkat(part.dir_fd, part.name, 0);
    return part.fd;
}

static bool begin(struct spool *spool, uint64_t expected_bytes, struct err *err)
{
    spool->hasher = hasher_new(err);
    spool->expected_bytes = expected_bytes;
    return spool->hasher && blob_part_open(spool->blobs, &spool->part, err) &&
           check_free(spool, expected_bytes, err);
}

struct spool *blob_spool_open(struct blobs *blobs, uint64_t expected_bytes, struct err *err)
{
    struct spool *spool = calloc(1, sizeof *spool);
    if (!spool) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    spool->blobs = blobs;
    spool->part.fd = -1;
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
    *spool = (struct spool){.blobs = blobs, .part.fd = -1, .is_unkept = true};
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
    if (!fd_write(spool->part.fd, at, size))
        return err_set_errno(err, "writing an uploaded file at byte %llu",
                             (unsigned long long)spool->bytes);
    spool->bytes += size;
    flush_behind(spool->part.fd, spool->bytes, &spool->flushed_bytes);
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
    if (gives_back && ftruncate(spool->part.fd, (off_t)spool->bytes) != 0)
        return err_set_errno(err, "ending an uploaded file");
    spool->is_sealed =
        disk_fault_flush_file(&spool->blobs->fault, spool->part.fd, "an uploaded file", err);
    return spool->is_sealed;
}

struct source *blob_spool_read(const struct spool *spool, struct err *err)
{
    assert(spool->is_sealed && !spool->is_unkept);
    if (lseek(spool->part.fd, 0, SEEK_SET) == 0)
        return source_fd_open(spool->part.fd, err);
    err_set_errno(err, "reading an uploaded file");
    return NULL;
}

// --- a file that is complete --------------------------------------------------------------------

static bool hash_file(struct spool *spool, char *block, struct err *err)
{
    for (;;) {
        ssize_t got = fd_read(spool->part.fd, block, READ_BYTES);
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
    spool->part.fd =
        openat(spool->part.dir_fd, spool->part.name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (spool->part.fd < 0)
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
    if (!spool || strlen(name) >= sizeof spool->part.name) {
        free(spool);
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    *spool =
        (struct spool){.blobs = blobs, .part = {.dir_fd = dir_fd, .fd = -1}, .is_adopted = true};
    memcpy(spool->part.name, name, strlen(name) + 1);
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

// Someone still needs an adopted file's name, so a second one is stored.
static bool put_second_name(const struct spool *spool, struct blob_key key, struct err *err)
{
    struct blob_part part = spool->part;
    part.dir_fd = spool->blobs->spool_fd;
    bool ok = linkat(spool->part.dir_fd, part.name, part.dir_fd, part.name, 0) == 0
                  ? blob_store_put(spool->blobs->store, key, &part, err)
                  : err_set_errno(err, "naming an uploaded file");
    unlinkat(part.dir_fd, part.name, 0); // remains if both names existed, from before a crash
    return ok;
}

bool blob_spool_keep(struct spool *spool, struct err *err)
{
    struct blob_key key = {BLOB_UPLOAD, spool->sha256};
    if (!spool->is_sealed)
        return err_set(err, ERR_INTERNAL, "an unsealed file cannot be kept");
    return spool->is_adopted ? put_second_name(spool, key, err)
                             : blob_store_put(spool->blobs->store, key, &spool->part, err);
}

bool blob_spool_keep_again(struct spool *spool, struct err *err)
{
    struct blob_key key = {BLOB_UPLOAD, spool->sha256};
    uint64_t bytes;
    return blob_store_size(spool->blobs->store, key, &bytes, err) ||
           (err->code == ERR_NOT_FOUND && blob_spool_keep(spool, err));
}

void blob_spool_close(struct spool *spool)
{
    if (!spool)
        return;
    if (!spool->is_adopted)
        blob_part_close(&spool->part);
    else if (spool->part.fd >= 0)
        close(spool->part.fd);
    hasher_free(spool->hasher);
    free(spool);
}
