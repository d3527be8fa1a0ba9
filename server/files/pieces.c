// SPDX-License-Identifier: Apache-2.0
// Files of resumable uploads. What a row says was flushed is trusted; anything after that counts as
// far as its checksums agree.
#include "server/files/pieces.h"

#include "ingest/base/fd_io.h"
#include "ingest/base/hash.h"
#include "ingest/base/log.h"
#include "ingest/base/str.h"
#include "server/files/flush_behind.h"
#include "server/files/pieces_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// One block received since the last flush, as stored in the file of checksums.
struct sum {
    uint64_t bytes;
    uint64_t hash; // of its content and offset
};

bool pieces_name(const char *id, const char *suffix, char name[PIECES_NAME_SIZE], struct err *err)
{
    int len = snprintf(name, PIECES_NAME_SIZE, "%s%s", id, suffix);
    return (len > 0 && len < PIECES_NAME_SIZE && !strchr(id, '/')) ||
           err_set(err, ERR_NOT_FOUND, "no such resumable upload");
}

// The offset is included: a block written elsewhere proves nothing here.
static uint64_t hash_block(uint64_t offset, const void *bytes, size_t size)
{
    return hash_mix(hash_bytes(bytes, size), hash_u64(offset));
}

static int open_file(const struct blobs *blobs, const char *name, int flags)
{
    return openat(blobs->pieces_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
}

bool pieces_create(struct blobs *blobs, const char *id, struct err *err)
{
    char name[PIECES_NAME_SIZE];
    if (!pieces_name(id, PIECES_PART, name, err))
        return false;
    int fd = open_file(blobs, name, O_CREAT | O_EXCL);
    if (fd < 0)
        return err_set_errno(err, "file of a resumable upload");
    close(fd);
    bool ok = disk_fault_flush_folder(&blobs->fault, blobs->pieces_fd, err);
    if (!ok)
        unlinkat(blobs->pieces_fd, name, 0);
    return ok;
}

// --- what survived ------------------------------------------------------------------------------

// Whether the block at the end of the valid bytes is as it was sent.
static bool block_counts(struct pieces *pieces, char *block, uint64_t size_bytes)
{
    struct sum sum;
    off_t at = (off_t)(pieces->sums * sizeof sum);
    if (pread(pieces->sums_fd, &sum, sizeof sum, at) != (ssize_t)sizeof sum || sum.bytes == 0 ||
        sum.bytes > PIECES_BLOCK_BYTES || sum.bytes > size_bytes - pieces->offset)
        return false;
    ssize_t got = pread(pieces->fd, block, (size_t)sum.bytes, (off_t)pieces->offset);
    if (got != (ssize_t)sum.bytes ||
        hash_block(pieces->offset, block, (size_t)sum.bytes) != sum.hash)
        return false;
    pieces->offset += sum.bytes;
    pieces->sums++;
    return true;
}

static bool find_own_end(struct pieces *pieces, uint64_t flushed, struct err *err)
{
    struct stat info;
    if (fstat(pieces->fd, &info) != 0)
        return err_set_errno(err, "file of a resumable upload");
    uint64_t size = (uint64_t)info.st_size;
    pieces->offset = flushed < size ? flushed : size;
    if (size > pieces->offset) {
        char *block = malloc(PIECES_BLOCK_BYTES);
        if (!block)
            return err_set(err, ERR_MEMORY, "out of memory for an upload");
        while (block_counts(pieces, block, size))
            ;
        free(block);
    }
    pieces->begun = pieces->opened_at = pieces->offset;
    if (ftruncate(pieces->sums_fd, (off_t)(pieces->sums * sizeof(struct sum))) != 0)
        return err_set_errno(err, "checksums of a resumable upload");
    return size == pieces->offset || pieces_rewind(pieces, pieces->offset, err);
}

bool pieces_find_end(struct pieces *pieces, uint64_t flushed, struct err *err)
{
    if (!pieces->blobs->node[0])
        return find_own_end(pieces, flushed, err);
    return pieces_bring(pieces, flushed, err) && find_own_end(pieces, pieces->shared, err);
}

// --- open and close -----------------------------------------------------------------------------

static bool open_files(struct pieces *pieces, const char *id, struct err *err)
{
    char sums[PIECES_NAME_SIZE];
    if (!pieces_name(id, PIECES_PART, pieces->name, err) ||
        !pieces_name(id, PIECES_SUMS, sums, err))
        return false;
    pieces->fd = open_file(pieces->blobs, pieces->name, pieces->blobs->node[0] ? O_CREAT : 0);
    if (pieces->fd < 0 && errno == ENOENT)
        return err_set(err, ERR_NOT_FOUND, "the bytes of this upload are missing");
    if (pieces->fd < 0)
        return err_set_errno(err, "file of a resumable upload");
    if (flock(pieces->fd, LOCK_EX | LOCK_NB) != 0)
        return err_set(err, ERR_BUSY, "another request is sending a piece of this upload");
    pieces->sums_fd = open_file(pieces->blobs, sums, O_CREAT);
    return pieces->sums_fd >= 0 || err_set_errno(err, "checksums of a resumable upload");
}

struct pieces *pieces_open(struct blobs *blobs, const char *id, uint64_t bytes, struct err *err)
{
    struct pieces *pieces = calloc(1, sizeof *pieces);
    if (!pieces) {
        err_set(err, ERR_MEMORY, "out of memory for an upload");
        return NULL;
    }
    pieces->blobs = blobs;
    snprintf(pieces->id, sizeof pieces->id, "%s", id);
    pieces->bytes = bytes;
    pieces->fd = pieces->sums_fd = -1;
    if (open_files(pieces, id, err))
        return pieces;
    pieces_close(pieces);
    return NULL;
}

// Truncating a file, even to its current size, releases space reserved after the end.
static void give_back(struct pieces *pieces)
{
    if (pieces->reserved > pieces->offset && ftruncate(pieces->fd, (off_t)pieces->offset) != 0)
        log_warn("space that was reserved for an upload is not given back");
}

void pieces_close(struct pieces *pieces)
{
    if (!pieces)
        return;
    if (pieces->fd >= 0) {
        give_back(pieces);
        flock(pieces->fd, LOCK_UN); // a job process that is just starting has the file open, too
        close(pieces->fd);
    }
    if (pieces->sums_fd >= 0)
        close(pieces->sums_fd);
    free(pieces);
}

uint64_t pieces_offset(const struct pieces *pieces)
{
    return pieces->offset;
}

// --- writing ------------------------------------------------------------------------------------

// It is not a failure if the filesystem cannot reserve.
static bool reserve_ahead(struct pieces *pieces, size_t size, struct err *err)
{
    uint64_t end = pieces->offset + size, came = pieces->offset - pieces->opened_at;
    if (end <= pieces->reserved)
        return true;
    uint64_t from = pieces->reserved > pieces->offset ? pieces->reserved : pieces->offset;
    uint64_t target = blob_reserve_until(end, came, pieces->bytes);
    if (fallocate(pieces->fd, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)(target - from)) == 0)
        pieces->reserved = target;
    else if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
        return err_set_errno(err, "reserving %llu bytes", (unsigned long long)(target - from));
    else
        pieces->reserved = pieces->bytes;
    return true;
}

static bool write_sum(struct pieces *pieces, const void *bytes, size_t size)
{
    struct sum sum = {size, hash_block(pieces->offset, bytes, size)};
    if (!fd_write_at(pieces->sums_fd, &sum, sizeof sum, pieces->sums * sizeof sum))
        return false;
    pieces->sums++;
    return true;
}

bool pieces_write(struct pieces *pieces, const void *bytes, size_t size, bool checked,
                  struct err *err)
{
    if (pieces->has_rubbish || size > PIECES_BLOCK_BYTES || size > pieces->bytes - pieces->offset)
        return err_set(err, ERR_INTERNAL, "a block does not fit its upload");
    if (!reserve_ahead(pieces, size, err))
        return false;
    if (!fd_write_at(pieces->fd, bytes, size, pieces->offset) ||
        (checked && !write_sum(pieces, bytes, size))) {
        err_set_errno(err, "writing an uploaded file at byte %llu",
                      (unsigned long long)pieces->offset);
        if (!pieces_rewind(pieces, pieces->offset, NULL))
            pieces->has_rubbish = true;
        return false;
    }
    pieces->offset += size;
    flush_behind(pieces->fd, pieces->offset, &pieces->begun);
    return true;
}

bool pieces_flush(struct pieces *pieces, struct err *err)
{
    return disk_fault_flush_file(&pieces->blobs->fault, pieces->fd, "an uploaded file", err);
}

bool pieces_rewind(struct pieces *pieces, uint64_t offset, struct err *err)
{
    if (ftruncate(pieces->fd, (off_t)offset) != 0)
        return err_set_errno(err, "cutting an uploaded file");
    pieces->offset = offset;
    if (pieces->begun > offset)
        pieces->begun = offset;
    return true;
}

// --- reading ------------------------------------------------------------------------------------

bool pieces_read_head(const struct pieces *pieces, char *bytes, size_t cap, size_t *got,
                      struct err *err)
{
    ssize_t count = pread(pieces->fd, bytes, cap, 0);
    *got = count > 0 ? (size_t)count : 0;
    return count >= 0 || err_set_errno(err, "reading an uploaded file");
}

struct spool *pieces_seal(const struct pieces *pieces, struct err *err)
{
    if (pieces->offset != pieces->bytes) {
        err_set(err, ERR_INTERNAL, "a resumable upload is not complete");
        return NULL;
    }
    return blob_spool_adopt(pieces->blobs, pieces->blobs->pieces_fd, pieces->name, err);
}

// --- files --------------------------------------------------------------------------------------

static bool remove_file(struct blobs *blobs, const char *id, const char *suffix, struct err *err)
{
    char name[PIECES_NAME_SIZE];
    return pieces_name(id, suffix, name, err) &&
           (unlinkat(blobs->pieces_fd, name, 0) == 0 || errno == ENOENT ||
            err_set_errno(err, "removing %s", name));
}

static bool remove_files(struct blobs *blobs, const char *id, struct err *err)
{
    return remove_file(blobs, id, PIECES_HAVE, err) && remove_file(blobs, id, PIECES_SUMS, err) &&
           remove_file(blobs, id, PIECES_PART, err);
}

bool pieces_remove(struct blobs *blobs, const char *id, struct err *err)
{
    return remove_files(blobs, id, err) &&
           (!blobs->node[0] || pieces_remove_shared(blobs, id, err));
}

bool pieces_remove_open(const struct pieces *pieces, struct err *err)
{
    return remove_files(pieces->blobs, pieces->id, err) &&
           (pieces->shared == 0 || pieces_remove_shared(pieces->blobs, pieces->id, err));
}

static bool visit_entry(const struct pieces_visitor *visitor, const char *name, struct err *err)
{
    char id[PIECES_NAME_SIZE];
    size_t len = strcspn(name, ".");
    bool known = strcmp(name + len, PIECES_PART) == 0 || strcmp(name + len, PIECES_SUMS) == 0 ||
                 strcmp(name + len, PIECES_HAVE) == 0;
    if (!known || len == 0 || len >= sizeof id)
        return true;
    memcpy(id, name, len);
    id[len] = '\0';
    return visitor->visit(visitor->ctx, id, err);
}

bool pieces_each(const struct blobs *blobs, const struct pieces_visitor *visitor, struct err *err)
{
    int fd = openat(blobs->pieces_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        err_set_errno(err, "folder pieces");
        if (fd >= 0)
            close(fd);
        return false;
    }
    bool ok = true;
    for (struct dirent *entry; ok && (entry = readdir(dir));)
        ok = visit_entry(visitor, entry->d_name, err);
    closedir(dir);
    return ok;
}
