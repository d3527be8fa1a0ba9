// SPDX-License-Identifier: Apache-2.0
// The audit log: a row protected by triggers, and a line in a file that can be shipped elsewhere.
#include "server/access/audit.h"

#include "server/access/refusals.h"
#include "server/base/services.h"
#include "server/http/route.h"
#include "server/store/store_access.h"

#include "ingest/base/clock.h"
#include "ingest/base/log.h"
#include "ingest/base/secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define OBJECT_MAX_BYTES 300
#define OBJECT_ROOM      1024 // for the address and what it refers to

struct audit {
    struct store *store;
    uint64_t file_bytes; // 0: never rotated
    int64_t files;
    pthread_mutex_t lock; // for the refusals
    struct refusals *refusals;
    char path[4096];
};

// Opened for each line, so that the file may be moved away while we run.
static int open_file(const struct audit *audit)
{
    return open(audit->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

struct audit *audit_open(struct store *store, const char *data_dir, struct err *err)
{
    struct audit *audit = calloc(1, sizeof(*audit));
    if (!audit) {
        err_set(err, ERR_MEMORY, "out of memory for the audit log");
        return NULL;
    }
    audit->store = store;
    pthread_mutex_init(&audit->lock, NULL);
    audit->refusals = refusals_new(err);
    if (!audit->refusals) {
        audit_close(audit);
        return NULL;
    }
    int len = snprintf(audit->path, sizeof(audit->path), "%s/" AUDIT_FILE, data_dir);
    int fd = (size_t)len < sizeof(audit->path) ? open_file(audit) : -1;
    if (fd >= 0) {
        close(fd);
        return audit;
    }
    err_set_errno(err, "%s", audit->path);
    audit_close(audit);
    return NULL;
}

void audit_rotate(struct audit *audit, uint64_t file_bytes, int64_t files)
{
    audit->file_bytes = file_bytes;
    audit->files = files < 0 ? 0 : files < AUDIT_MAX_FILES ? files : AUDIT_MAX_FILES;
}

// --- the file -----------------------------------------------------------------------------------

static void path_of(const struct audit *audit, int64_t number, char *path, size_t size)
{
    if (number == 0)
        snprintf(path, size, "%s", audit->path);
    else
        snprintf(path, size, "%s.%lld", audit->path, (long long)number);
}

uint64_t audit_file_bytes(const struct audit *audit)
{
    uint64_t bytes = 0;
    for (int64_t i = 0; i <= audit->files; i++) {
        char path[sizeof(audit->path) + 24];
        struct stat info;
        path_of(audit, i, path, sizeof(path));
        bytes += stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
    }
    return bytes;
}

// Nobody else appends to it or rotates it before it is closed. The command line writes to it, too.
static int open_locked(const struct audit *audit)
{
    enum { TRIES = 16 };
    for (int i = 0; i < TRIES; i++) {
        struct stat opened, named;
        int fd = open_file(audit);
        if (fd < 0)
            return -1;
        if (flock(fd, LOCK_EX) == 0 && fstat(fd, &opened) == 0 && stat(audit->path, &named) == 0 &&
            opened.st_ino == named.st_ino && opened.st_dev == named.st_dev)
            return fd;
        close(fd); // it was rotated meanwhile
    }
    errno = EBUSY;
    return -1;
}

static bool is_full(const struct audit *audit, int fd, size_t more)
{
    struct stat info;
    return audit->file_bytes && fstat(fd, &info) == 0 && info.st_size > 0 &&
           (uint64_t)info.st_size + more > audit->file_bytes;
}

// Removes rotated files of an earlier process that kept more of them.
static void remove_beyond(const struct audit *audit)
{
    bool found = true;
    for (int64_t i = audit->files + 1; found && i <= AUDIT_MAX_FILES; i++) {
        char path[sizeof(audit->path) + 24];
        path_of(audit, i, path, sizeof(path));
        found = unlink(path) == 0 || errno != ENOENT;
    }
}

// Drops the oldest. Called with the file locked.
static void put_aside(const struct audit *audit)
{
    char from[sizeof(audit->path) + 24], to[sizeof(audit->path) + 24];
    if (audit->files == 0 && unlink(audit->path) != 0)
        log_error("%s cannot be removed: %s", audit->path, strerror(errno));
    for (int64_t i = audit->files; i > 0; i--) {
        path_of(audit, i - 1, from, sizeof(from));
        path_of(audit, i, to, sizeof(to));
        if (rename(from, to) != 0 && errno != ENOENT)
            log_error("%s cannot be moved aside: %s", from, strerror(errno));
    }
    remove_beyond(audit);
}

static void append(const struct audit *audit, const struct buf *line)
{
    int fd = line->failed ? -1 : open_locked(audit);
    if (fd >= 0 && is_full(audit, fd, line->len)) {
        put_aside(audit);
        close(fd);
        fd = open_locked(audit);
    }
    if (fd < 0 || write(fd, line->at, line->len) != (ssize_t)line->len) // in one write: lines never
                                                                        // mix
        log_error("%s cannot be written", audit->path);
    if (fd >= 0)
        close(fd);
}

static void add_member(struct buf *line, const char *name, struct str value)
{
    buf_printf(line, ",\"%s\":", name);
    buf_json(line, value);
}

// sum: what the line counts, NULL for a single entry.
static void write_line(const struct audit *audit, const struct audit_row *row,
                       const struct refused *sum)
{
    struct buf line = {0};
    char at[CLOCK_RFC3339_SIZE];
    clock_rfc3339(row->at_ns, at);
    buf_printf(&line, "{\"at\":\"%s\"", at);
    add_member(&line, "who", row->who);
    add_member(&line, "peer", row->peer);
    add_member(&line, "action", row->action);
    add_member(&line, "object", row->object);
    buf_printf(&line, ",\"status\":%d", row->status);
    add_member(&line, "request_id", row->request_id);
    if (sum) {
        char last[CLOCK_RFC3339_SIZE];
        clock_rfc3339(sum->last_ns, last);
        buf_printf(&line, ",\"count\":%llu,\"last_at\":\"%s\"", (unsigned long long)sum->count,
                   last);
    }
    buf_puts(&line, "}\n");
    append(audit, &line);
    buf_free(&line);
}

static void write_alone(struct audit *audit, const struct audit_row *row, int64_t *id)
{
    struct err err = {0};
    if (!store_add_audit(audit->store, row, id, &err))
        log_error("the audit log misses '%.*s' by %.*s: %s", (int)row->action.len, row->action.at,
                  (int)row->who.len, row->who.at, err.msg);
    write_line(audit, row, NULL);
}

// --- refused requests ---------------------------------------------------------------------------

static struct audit_row row_of(const struct refused *refusal)
{
    return (struct audit_row){.at_ns = refusal->first_ns,
                              .who = str_of(refusal->who),
                              .peer = str_of(refusal->peer),
                              .action = str_of(refusal->action),
                              .object = str_of(refusal->object),
                              .request_id = str_of(refusal->request_id),
                              .status = refusal->status};
}

// Writes the count, and the entry itself if that failed for the first request.
static bool write_sum(const struct audit *audit, struct refused *refusal, struct err *err)
{
    struct audit_row row = row_of(refusal);
    return (refusal->row_id || store_add_audit(audit->store, &row, &refusal->row_id, err)) &&
           (refusal->count == 1 ||
            store_sum_audit(audit->store, refusal->row_id, refusal->count, refusal->last_ns, err));
}

static void sum_up(void *context, struct refused *refusal)
{
    struct err err = {0};
    if (write_sum(context, refusal, &err))
        refusal->summed = refusal->count;
    else
        log_warn("counting refused requests: %s", err.msg);
}

// Called with the lock.
static void end_hours(struct audit *audit, bool all)
{
    struct refused ended;
    while (refusals_take(audit->refusals, clock_wall_ns(), all, &ended)) {
        struct audit_row row = row_of(&ended);
        if (ended.count > ended.summed)
            sum_up(audit, &ended);
        if (ended.count > 1)
            write_line(audit, &row, &ended);
    }
}

// The first of its kind is logged at once, and its entry counts the others.
static void count_refusal(struct audit *audit, const struct audit_row *row)
{
    bool is_new;
    pthread_mutex_lock(&audit->lock);
    end_hours(audit, false);
    struct refused *refusal = refusals_count(audit->refusals, row, &is_new);
    if (is_new) {
        struct audit_row first = row_of(refusal);
        write_alone(audit, &first, &refusal->row_id);
        refusal->summed = refusal->row_id ? 1 : 0;
    }
    pthread_mutex_unlock(&audit->lock);
}

void audit_settle(struct audit *audit)
{
    if (!audit)
        return;
    pthread_mutex_lock(&audit->lock);
    end_hours(audit, false);
    refusals_each_grown(audit->refusals, sum_up, audit);
    pthread_mutex_unlock(&audit->lock);
}

void audit_close(struct audit *audit)
{
    if (!audit)
        return;
    if (audit->refusals)
        end_hours(audit, true);
    refusals_free(audit->refusals);
    pthread_mutex_destroy(&audit->lock);
    free(audit);
}

void audit_write(struct audit *audit, const struct audit_entry *entry)
{
    char object[OBJECT_ROOM]; // someone may have put a token into the address by mistake
    if (!audit)
        return;
    size_t len = secrets_redact_into(entry->object, object, sizeof(object));
    struct audit_row row = {.at_ns = clock_wall_ns(),
                            .who = entry->who,
                            .peer = entry->peer,
                            .action = entry->action,
                            .object = {object, len},
                            .request_id = entry->request_id,
                            .status = entry->status};
    if (row.status >= 400)
        count_refusal(audit, &row);
    else
        write_alone(audit, &row, NULL);
}

// --- requests -----------------------------------------------------------------------------------

void audit_name_upload(struct request *request, const struct upload *upload)
{
    struct buf text = {0};
    buf_printf(&text, "upload %.*s run %.*s", (int)upload->id.len, upload->id.at,
               (int)upload->run_id.len, upload->run_id.at);
    for (size_t i = 0; i < upload->count && text.len < OBJECT_MAX_BYTES - 80; i++)
        buf_printf(&text, " sha256 %.*s", (int)upload->traces[i].sha256.len,
                   upload->traces[i].sha256.at);
    char *copy =
        text.failed ? NULL : arena_strdup(request->arena, (struct str){text.at, text.len}, NULL);
    request->object = copy ? str_of(copy) : upload->id;
    buf_free(&text);
}

static bool names_upload(const struct request *request)
{
    return str_starts_with(request->object, STR("upload "));
}

// A piece of an upload is not logged until the last one completes it.
static bool is_piece(const struct request *request, const struct response *response)
{
    return request->is_piece && response->status == 204 && !names_upload(request);
}

// Wrong credentials have an entry already. A request without any has changed nothing, and if it
// were logged, anyone who can reach the port could fill the disk.
static bool counts(const struct request *request, const struct response *response)
{
    if (!request->route || request->who.kind == WHO_NOBODY)
        return false;
    if (request->is_download)
        return response->status == 0 || response->status < 300;
    if (request->notifies)
        return true;
    if (request->changes_nothing ||
        request_is_safe(request)) // a progress query may complete an upload
        return names_upload(request);
    return !is_piece(request, response);
}

// The address as sent, and what it refers to: "/api/v1/runs/exp42 (run r_7q2k9d0x)".
static struct str object_of(const struct request *request)
{
    struct str path = request->path, named = request->object;
    if (path.len > OBJECT_MAX_BYTES)
        path.len = OBJECT_MAX_BYTES;
    char *text = named.len ? arena_printf(request->arena, NULL, "%.*s (%.*s)", (int)path.len,
                                          path.at, (int)named.len, named.at)
                           : NULL;
    return text ? str_of(text) : path;
}

void audit_request(struct request *request, const struct response *response)
{
    struct audit *audit = request->services->audit;
    char action[128];
    if (!audit || !counts(request, response))
        return;
    snprintf(action, sizeof(action), "%.*s %s",
             (int)(request->method.len < 10 ? request->method.len : 10), request->method.at,
             request->route->pattern);
    struct audit_entry entry = {.who = request->who.name,
                                .peer = request->peer,
                                .action = str_of(action),
                                .object = object_of(request),
                                .request_id = str_of(request->id),
                                .status = response->status ? response->status : 200};
    audit_write(audit, &entry);
}
