// SPDX-License-Identifier: Apache-2.0
// The folders of the data directory, and who may remove files when.
#include "server/files/blob_dirs.h"

#include "ingest/base/buf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PART_SUFFIX ".part"

#define RESERVE_LEAST_BYTES ((uint64_t)256 << 10)
#define RESERVE_MOST_BYTES  ((uint64_t)64 << 20)
enum { OPEN_DIR = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW };

// --- opening ------------------------------------------------------------------------------------

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

// Opens a folder and makes its name durable: it may have been created a moment ago, possibly by
// another process.
int blob_open_folder(struct disk_fault *fault, int parent_fd, const char *name, struct err *err)
{
    bool made = mkdirat(parent_fd, name, 0700) == 0;
    int fd = !made && errno != EEXIST ? -1 : openat(parent_fd, name, OPEN_DIR);
    if (fd < 0)
        err_set_errno(err, "folder %s", name);
    else if (disk_fault_flush_folder(fault, parent_fd, err))
        return fd;
    close_fd(fd);
    return -1;
}

// Only one process may write to a data directory.
static bool take_lock(struct blobs *blobs, int root_fd, struct err *err)
{
    blobs->lock_fd = openat(root_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (blobs->lock_fd < 0)
        return err_set_errno(err, "%s/lock", blobs->root);
    if (flock(blobs->lock_fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    return err_set(err, ERR_BUSY, "another process serves the data directory %s", blobs->root);
}

// Makes the name of the data directory durable, in its parent folder.
static bool flush_above(int root_fd)
{
    int above_fd = openat(root_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = above_fd >= 0 && fsync(above_fd) == 0;
    close_fd(above_fd);
    return ok;
}

static struct blob_store *open_stored(struct blobs *blobs, const char *place, struct err *err)
{
    struct buf full = {0};
    if (!place)
        return blob_store_open(blobs->root, &blobs->fault, err);
    buf_printf(&full, "%s%s&cache=%s/cache", place, strchr(place, '?') ? "" : "?", blobs->root);
    struct blob_store *store =
        buf_ok(&full, err) ? blob_store_open(full.at, &blobs->fault, err) : NULL;
    buf_free(&full);
    return store;
}

static bool open_all(struct blobs *blobs, const char *data_dir, const char *place, struct err *err)
{
    bool made = mkdir(data_dir, 0700) == 0;
    if (!made && errno != EEXIST)
        return err_set_errno(err, "data directory %s", data_dir);
    char *real = realpath(data_dir, NULL);
    if (!real)
        return err_set_errno(err, "data directory %s", data_dir);
    int len = snprintf(blobs->root, sizeof blobs->root, "%s", real);
    free(real);
    if (len < 0 || (size_t)len >= sizeof blobs->root)
        return err_set(err, ERR_USAGE, "the data directory's name is too long");
    int root_fd = open(blobs->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root_fd < 0 || (!flush_above(root_fd) && made)) {
        err_set_errno(err, "data directory %s", data_dir);
        close_fd(root_fd);
        return false;
    }
    struct disk_fault *fault = &blobs->fault;
    bool ok = take_lock(blobs, root_fd, err) &&
              (blobs->spool_fd = blob_open_folder(fault, root_fd, "spool", err)) >= 0 &&
              (blobs->pieces_fd = blob_open_folder(fault, root_fd, "pieces", err)) >= 0 &&
              (blobs->store = open_stored(blobs, place, err));
    close(root_fd);
    return ok;
}

// An endless chain of overlapping uploads must not block a removal.
static void init_pins(pthread_rwlock_t *pins)
{
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(pins, &attributes);
    pthread_rwlockattr_destroy(&attributes);
}

struct blobs *blob_open(const char *data_dir, struct err *err)
{
    return blob_open_at(data_dir, NULL, err);
}

struct blobs *blob_open_at(const char *data_dir, const char *place, struct err *err)
{
    struct blobs *blobs = calloc(1, sizeof *blobs);
    if (!blobs || strlen(data_dir) >= sizeof blobs->root) {
        free(blobs);
        err_set(err, ERR_USAGE, "the data directory's name is too long");
        return NULL;
    }
    blobs->lock_fd = blobs->spool_fd = blobs->pieces_fd = blobs->removals_fd = -1;
    init_pins(&blobs->pins);
    pthread_mutex_init(&blobs->removing, NULL);
    if (open_all(blobs, data_dir, place, err))
        return blobs;
    blob_close(blobs);
    return NULL;
}

void blob_close(struct blobs *blobs)
{
    if (!blobs)
        return;
    close_fd(blobs->spool_fd);
    close_fd(blobs->pieces_fd);
    blob_store_close(blobs->store);
    close_fd(blobs->lock_fd); // releases the lock
    pthread_rwlock_destroy(&blobs->pins);
    pthread_mutex_destroy(&blobs->removing);
    free(blobs);
}

struct disk_fault *blob_fault(struct blobs *blobs)
{
    return &blobs->fault;
}

bool blob_check_writable(const struct blobs *blobs, struct err *err)
{
    return disk_fault_check(&blobs->fault, err);
}

// --- reading ------------------------------------------------------------------------------------

const char *blob_root(const struct blobs *blobs)
{
    return blobs->root;
}

struct blob_store *blob_stored(const struct blobs *blobs)
{
    return blobs->store;
}

bool blob_is_far(const struct blobs *blobs)
{
    return blob_store_has_pieces(blobs->store);
}

bool blob_open_read(const struct blobs *blobs, const char *sha256, int *fd, uint64_t *size_bytes,
                    struct err *err)
{
    struct blob_key key = {BLOB_UPLOAD, sha256};
    return blob_store_read(blobs->store, key, fd, size_bytes, err);
}

bool blob_open_trace(const struct blobs *blobs, const char *trace_id, int *fd, uint64_t *size_bytes,
                     struct err *err)
{
    struct blob_key key = {BLOB_TRACE, trace_id};
    return blob_store_read(blobs->store, key, fd, size_bytes, err);
}

bool blob_free_bytes(const struct blobs *blobs, uint64_t *bytes, struct err *err)
{
    struct statvfs info;
    if (fstatvfs(blobs->spool_fd, &info) != 0)
        return err_set_errno(err, "%s", blobs->root);
    *bytes = (uint64_t)info.f_bavail * info.f_frsize;
    return true;
}

void blob_files_left(const struct blobs *blobs, uint64_t *files, uint64_t *free_files)
{
    struct statvfs info;
    bool known = fstatvfs(blobs->spool_fd, &info) == 0;
    *files = known ? (uint64_t)info.f_files : 0;
    *free_files = known ? (uint64_t)info.f_favail : 0;
}

uint64_t blob_reserve_until(uint64_t end, uint64_t came, uint64_t announced)
{
    uint64_t ahead = came < RESERVE_LEAST_BYTES ? RESERVE_LEAST_BYTES : came;
    ahead = ahead < RESERVE_MOST_BYTES ? ahead : RESERVE_MOST_BYTES;
    return end >= announced || announced - end < ahead ? announced : end + ahead;
}

bool blob_probe_folder(struct disk_fault *fault, int dir_fd, const char *what, struct err *err)
{
    static const char name[] = ".probe", text[] = "can this be written?";
    int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write(fd, text, sizeof text) == (ssize_t)sizeof text;
    if (!ok)
        err_set_errno(err, "trying to write in the folder %s", what);
    ok = ok && disk_fault_flush_file(fault, fd, "a file to try that", err);
    close_fd(fd);
    bool gone = fd < 0 || unlinkat(dir_fd, name, 0) == 0;
    return ok && (gone || err_set_errno(err, "removing a file in the folder %s", what));
}

bool blob_probe(struct blobs *blobs, struct err *err)
{
    return blob_check_writable(blobs, err) &&
           blob_probe_folder(&blobs->fault, blobs->spool_fd, "spool", err) &&
           blob_probe_folder(&blobs->fault, blobs->pieces_fd, "pieces", err) &&
           blob_store_probe(blobs->store, err);
}

// --- pins ---------------------------------------------------------------------------------------

void blob_pin(struct blobs *blobs)
{
    pthread_rwlock_rdlock(&blobs->pins);
}

void blob_unpin(struct blobs *blobs)
{
    pthread_rwlock_unlock(&blobs->pins);
}

void blob_exclude(struct blobs *blobs)
{
    pthread_rwlock_wrlock(&blobs->pins);
}

void blob_include(struct blobs *blobs)
{
    pthread_rwlock_unlock(&blobs->pins);
}

// --- backups ------------------------------------------------------------------------------------

bool blob_begin_removals(struct blobs *blobs)
{
    char path[BLOB_PATH_SIZE];
    snprintf(path, sizeof path, "%s/" BLOB_REMOVALS_LOCK, blobs->root);
    pthread_mutex_lock(&blobs->removing);
    blobs->removals_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (blobs->removals_fd >= 0 && flock(blobs->removals_fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    blob_end_removals(blobs);
    return false;
}

void blob_end_removals(struct blobs *blobs)
{
    close_fd(blobs->removals_fd);
    blobs->removals_fd = -1;
    pthread_mutex_unlock(&blobs->removing);
}

// --- removing -----------------------------------------------------------------------------------

bool blob_remove(struct blobs *blobs, const char *sha256, int64_t asked_s, struct err *err)
{
    struct blob_key key = {BLOB_UPLOAD, sha256};
    return blob_store_remove_as_of(blobs->store, key, asked_s, err);
}

bool blob_remove_trace(struct blobs *blobs, const char *trace_id, struct err *err)
{
    return blob_store_remove(blobs->store, (struct blob_key){BLOB_TRACE, trace_id}, err);
}

static bool is_part(const char *name)
{
    size_t len = strlen(name), suffix_len = strlen(PART_SUFFIX);
    return len >= suffix_len && strcmp(name + len - suffix_len, PART_SUFFIX) == 0;
}

static bool remove_parts(DIR *spool, unsigned *removed, struct err *err)
{
    for (struct dirent *entry; (entry = readdir(spool));) {
        if (!is_part(entry->d_name))
            continue;
        if (unlinkat(dirfd(spool), entry->d_name, 0) != 0)
            return err_set_errno(err, "removing %s", entry->d_name);
        (*removed)++;
    }
    return true;
}

bool blob_sweep_spool(struct blobs *blobs, unsigned *removed, struct err *err)
{
    int fd = openat(blobs->spool_fd, ".", OPEN_DIR);
    DIR *spool = fd < 0 ? NULL : fdopendir(fd);
    *removed = 0;
    if (!spool) {
        err_set_errno(err, "folder spool");
        close_fd(fd);
        return false;
    }
    bool ok = remove_parts(spool, removed, err);
    closedir(spool);
    if (ok)
        blob_store_sweep(blobs->store, removed);
    return ok;
}
