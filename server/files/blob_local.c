// SPDX-License-Identifier: Apache-2.0
// Stored files as files of this machine: blobs/ab/<sha256> and traces/ab/<trace id>.sst below one
// folder, on the filesystem where they were written.
#include "server/files/blob_dirs.h"
#include "server/files/file_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRACE_SUFFIX ".sst"
#define PART_SUFFIX  ".part"
enum { OPEN_DIR = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW, NAME_SIZE = 128 };

struct local {
    struct blob_store store;
    struct disk_fault *fault; // NULL: nothing is put
    int root_fd;
    int blobs_fd, traces_fd; // -1 if nothing is put
    char root[BLOB_PATH_SIZE];
};

static struct local *local_of(struct blob_store *store)
{
    return (struct local *)store;
}

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

// --- names --------------------------------------------------------------------------------------

static const char *shard_of(struct blob_key key)
{
    return key.type == BLOB_UPLOAD ? key.name : key.name + 2; // after "t_"
}

static const char *folder_of(enum blob_type type)
{
    return type == BLOB_UPLOAD ? "blobs" : "traces";
}

// Below the root.
static void name_of(struct blob_key key, char name[NAME_SIZE])
{
    snprintf(name, NAME_SIZE, "%s/%.2s/%s%s", folder_of(key.type), shard_of(key), key.name,
             key.type == BLOB_UPLOAD ? "" : TRACE_SUFFIX);
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t len = strlen(name), suffix_len = strlen(suffix);
    return len >= suffix_len && strcmp(name + len - suffix_len, suffix) == 0;
}

// --- opening ------------------------------------------------------------------------------------

static bool is_path(const char *place)
{
    return !strstr(place, "://");
}

static void close_local(struct blob_store *store)
{
    struct local *local = local_of(store);
    close_fd(local->blobs_fd);
    close_fd(local->traces_fd);
    close_fd(local->root_fd);
    free(local);
}

// Complete files are moved into their folder, which only works within a filesystem.
static bool on_one_filesystem(const struct local *local, struct err *err)
{
    const int folders[] = {local->blobs_fd, local->traces_fd};
    struct stat root, folder;
    bool ok = fstat(local->root_fd, &root) == 0;
    for (size_t i = 0; ok && i < sizeof folders / sizeof *folders; i++) {
        ok = fstat(folders[i], &folder) == 0;
        if (ok && folder.st_dev != root.st_dev)
            return err_set(err, ERR_USAGE,
                           "%.200s: found %s/ on another filesystem, expected all "
                           "of the data folder on one",
                           local->root, i ? "traces" : "blobs");
    }
    return ok || err_set_errno(err, "folder %.200s", local->root);
}

static bool open_folders(struct local *local, struct err *err)
{
    local->root_fd = open(local->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (local->root_fd < 0)
        return err_set_errno(err, "folder %.200s", local->root);
    if (!local->fault)
        return true;
    local->blobs_fd = blob_open_folder(local->fault, local->root_fd, "blobs", err);
    local->traces_fd =
        local->blobs_fd < 0 ? -1 : blob_open_folder(local->fault, local->root_fd, "traces", err);
    return local->traces_fd >= 0 && on_one_filesystem(local, err);
}

static struct blob_store *open_local(const char *place, struct disk_fault *fault, struct err *err)
{
    struct local *local = malloc(sizeof *local);
    if (!local) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    *local = (struct local){{&blob_local}, fault, -1, -1, -1, ""};
    int len = snprintf(local->root, sizeof local->root, "%s", place);
    bool fits = len >= 0 && (size_t)len < sizeof local->root;
    if ((fits || err_set(err, ERR_USAGE, "the path %.100s... is too long", place)) &&
        open_folders(local, err))
        return &local->store;
    close_local(&local->store);
    return NULL;
}

// --- writing ------------------------------------------------------------------------------------

static int open_shard(struct local *local, struct blob_key key, struct err *err)
{
    char shard[3] = {shard_of(key)[0], shard_of(key)[1], '\0'};
    if (key.type == BLOB_UPLOAD)
        return blob_open_folder(local->fault, local->blobs_fd, shard, err);
    (void)mkdirat(local->traces_fd, shard, 0700); // if it fails, opening reports it
    int fd = openat(local->traces_fd, shard, OPEN_DIR);
    if (fd < 0)
        err_set_errno(err, "folder traces/%s", shard);
    return fd;
}

// Replaces an existing file: its bytes may have been damaged since.
static bool put(struct blob_store *store, struct blob_key key, const struct blob_part *part,
                struct err *err)
{
    struct local *local = local_of(store);
    char name[NAME_SIZE];
    int shard_fd = open_shard(local, key, err);
    if (shard_fd < 0)
        return false;
    name_of(key, name);
    bool ok = (renameat(part->dir_fd, part->name, local->root_fd, name) == 0 ||
               err_set_errno(err, "naming a stored file")) &&
              (key.type == BLOB_TRACE || disk_fault_flush_folder(local->fault, shard_fd, err));
    close(shard_fd);
    return ok;
}

static bool remove_file(struct blob_store *store, struct blob_key key, int64_t asked_s,
                        struct err *err)
{
    (void)asked_s; // it is done before this returns
    char name[NAME_SIZE];
    name_of(key, name);
    return unlinkat(local_of(store)->root_fd, name, 0) == 0 || errno == ENOENT ||
           err_set_errno(err, "removing %s", name);
}

static bool probe(struct blob_store *store, struct err *err)
{
    struct local *local = local_of(store);
    return blob_probe_folder(local->fault, local->blobs_fd, "blobs", err) &&
           blob_probe_folder(local->fault, local->traces_fd, "traces", err);
}

static bool read_mark(struct blob_store *store, char mark[BLOB_MARK_SIZE], struct err *err)
{
    int fd = openat(local_of(store)->root_fd, BLOB_MARK, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    mark[0] = '\0';
    if (fd < 0)
        return errno == ENOENT || err_set_errno(err, "the file " BLOB_MARK);
    ssize_t got = read(fd, mark, BLOB_MARK_SIZE - 1);
    mark[got > 0 ? got : 0] = '\0';
    mark[strcspn(mark, "\r\n")] = '\0';
    close(fd);
    return got >= 0 || err_set(err, ERR_IO, "the file " BLOB_MARK " cannot be read");
}

static bool write_mark(struct blob_store *store, const char *mark, struct err *err)
{
    struct local *local = local_of(store);
    int fd = openat(local->root_fd, BLOB_MARK, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write(fd, mark, strlen(mark)) == (ssize_t)strlen(mark);
    if (!ok)
        err_set_errno(err, "the file " BLOB_MARK);
    ok = ok && disk_fault_flush_file(local->fault, fd, "the file " BLOB_MARK, err) &&
         disk_fault_flush_folder(local->fault, local->root_fd, err);
    close_fd(fd);
    return ok;
}

// --- reading ------------------------------------------------------------------------------------

// Says what failed: descriptors and memory come back, what is gone stays gone.
static bool failed_to_open(struct blob_key key, struct err *err)
{
    bool comes_back = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
    if (errno == ENOENT)
        return err_set(err, ERR_NOT_FOUND, "the stored file %.14s is gone", key.name);
    err_set_errno(err, "stored file %.14s", key.name);
    err->code = comes_back ? ERR_BUSY : err->code;
    return false;
}

static bool read_file(struct blob_store *store, struct blob_key key, int *fd, uint64_t *bytes,
                      struct err *err)
{
    char name[NAME_SIZE];
    struct stat info;
    name_of(key, name);
    *fd = openat(local_of(store)->root_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (*fd < 0 || fstat(*fd, &info) != 0) {
        failed_to_open(key, err);
        close_fd(*fd);
        *fd = -1;
        return false;
    }
    *bytes = (uint64_t)info.st_size;
    return true;
}

static bool size(struct blob_store *store, struct blob_key key, uint64_t *bytes, struct err *err)
{
    char name[NAME_SIZE];
    struct stat info;
    name_of(key, name);
    if (fstatat(local_of(store)->root_fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return failed_to_open(key, err);
    *bytes = (uint64_t)info.st_size;
    return true;
}

// Shares the bytes if the filesystem can.
static bool copy(struct blob_store *store, struct blob_key key, const char *folder, struct err *err)
{
    char name[NAME_SIZE], from[BLOB_PATH_SIZE + NAME_SIZE], to[BLOB_PATH_SIZE];
    enum file_copy how;
    name_of(key, name);
    snprintf(from, sizeof from, "%s/%s", local_of(store)->root, name);
    int len = snprintf(to, sizeof to, "%s/%s", folder, name);
    if (len < 0 || (size_t)len >= sizeof to)
        return err_set(err, ERR_USAGE, "the path %.100s... is too long", folder);
    char *slash = strrchr(to, '/');
    *slash = '\0';
    bool is_made = folder_make(to, err);
    *slash = '/';
    return is_made && file_copy(from, to, &how, err);
}

static bool take(struct blob_store *store, struct blob_key key, struct blob_store *from,
                 struct err *err)
{
    return from->kind->copy(from, key, local_of(store)->root, err);
}

// --- walking ------------------------------------------------------------------------------------

// Calls visit(ctx, folder, name) for each entry of a folder.
struct walk {
    bool (*visit)(void *ctx, int dir_fd, const char *name, struct err *err);
    void *ctx;
};

// A folder that does not exist is empty.
static bool walk_folder(int parent_fd, const char *name, const struct walk *walk, struct err *err)
{
    int fd = openat(parent_fd, name, OPEN_DIR);
    if (fd < 0 && errno == ENOENT)
        return true;
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir) {
        err_set_errno(err, "folder %s", name);
        close_fd(fd);
        return false;
    }
    bool ok = true;
    for (struct dirent *entry; ok && (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            ok = walk->visit(walk->ctx, fd, entry->d_name, err);
    closedir(dir);
    return ok;
}

// The folders "ab" of one type; the visitor, which may be NULL, chooses among them.
struct shards {
    struct walk files;
    enum blob_type type;
    const struct blob_visitor *visitor;
};

static bool is_wanted(const struct shards *shards, int dir_fd, const char *name)
{
    const struct blob_visitor *visitor = shards->visitor;
    struct stat info;
    if (!visitor || !visitor->folder || fstatat(dir_fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return true;
    int64_t changed_ns = (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
    return visitor->folder(visitor->ctx, shards->type, name, changed_ns);
}

static bool walk_shard(void *ctx, int dir_fd, const char *name, struct err *err)
{
    const struct shards *shards = ctx;
    return strlen(name) != 2 || !is_wanted(shards, dir_fd, name) ||
           walk_folder(dir_fd, name, &shards->files, err);
}

static bool walk_shards(struct blob_store *store, struct shards *shards, struct err *err)
{
    struct walk walk = {walk_shard, shards};
    return walk_folder(local_of(store)->root_fd, folder_of(shards->type), &walk, err);
}

// A file that has vanished counts as empty.
static uint64_t bytes_of(int dir_fd, const char *name)
{
    struct stat info;
    return fstatat(dir_fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)info.st_size : 0;
}

// What is left of copies into or from a backup, and of traces that older versions wrote in place.
static bool remove_unfinished(const struct blob_visitor *visitor, int dir_fd, const char *name,
                              struct err *err)
{
    if (!visitor->unfinished || !ends_with(name, PART_SUFFIX))
        return true;
    if (unlinkat(dir_fd, name, 0) != 0)
        return err_set_errno(err, "removing %s", name);
    (*visitor->unfinished)++;
    return true;
}

static bool visit_blob(void *ctx, int dir_fd, const char *name, struct err *err)
{
    const struct blob_visitor *visitor = *(const struct blob_visitor **)ctx;
    bool is_blob = strlen(name) == BLOB_SHA256_SIZE - 1 && strspn(name, "0123456789abcdef") == 64;
    return is_blob ? visitor->blob(visitor->ctx, name, bytes_of(dir_fd, name), err)
                   : remove_unfinished(visitor, dir_fd, name, err);
}

static bool visit_trace(void *ctx, int dir_fd, const char *name, struct err *err)
{
    const struct blob_visitor *visitor = *(const struct blob_visitor **)ctx;
    char id[32];
    size_t len = strlen(name) - (ends_with(name, TRACE_SUFFIX) ? strlen(TRACE_SUFFIX) : 0);
    if (len == strlen(name) || len >= sizeof id || strncmp(name, "t_", 2) != 0)
        return remove_unfinished(visitor, dir_fd, name, err);
    memcpy(id, name, len);
    id[len] = '\0';
    return visitor->trace(visitor->ctx, id, bytes_of(dir_fd, name), err);
}

static bool each(struct blob_store *store, const struct blob_visitor *visitor, struct err *err)
{
    struct shards blobs = {{visit_blob, &visitor}, BLOB_UPLOAD, visitor},
                  traces = {{visit_trace, &visitor}, BLOB_TRACE, visitor};
    return (!visitor->blob || walk_shards(store, &blobs, err)) &&
           (!visitor->trace || walk_shards(store, &traces, err));
}

const struct blob_kind blob_local = {
    .name = "local",
    .is_place = is_path,
    .open = open_local,
    .close = close_local,
    .put = put,
    .read = read_file,
    .read_past_cache = read_file,
    .size = size,
    .remove = remove_file,
    .each = each,
    .copy = copy,
    .take = take,
    .probe = probe,
    .read_mark = read_mark,
    .write_mark = write_mark,
};
