// SPDX-License-Identifier: Apache-2.0
// The lock is held to look a file up, never while one is written.
#include "server/exports/export_spool.h"

#include "server/base/cond.h"

#include "ingest/base/clock.h"
#include "ingest/base/fd_io.h"
#include "ingest/base/scratch.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define SECOND_NS ((int64_t)1000000000)
#define IDLE_NS   (600 * SECOND_NS)
#define MOST_NS   (50 * SECOND_NS) // to write one: clients and proxies wait for a minute
enum { MOST_FILES = 16, MOST_KEY = 200, MOST_WAITING = 8 };

struct spool_file {
    char key[MOST_KEY];     // "" none
    struct scratch scratch; // fd -1: it is too large, or takes too long
    uint64_t bytes;
    int64_t used_ns;
};

struct export_spool {
    pthread_mutex_t lock; // guards all but the file that is written
    pthread_cond_t changed;
    uint64_t most_bytes, min_free_bytes;
    uint64_t bytes; // of the files, not of the one that is written
    unsigned waiting;
    bool writing;
    struct spool_file files[MOST_FILES];
};

struct export_spool *export_spool_open(uint64_t most_bytes, uint64_t min_free_bytes,
                                       struct err *err)
{
    struct export_spool *spool = calloc(1, sizeof *spool);
    if (!spool) {
        err_set(err, ERR_MEMORY, "out of memory for exports");
        return NULL;
    }
    cond_init(&spool->changed);
    pthread_mutex_init(&spool->lock, NULL);
    spool->most_bytes = most_bytes;
    spool->min_free_bytes = min_free_bytes;
    return spool;
}

static void drop(struct export_spool *spool, struct spool_file *file)
{
    scratch_close(file->scratch); // readers have it open themselves
    spool->bytes -= file->bytes;
    *file = (struct spool_file){.key = ""};
}

void export_spool_close(struct export_spool *spool)
{
    if (!spool)
        return;
    for (size_t i = 0; i < MOST_FILES; i++)
        if (spool->files[i].key[0])
            drop(spool, &spool->files[i]);
    pthread_cond_destroy(&spool->changed);
    pthread_mutex_destroy(&spool->lock);
    free(spool);
}

void export_spool_expire(struct export_spool *spool)
{
    if (!spool)
        return;
    pthread_mutex_lock(&spool->lock);
    int64_t now_ns = clock_mono_ns();
    for (size_t i = 0; i < MOST_FILES; i++)
        if (spool->files[i].key[0] && now_ns - spool->files[i].used_ns > IDLE_NS)
            drop(spool, &spool->files[i]);
    pthread_mutex_unlock(&spool->lock);
}

// --- files that are there -----------------------------------------------------------------------

static struct spool_file *find(struct export_spool *spool, struct str key)
{
    for (size_t i = 0; i < MOST_FILES; i++)
        if (spool->files[i].key[0] && str_equal(key, str_of(spool->files[i].key)))
            return &spool->files[i];
    return NULL;
}

// NULL is allowed. One that could not be written is tried again after a while.
static struct spooled use(struct spool_file *file)
{
    if (!file || file->scratch.fd < 0)
        return (struct spooled){.fd = -1};
    file->used_ns = clock_mono_ns();
    return (struct spooled){fd_reopen(file->scratch.fd), file->bytes};
}

struct spooled export_spool_find(struct export_spool *spool, struct str key)
{
    if (!spool)
        return (struct spooled){.fd = -1};
    pthread_mutex_lock(&spool->lock);
    struct spooled found = use(find(spool, key));
    pthread_mutex_unlock(&spool->lock);
    return found;
}

static struct spool_file *oldest(struct export_spool *spool)
{
    struct spool_file *file = NULL;
    for (size_t i = 0; i < MOST_FILES; i++)
        if (spool->files[i].key[0] && (!file || spool->files[i].used_ns < file->used_ns))
            file = &spool->files[i];
    return file;
}

// Whether there is room for a file of that size, at the cost of those least recently used.
static bool make_room(struct export_spool *spool, uint64_t bytes)
{
    pthread_mutex_lock(&spool->lock);
    for (struct spool_file *file; spool->bytes + bytes > spool->most_bytes; drop(spool, file))
        if (!(file = oldest(spool)))
            break;
    bool fits = spool->bytes + bytes <= spool->most_bytes;
    pthread_mutex_unlock(&spool->lock);
    return fits;
}

static void keep(struct export_spool *spool, struct str key, struct scratch scratch, uint64_t bytes)
{
    size_t at = 0;
    pthread_mutex_lock(&spool->lock);
    while (at < MOST_FILES && spool->files[at].key[0])
        at++;
    if (at == MOST_FILES) {
        struct spool_file *file = oldest(spool);
        at = (size_t)(file - spool->files);
        drop(spool, file);
    }
    struct spool_file *file = &spool->files[at];
    *file = (struct spool_file){.scratch = scratch, .bytes = bytes, .used_ns = clock_mono_ns()};
    snprintf(file->key, sizeof file->key, "%.*s", (int)key.len, key.at);
    spool->bytes += bytes;
    pthread_mutex_unlock(&spool->lock);
}

// --- writing ------------------------------------------------------------------------------------

static bool has_free(const struct export_spool *spool, int fd, uint64_t bytes)
{
    struct statvfs disk;
    return fstatvfs(fd, &disk) == 0 &&
           (uint64_t)disk.f_bavail * disk.f_frsize >= spool->min_free_bytes + bytes;
}

enum written { WRITTEN, GIVEN_UP, TOO_MUCH };

static enum written write_piece(struct export_spool *spool, const struct spool_source *source,
                                int fd, struct str piece, uint64_t bytes)
{
    if (source->is_wanted && !source->is_wanted(source->context))
        return GIVEN_UP;
    if (!make_room(spool, bytes))
        return TOO_MUCH;
    return has_free(spool, fd, piece.len) && fd_write(fd, piece.at, piece.len) ? WRITTEN : GIVEN_UP;
}

// A failure is the source's.
static bool write_all(struct export_spool *spool, const struct spool_source *source, int fd,
                      uint64_t *bytes, enum written *written, struct err *err)
{
    struct buf piece = {0};
    bool more = true, ok = true;
    int64_t end_ns = clock_mono_ns() + MOST_NS;
    *written = WRITTEN;
    while (ok && more && *written == WRITTEN) {
        buf_clear(&piece);
        ok = source->next(source->context, &piece, &more, err) && buf_ok(&piece, err);
        *bytes += piece.len;
        if (ok && clock_mono_ns() >= end_ns)
            *written = TOO_MUCH;
        else if (ok)
            *written = write_piece(spool, source, fd, (struct str){piece.at, piece.len}, *bytes);
    }
    buf_free(&piece);
    return ok;
}

static bool write_file(struct export_spool *spool, const struct spool_source *source,
                       struct spooled *found, struct err *err)
{
    struct scratch scratch = scratch_open();
    enum written written = GIVEN_UP;
    *found = (struct spooled){.fd = -1};
    if (scratch.fd >= 0 && !write_all(spool, source, scratch.fd, &found->bytes, &written, err)) {
        scratch_close(scratch);
        return false;
    }
    if (written == WRITTEN)
        found->fd = fd_reopen(scratch.fd);
    if (found->fd >= 0) {
        keep(spool, source->key, scratch, found->bytes);
        return true;
    }
    scratch_close(scratch);
    if (written == TOO_MUCH)
        keep(spool, source->key, (struct scratch){.fd = -1}, 0);
    return true;
}

// Waits until nobody writes. *writes: it is to be written now. False without a turn.
static bool begin(struct export_spool *spool, struct str key, struct spooled *found, bool *writes)
{
    int64_t end_ns = clock_mono_ns() + MOST_NS;
    pthread_mutex_lock(&spool->lock);
    bool may_wait = spool->waiting < MOST_WAITING;
    spool->waiting++;
    while (spool->writing && may_wait && !find(spool, key))
        may_wait = cond_wait_until(&spool->changed, &spool->lock, end_ns);
    spool->waiting--;
    struct spool_file *file = find(spool, key);
    *found = use(file);
    *writes = !file && !spool->writing;
    spool->writing |= *writes;
    pthread_mutex_unlock(&spool->lock);
    return file || *writes;
}

bool export_spool_write(struct export_spool *spool, const struct spool_source *source,
                        struct spooled *found, struct err *err)
{
    bool writes = false;
    *found = (struct spooled){.fd = -1};
    if (source->key.len == 0 || source->key.len >= MOST_KEY)
        return true;
    if (!begin(spool, source->key, found, &writes))
        return err_set(err, ERR_BUSY, "other exports are being written");
    if (!writes)
        return true;
    bool ok = write_file(spool, source, found, err);
    pthread_mutex_lock(&spool->lock);
    spool->writing = false;
    pthread_cond_broadcast(&spool->changed);
    pthread_mutex_unlock(&spool->lock);
    return ok;
}
