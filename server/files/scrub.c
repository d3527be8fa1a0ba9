// SPDX-License-Identifier: Apache-2.0
// Hashes a stored file at a gentle rate, and leaves none of it in the page cache.
#include "server/files/scrub.h"

#include "server/files/hasher.h"

#include "ingest/base/fd_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_BYTES ((size_t)1 << 20)

struct reading {
    int fd;
    const struct scrub_pace *pace;
    struct hasher *hasher;
    char *block;
    uint64_t bytes; // so far
    char *damage;
};

static bool rest(const struct reading *reading, size_t bytes, struct err *err)
{
    const struct scrub_pace *pace = reading->pace;
    if (!pace->wait)
        return true;
    int64_t ns = 0;
    if (pace->bytes_per_s) {
        posix_fadvise(reading->fd, (off_t)reading->bytes, (off_t)bytes, POSIX_FADV_DONTNEED);
        ns = (int64_t)((double)bytes * 1e9 / (double)pace->bytes_per_s);
    }
    return pace->wait(pace->context, ns) || err_set(err, ERR_CANCELLED, "stopped");
}

// A file that cannot be read any more is damaged; the check itself has not failed.
static bool read_all(struct reading *reading, struct err *err)
{
    for (;;) {
        ssize_t got = fd_read(reading->fd, reading->block, BLOCK_BYTES);
        if (got < 0) {
            snprintf(reading->damage, STORE_DAMAGE_SIZE, "cannot be read at byte %llu: %s",
                     (unsigned long long)reading->bytes, strerrorname_np(errno));
            return true;
        }
        if (got == 0)
            return true;
        if (!hasher_add(reading->hasher, reading->block, (size_t)got, err) ||
            !rest(reading, (size_t)got, err))
            return false;
        reading->bytes += (uint64_t)got;
    }
}

static bool compare(struct reading *reading, const struct store_blob *blob, struct err *err)
{
    char sha256[HASHER_TEXT_SIZE];
    if (!read_all(reading, err) || !hasher_end(reading->hasher, sha256, err))
        return false;
    if (!reading->damage[0] && strcmp(sha256, blob->sha256) != 0)
        snprintf(reading->damage, STORE_DAMAGE_SIZE, "differs from the uploaded bytes");
    return true;
}

// Checks that need no reading.
static bool look(struct blob_store *files, const struct store_blob *blob, struct reading *reading,
                 struct err *err)
{
    uint64_t bytes;
    struct err why;
    struct blob_key key = {BLOB_UPLOAD, blob->sha256};
    char *damage = reading->damage;
    if (!(reading->pace->past_cache ? blob_store_read_past_cache
                                    : blob_store_read)(files, key, &reading->fd, &bytes, &why)) {
        if (why.code == ERR_BUSY)
            return err_set(err, ERR_BUSY, "a stored file cannot be opened now: %.150s", why.msg);
        snprintf(damage, STORE_DAMAGE_SIZE, "%s%.150s",
                 why.code == ERR_NOT_FOUND ? "is missing" : "cannot be opened: ",
                 why.code == ERR_NOT_FOUND ? "" : why.msg);
    } else if (bytes != (uint64_t)blob->bytes) {
        snprintf(damage, STORE_DAMAGE_SIZE, "has %llu bytes, %lld were uploaded",
                 (unsigned long long)bytes, (long long)blob->bytes);
    }
    return true;
}

// Drops the file from the page cache, so that what was just written is read from the disk, too.
static void pass_cache(const struct reading *reading)
{
    if (fdatasync(reading->fd) != 0 && errno == EIO)
        snprintf(reading->damage, STORE_DAMAGE_SIZE, "cannot be written to the disk");
    posix_fadvise(reading->fd, 0, 0, POSIX_FADV_DONTNEED);
}

static bool read_and_compare(struct reading *reading, const struct store_blob *blob,
                             struct err *err)
{
    if (reading->pace->past_cache)
        pass_cache(reading);
    reading->hasher = hasher_new(err);
    reading->block = malloc(BLOCK_BYTES);
    bool ok = reading->hasher && (reading->block || err_set(err, ERR_MEMORY, "out of memory")) &&
              compare(reading, blob, err);
    hasher_free(reading->hasher);
    free(reading->block);
    return ok;
}

bool scrub_file(struct blob_store *files, const struct store_blob *blob,
                const struct scrub_pace *pace, char damage[STORE_DAMAGE_SIZE], struct err *err)
{
    damage[0] = '\0';
    struct reading reading = {.fd = -1, .pace = pace, .damage = damage};
    bool ok =
        look(files, blob, &reading, err) && (damage[0] || read_and_compare(&reading, blob, err));
    if (reading.fd >= 0)
        close(reading.fd);
    return ok;
}
