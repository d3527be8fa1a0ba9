// SPDX-License-Identifier: Apache-2.0
// Stored files as objects of S3, which several services share: blobs/ab/<sha256> and
// traces/ab/<trace id>.sst below the place's prefix. What was read or written lately is also in a
// cache, a folder that may be emptied at any time.
#include "server/base/disk_fault.h"
#include "server/files/blob_store.h"
#include "server/files/s3_client.h"
#include "server/files/s3_list.h"
#include "server/files/s3_pieces.h"
#include "server/files/s3_sending.h"
#include "server/files/sigv4.h"

#include "ingest/base/fd_io.h"
#include "ingest/base/hash.h"
#include "ingest/base/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum { KEY_SIZE = 128, NAME_MOST = 90 };
enum { FREE_SHARE = 10 }; // percent of its disk that the cache leaves free

// Sweeps leave younger objects alone: their rows may be on their way. An upload in parts takes
// longer.
enum { YOUNG_SECONDS = 3600, OPEN_SECONDS = 86400, REMOVAL_MS = 4000 };

struct s3 {
    struct blob_store store;
    struct s3_client *client;
    struct blob_store *cache; // NULL: nothing is put or read
    struct disk_fault fault;  // of the cache; nothing in it is needed
    int cache_fd;
    uint64_t kept_bytes;   // of the cache's disk, always kept free
    atomic_ullong fetches; // so far: names of temporary files
    atomic_bool has_mark;  // it was there
};

static struct s3 *s3_of(struct blob_store *store)
{
    return (struct s3 *)store;
}

static void key_of(struct blob_key key, char text[KEY_SIZE])
{
    bool is_upload = key.type == BLOB_UPLOAD;
    snprintf(text, KEY_SIZE, is_upload ? "blobs/%.2s/%.90s" : "traces/%.2s/%.90s.sst",
             is_upload ? key.name : key.name + 2, key.name);
}

// --- opening ------------------------------------------------------------------------------------

static bool is_url(const char *place)
{
    return strncmp(place, "s3://", strlen("s3://")) == 0;
}

static void close_s3(struct blob_store *store)
{
    struct s3 *s3 = s3_of(store);
    s3_client_close(s3->client);
    blob_store_close(s3->cache);
    if (s3->cache_fd >= 0)
        close(s3->cache_fd);
    free(s3);
}

// The service adds its folder to the place.
static bool open_cache(struct s3 *s3, const char *place, struct err *err)
{
    static const char name[] = "&cache=";
    const char *found = strstr(place, name);
    if (!found)
        return true;
    const char *folder = found + strlen(name), *kept = strstr(place, BLOB_KEEP_FREE);
    s3->kept_bytes = kept && kept < found ? strtoull(kept + strlen(BLOB_KEEP_FREE), NULL, 10) : 0;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return err_set_errno(err, "%s", folder);
    s3->cache_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s3->cache_fd < 0)
        return err_set_errno(err, "%s", folder);
    s3->cache = blob_local.open(folder, &s3->fault, err);
    return s3->cache != NULL;
}

static struct blob_store *open_s3(const char *place, struct disk_fault *fault, struct err *err)
{
    struct s3 *s3 = calloc(1, sizeof *s3);
    (void)fault; // the disk is another machine's
    if (!s3) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    s3->store.kind = &blob_s3;
    s3->cache_fd = -1;
    s3->client = s3_client_open(place, err);
    if (s3->client && open_cache(s3, place, err))
        return &s3->store;
    close_s3(&s3->store);
    return NULL;
}

// --- the cache ----------------------------------------------------------------------------------

// A fault of the cache's disk must not hide what S3 has: try again later.
static bool cache_failed(struct err *err)
{
    err_set_errno(err, "a file of the cache");
    err->code = ERR_BUSY;
    return false;
}

// A cached file's modification time encodes the object's ETag (for an upload, its name) and length,
// so that a file cut off by a crash, or a trace that was written again, is noticed.
static struct timespec time_of(struct blob_key key, uint64_t bytes, const char *etag)
{
    struct str version = str_of(key.type == BLOB_UPLOAD ? key.name : etag);
    while (version.len && version.at[version.len - 1] == '"')
        version.len--;
    while (version.len && version.at[0] == '"')
        version = (struct str){version.at + 1, version.len - 1};
    uint64_t hash = hash_mix(hash_bytes(version.at, version.len), bytes);
    return (struct timespec){(time_t)(hash >> 34), (long)(hash % 1000000000)};
}

// Flushes the file first: later its time is believed.
static bool stamp(struct blob_key key, int fd, const char *etag, struct err *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return cache_failed(err);
    const struct timespec times[2] = {{0, UTIME_NOW}, time_of(key, (uint64_t)info.st_size, etag)};
    return (futimens(fd, times) == 0 && fsync(fd) == 0) || cache_failed(err);
}

static bool has_stamp(struct blob_key key, int fd, const char *etag)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return false;
    struct timespec expected = time_of(key, (uint64_t)info.st_size, etag);
    return info.st_mtim.tv_sec == expected.tv_sec && info.st_mtim.tv_nsec == expected.tv_nsec;
}

static bool has_room(const struct s3 *s3, uint64_t bytes)
{
    struct statvfs info;
    if (fstatvfs(s3->cache_fd, &info) != 0)
        return true;
    uint64_t free_bytes = (uint64_t)info.f_bavail * info.f_frsize;
    uint64_t share = (uint64_t)info.f_blocks * FREE_SHARE / 100 * info.f_frsize;
    uint64_t kept = share > s3->kept_bytes ? share : s3->kept_bytes;
    return free_bytes > kept && free_bytes - kept >= bytes;
}

// What making room goes through.
struct room {
    struct s3 *s3;
    uint64_t bytes;
};

static bool drop_cached(const struct room *room, enum blob_type type, const char *name,
                        struct err *err)
{
    if (has_room(room->s3, room->bytes))
        return err_set(err, ERR_CANCELLED, "there is room");
    struct blob_key key = {type, name};
    return blob_store_remove(room->s3->cache, key, err);
}

static bool drop_blob(void *ctx, const char *name, uint64_t bytes, struct err *err)
{
    (void)bytes;
    return drop_cached(ctx, BLOB_UPLOAD, name, err);
}

static bool drop_trace(void *ctx, const char *name, uint64_t bytes, struct err *err)
{
    (void)bytes;
    return drop_cached(ctx, BLOB_TRACE, name, err);
}

// Removes any cached files, as many as needed.
static void make_room(struct s3 *s3, uint64_t bytes)
{
    struct room room = {s3, bytes};
    struct blob_visitor visitor = {.blob = drop_blob, .trace = drop_trace, .ctx = &room};
    struct err ignored;
    if (!has_room(s3, bytes))
        (void)!s3->cache->kind->each(s3->cache, &visitor, &ignored);
}

// --- writing ------------------------------------------------------------------------------------

static bool send_file(struct s3 *s3, struct blob_key key, struct s3_sending *sending,
                      struct err *err)
{
    struct stat info;
    char hash[S3_HASH_SIZE];
    if (fstat(sending->fd, &info) != 0)
        return err_set_errno(err, "a file for S3");
    sending->bytes = (uint64_t)info.st_size;
    sending->hash = key.name;
    if (key.type == BLOB_TRACE) {
        if (!s3_hash(sending->fd, 0, sending->bytes, hash, err))
            return false;
        sending->hash = hash;
    }
    return s3_send_file(s3->client, sending, err);
}

// S3 has it when this returns; caching it as well only saves time.
static bool put(struct blob_store *store, struct blob_key key, const struct blob_part *part,
                struct err *err)
{
    struct s3 *s3 = s3_of(store);
    char text[KEY_SIZE];
    key_of(key, text);
    struct s3_sending sending = {.key = text, .fd = part->fd};
    if (!send_file(s3, key, &sending, err))
        return false;
    make_room(s3, 0);
    struct err ignored;
    if (!stamp(key, part->fd, sending.etag, &ignored) ||
        !s3->cache->kind->put(s3->cache, key, part, &ignored))
        (void)!unlinkat(part->dir_fd, part->name, 0);
    return true;
}

static bool ask(struct s3 *s3, const char *key, struct s3_answer *answer, struct err *err)
{
    struct s3_request request = {
        .method = "HEAD", .key = key, .query = "", .fd = -1, .into_fd = -1};
    bool ok = s3_send(s3->client, &request, answer, err);
    buf_free(&answer->text);
    return ok;
}

// One short try: whoever deletes a run waits for it. Care tries again.
static bool remove_object(struct blob_store *store, struct blob_key key, int64_t asked_s,
                          struct err *err)
{
    struct s3 *s3 = s3_of(store);
    struct s3_answer answer;
    char text[KEY_SIZE];
    struct err ignored;
    struct s3_request request = {.method = "DELETE",
                                 .key = text,
                                 .query = "",
                                 .fd = -1,
                                 .once_ms = REMOVAL_MS,
                                 .asked_s = asked_s,
                                 .into_fd = -1};
    key_of(key, text);
    if (s3->cache)
        (void)!blob_store_remove(s3->cache, key, &ignored);
    bool ok = s3_send(s3->client, &request, &answer, err);
    buf_free(&answer.text);
    return ok || err->code == ERR_NOT_FOUND;
}

// --- reading ------------------------------------------------------------------------------------

static bool gone(struct blob_key key, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "the stored file %.14s is gone", key.name);
}

static bool read_mark(struct blob_store *store, char mark[BLOB_MARK_SIZE], struct err *err)
{
    struct s3_answer answer;
    struct s3_request request = {
        .method = "GET", .key = BLOB_MARK, .query = "", .fd = -1, .into_fd = -1};
    bool ok = s3_send(s3_of(store)->client, &request, &answer, err);
    snprintf(mark, BLOB_MARK_SIZE, "%.*s",
             ok ? (int)strcspn(answer.text.at ? answer.text.at : "", "\r\n") : 0,
             ok && answer.text.at ? answer.text.at : "");
    buf_free(&answer.text);
    if (mark[0])
        atomic_store(&s3_of(store)->has_mark, true);
    return ok || err->code == ERR_NOT_FOUND;
}

static bool is_here(struct s3 *s3, struct err *err)
{
    char mark[BLOB_MARK_SIZE];
    return read_mark(&s3->store, mark, err) &&
           (mark[0] || !atomic_load(&s3->has_mark) ||
            err_set(err, ERR_BUSY, "S3 has no object \"" BLOB_MARK "\" now: its bucket is away"));
}

// A bucket that is away, or a balancer with no S3 behind it, answers 404 to everything: an object
// is missing only if the mark is there.
static bool ask_surely(struct s3 *s3, const char *key, struct s3_answer *answer, struct err *err)
{
    return ask(s3, key, answer, err) ||
           (err->code == ERR_NOT_FOUND && is_here(s3, err) && ask(s3, key, answer, err));
}

// A trace that seems to be missing is made again from its upload.
static bool size(struct blob_store *store, struct blob_key key, uint64_t *bytes, struct err *err)
{
    struct s3_answer answer;
    char text[KEY_SIZE];
    key_of(key, text);
    bool ok = (key.type == BLOB_UPLOAD ? ask_surely : ask)(s3_of(store), text, &answer, err);
    *bytes = answer.bytes;
    return ok || (err->code == ERR_NOT_FOUND ? gone(key, err) : false);
}

// Whether the bytes that arrived are those once stored.
static bool check_file(struct blob_key key, int fd, const struct s3_answer *answer, struct err *err)
{
    struct stat info;
    char hash[S3_HASH_SIZE];
    const char *expected = key.type == BLOB_UPLOAD ? key.name : answer->meta_hash;
    if (fstat(fd, &info) != 0)
        return cache_failed(err);
    if (!s3_hash(fd, 0, (uint64_t)info.st_size, hash, err))
        return false;
    return strcmp(hash, expected) == 0 ||
           err_set(err, ERR_IO, "the stored file %.14s is damaged: its SHA-256 is %.14s...",
                   key.name, hash);
}

static bool get(struct s3 *s3, struct blob_key key, int fd, struct err *err)
{
    char text[KEY_SIZE];
    struct s3_answer answer;
    uint64_t bytes;
    key_of(key, text);
    struct s3_request request = {
        .method = "GET", .key = text, .query = "", .fd = -1, .into_fd = fd};
    bool ok = s3_send(s3->client, &request, &answer, err);
    buf_free(&answer.text);
    if (!ok && err->code == ERR_NOT_FOUND && size(&s3->store, key, &bytes, err))
        return err_set(err, ERR_BUSY, "S3 gave no bytes of %.14s", key.name);
    if (!ok)
        return false;
    return check_file(key, fd, &answer, err) && stamp(key, fd, answer.etag, err);
}

// Puts what arrived into the cache; if that fails, as after the cache's folder was removed, it is
// read without being cached.
static bool keep(struct s3 *s3, struct blob_key key, const struct blob_part *part, int *fd,
                 uint64_t *bytes, struct err *err)
{
    struct err ignored;
    struct stat info;
    *fd = fd_reopen(part->fd);
    if (*fd < 0 || fstat(*fd, &info) != 0)
        return cache_failed(err);
    *bytes = (uint64_t)info.st_size;
    if (!s3->cache->kind->put(s3->cache, key, part, &ignored))
        (void)!unlinkat(part->dir_fd, part->name, 0);
    return true;
}

static bool no_cache(struct err *err)
{
    return err_set(err, ERR_UNSUPPORTED, "files of S3 are read by a service only");
}

// Brings a file here; its part is kept or removed by the caller.
static bool bring(struct s3 *s3, struct blob_key key, struct blob_part *part, struct err *err)
{
    uint64_t bytes;
    *part = (struct blob_part){.dir_fd = s3->cache_fd, .fd = -1};
    if (!size(&s3->store, key, &bytes, err))
        return false;
    make_room(s3, bytes);
    snprintf(part->name, sizeof part->name, "%llu.part", atomic_fetch_add(&s3->fetches, 1));
    part->fd = openat(part->dir_fd, part->name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (part->fd < 0)
        return cache_failed(err);
    if (get(s3, key, part->fd, err))
        return true;
    (void)!unlinkat(part->dir_fd, part->name, 0);
    close(part->fd);
    err->code = err->code == ERR_SPACE ? ERR_BUSY : err->code; // the cache's disk, not the caller's
    return false;
}

static bool fetch(struct s3 *s3, struct blob_key key, int *fd, uint64_t *bytes, struct err *err)
{
    struct blob_part part;
    if (!bring(s3, key, &part, err))
        return false;
    bool ok = keep(s3, key, &part, fd, bytes, err);
    close(part.fd);
    return ok;
}

// Into a file without a name.
static bool read_past_cache(struct blob_store *store, struct blob_key key, int *fd, uint64_t *bytes,
                            struct err *err)
{
    struct blob_part part;
    struct stat info;
    *fd = -1;
    if (!s3_of(store)->cache)
        return no_cache(err);
    if (!bring(s3_of(store), key, &part, err))
        return false;
    (void)!unlinkat(part.dir_fd, part.name, 0);
    *fd = part.fd;
    *bytes = fstat(*fd, &info) == 0 ? (uint64_t)info.st_size : 0;
    return lseek(*fd, 0, SEEK_SET) == 0 || cache_failed(err);
}

static bool read_cached(struct s3 *s3, struct blob_key key, int *fd, uint64_t *bytes,
                        struct err *err)
{
    return s3->cache->kind->read(s3->cache, key, fd, bytes, err);
}

// Uploads never change. If S3 does not answer, a cached trace must do.
static bool is_current(struct s3 *s3, struct blob_key key, int fd)
{
    struct s3_answer answer;
    char text[KEY_SIZE];
    struct err err;
    if (key.type == BLOB_UPLOAD)
        return has_stamp(key, fd, "");
    key_of(key, text);
    return ask_surely(s3, text, &answer, &err) ? has_stamp(key, fd, answer.etag)
                                               : err.code != ERR_NOT_FOUND;
}

static bool read_object(struct blob_store *store, struct blob_key key, int *fd, uint64_t *bytes,
                        struct err *err)
{
    struct s3 *s3 = s3_of(store);
    *fd = -1;
    if (!s3->cache)
        return no_cache(err);
    if (read_cached(s3, key, fd, bytes, err)) {
        if (is_current(s3, key, *fd))
            return true;
        close(*fd);
        *fd = -1;
    } else if (err->code == ERR_BUSY) {
        return false;
    }
    return fetch(s3, key, fd, bytes, err);
}

static bool copy(struct blob_store *store, struct blob_key key, const char *folder, struct err *err)
{
    struct s3 *s3 = s3_of(store);
    uint64_t bytes;
    int fd;
    if (!read_object(store, key, &fd, &bytes, err))
        return false;
    close(fd);
    return s3->cache->kind->copy(s3->cache, key, folder, err);
}

// Sent from where it is; not cached.
static bool take(struct blob_store *store, struct blob_key key, struct blob_store *from,
                 struct err *err)
{
    char text[KEY_SIZE];
    uint64_t bytes;
    key_of(key, text);
    struct s3_sending sending = {.key = text, .fd = -1};
    bool ok = from->kind->read(from, key, &sending.fd, &bytes, err) &&
              send_file(s3_of(store), key, &sending, err);
    if (sending.fd >= 0)
        close(sending.fd);
    return ok;
}

// --- lists --------------------------------------------------------------------------------------

static void write_limit(int64_t seconds, char limit[24])
{
    time_t at = time(NULL) - (time_t)seconds;
    struct tm parts;
    gmtime_r(&at, &parts);
    strftime(limit, 24, "%Y-%m-%dT%H:%M:%S", &parts);
}

// The name in a key, if it is one of ours: PREFIXblobs/ab/NAME or PREFIXtraces/ab/NAME.sst.
static bool name_in(const struct s3 *s3, struct str key, enum blob_type type, char name[KEY_SIZE])
{
    static const char known[] = "0123456789abcdefghijklmnopqrstuvwxyz_";
    char again[KEY_SIZE];
    struct str prefix = str_of(s3_client_prefix(s3->client));
    const char *slash = key.len ? memrchr(key.at, '/', key.len) : NULL;
    if (!slash || !str_starts_with(key, prefix))
        return false;
    size_t len = key.len - (size_t)(slash + 1 - key.at);
    size_t cut = type == BLOB_TRACE ? strlen(".sst") : 0;
    if (len <= cut + 4 || len > NAME_MOST)
        return false;
    snprintf(name, KEY_SIZE, "%.*s", (int)(len - cut), slash + 1);
    key_of((struct blob_key){type, name}, again);
    bool is_name = type == BLOB_UPLOAD
                       ? len == S3_HASH_SIZE - 1 && strspn(name, known) == len
                       : strncmp(name, "t_", 2) == 0 && strspn(name, known) == len - cut;
    return is_name &&
           str_equal((struct str){key.at + prefix.len, key.len - prefix.len}, str_of(again));
}

static const char *folder_of(enum blob_type type)
{
    return type == BLOB_UPLOAD ? "blobs%2F" : "traces%2F";
}

struct listing {
    struct s3 *s3;
    enum blob_type type;
    const struct blob_visitor *visitor;
};

static bool visit_page(void *ctx, struct str xml, struct err *err)
{
    const struct listing *listing = ctx;
    const struct blob_visitor *visitor = listing->visitor;
    struct s3_entry entry;
    char name[KEY_SIZE], limit[24];
    bool ok = true;
    write_limit(YOUNG_SECONDS, limit);
    while (ok && s3_list_next(&xml, STR("Contents"), &entry))
        if (name_in(listing->s3, entry.key, listing->type, name) &&
            s3_list_is_before(entry.time, limit))
            ok = (listing->type == BLOB_UPLOAD ? visitor->blob : visitor->trace)(visitor->ctx, name,
                                                                                 entry.bytes, err);
    return ok;
}

static bool each_of(struct s3 *s3, enum blob_type type, const struct blob_visitor *visitor,
                    struct err *err)
{
    struct listing listing = {s3, type, visitor};
    return s3_list_pages(s3->client, folder_of(type),
                         &(struct s3_page_visitor){visit_page, &listing}, err);
}

// Without those that were written a moment ago.
static bool each(struct blob_store *store, const struct blob_visitor *visitor, struct err *err)
{
    return (!visitor->blob || each_of(s3_of(store), BLOB_UPLOAD, visitor, err)) &&
           (!visitor->trace || each_of(s3_of(store), BLOB_TRACE, visitor, err));
}

// --- care ---------------------------------------------------------------------------------------

static bool end_upload(struct s3 *s3, const char *key, struct str upload_id, struct err *err)
{
    struct buf id = {0};
    struct s3_sending sending = {.key = key};
    sigv4_encode(upload_id, false, &id);
    bool ok = buf_ok(&id, err) && id.len < S3_UPLOAD_ID_MOST &&
              (s3_end_parts(s3->client, &sending, "DELETE", id.at ? id.at : "", NULL, err) ||
               err->code == ERR_NOT_FOUND);
    buf_free(&id);
    return ok;
}

// Other programs' are left alone.
static bool end_old(struct s3 *s3, enum blob_type type, struct str xml, unsigned *ended,
                    struct err *err)
{
    struct s3_entry entry;
    char limit[24], key[KEY_SIZE], name[KEY_SIZE];
    bool ok = true;
    write_limit(OPEN_SECONDS, limit);
    while (ok && s3_list_next(&xml, STR("Upload"), &entry)) {
        if (!s3_list_is_before(entry.time, limit) || !name_in(s3, entry.key, type, name))
            continue;
        key_of((struct blob_key){type, name}, key);
        ok = end_upload(s3, key, entry.upload_id, err);
        *ended += ok;
    }
    return ok;
}

static bool end_old_of(struct s3 *s3, enum blob_type type, unsigned *ended, struct err *err)
{
    struct buf query = {0};
    struct s3_answer answer = {0};
    s3_list_put_prefix(s3->client, folder_of(type), &query);
    buf_puts(&query, "&uploads=");
    struct s3_request request = {
        .method = "GET", .key = "", .query = query.at, .fd = -1, .into_fd = -1};
    bool ok = buf_ok(&query, err) && s3_send(s3->client, &request, &answer, err);
    struct str xml = {answer.text.at ? answer.text.at : "", answer.text.len};
    ok = ok && end_old(s3, type, xml, ended, err);
    buf_free(&answer.text);
    buf_free(&query);
    return ok;
}

static bool end_uploads(struct blob_store *store, struct err *err)
{
    unsigned ended = 0;
    bool ok = end_old_of(s3_of(store), BLOB_UPLOAD, &ended, err) &&
              end_old_of(s3_of(store), BLOB_TRACE, &ended, err);
    if (ended)
        log_info("ended %u uploads in parts of interrupted writers", ended);
    return ok;
}

static void sweep(struct blob_store *store, unsigned *removed)
{
    const struct s3 *s3 = s3_of(store);
    int fd = openat(s3->cache_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder));)
        if (strstr(entry->d_name, ".part"))
            *removed += unlinkat(fd, entry->d_name, 0) == 0;
    closedir(folder);
}

static bool put_text(struct blob_store *store, const char *key, struct str text, struct err *err)
{
    struct s3_answer answer;
    struct s3_request request = {
        .method = "PUT", .key = key, .query = "", .fd = -1, .text = text, .into_fd = -1};
    bool ok = s3_send(s3_of(store)->client, &request, &answer, err);
    buf_free(&answer.text);
    return ok;
}

static bool probe(struct blob_store *store, struct err *err)
{
    return put_text(store, "probe", STR("can this be written?"), err);
}

static bool write_mark(struct blob_store *store, const char *mark, struct err *err)
{
    bool ok = put_text(store, BLOB_MARK, str_of(mark), err);
    if (ok)
        atomic_store(&s3_of(store)->has_mark, true);
    return ok;
}

struct s3_client *blob_s3_client(struct blob_store *store)
{
    return s3_of(store)->client;
}

const struct blob_kind blob_s3 = {
    .name = "s3",
    .is_place = is_url,
    .open = open_s3,
    .close = close_s3,
    .put = put,
    .read = read_object,
    .read_past_cache = read_past_cache,
    .size = size,
    .remove = remove_object,
    .each = each,
    .copy = copy,
    .take = take,
    .sweep = sweep,
    .end_uploads = end_uploads,
    .probe = probe,
    .read_mark = read_mark,
    .write_mark = write_mark,
    .pieces = &s3_pieces,
};
