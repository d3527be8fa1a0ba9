// SPDX-License-Identifier: Apache-2.0
#include "server/collect/send_file.h"

#include "server/collect/found_files.h"
#include "server/collect/stop_signal.h"
#include "server/files/hasher.h"
#include "server/base/base64.h"

#include "ingest/base/fd_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define TUS_HEADER "Tus-Resumable: 1.0.0"
enum { BLOCK_BYTES = 1 << 20, ANSWER_SECONDS = 60, MOST_STARTS = 4 };

struct sending {
    const struct send_target *target;
    struct send_result *result;
    int fd;
    uint64_t bytes;
    struct timespec changed; // when it was opened
    struct buf metadata;     // a header
    char location[256];      // of the upload; "": none yet
    uint64_t at;             // bytes that the hub has
    int starts;
    bool has_sent; // something, in this process
    bool done;
};

// --- the file -----------------------------------------------------------------------------------

static bool open_file(struct sending *sending, const char *path, struct err *err)
{
    struct stat info;
    sending->fd = found_files_open(path, err);
    if (sending->fd < 0)
        return false;
    if (fstat(sending->fd, &info) != 0)
        return err_set_errno(err, "cannot open it");
    if (info.st_size == 0)
        return err_set(err, ERR_FORMAT, "found an empty file, expected one with something in it");
    sending->bytes = (uint64_t)info.st_size;
    sending->changed = info.st_mtim;
    return true;
}

static bool is_unchanged(const struct sending *sending, struct err *err)
{
    struct stat info;
    bool same = fstat(sending->fd, &info) == 0 && (uint64_t)info.st_size == sending->bytes &&
                info.st_mtim.tv_sec == sending->changed.tv_sec &&
                info.st_mtim.tv_nsec == sending->changed.tv_nsec;
    return same || err_set(err, ERR_CONFLICT, "it changed while it was sent");
}

static bool hash_file(struct sending *sending, struct err *err)
{
    char *block = malloc(BLOCK_BYTES);
    struct stop_signal *stop = sending->target->hub->stop;
    struct hasher *hasher = block ? hasher_new(err) : NULL;
    bool ok = hasher || (!block && err_set(err, ERR_MEMORY, "out of memory"));
    for (uint64_t at = 0; ok && at < sending->bytes;) {
        ssize_t got = fd_read_at(sending->fd, block, BLOCK_BYTES, at);
        ok = got > 0 ? hasher_add(hasher, block, (size_t)got, err)
                     : err_set(err, ERR_IO, "the file cannot be read, or shrank meanwhile");
        at += got > 0 ? (uint64_t)got : 0;
        if (ok && stop && stop_signal_now(stop))
            ok = err_set(err, ERR_CANCELLED, "stopped");
    }
    ok = ok && hasher_end(hasher, sending->result->sha256, err);
    hasher_free(hasher);
    free(block);
    return ok && is_unchanged(sending, err);
}

// --- its description ----------------------------------------------------------------------------

static void add_pair(struct buf *out, const char *name, struct str value)
{
    if (!value.len)
        return;
    buf_puts(out, out->len && out->at[out->len - 1] != ' ' ? "," : "");
    buf_printf(out, "%s ", name);
    base64_encode(value, out);
}

// "a=1,b=2" goes as lines.
static void add_meta(struct buf *out, const char *meta)
{
    struct buf lines = {0};
    buf_puts(&lines, meta ? meta : "");
    for (size_t i = 0; i < lines.len; i++)
        if (lines.at[i] == ',')
            lines.at[i] = '\n';
    add_pair(out, "meta", (struct str){lines.at, lines.len});
    out->failed |= lines.failed;
    buf_free(&lines);
}

static bool describe(struct sending *sending, const char *name, struct err *err)
{
    const struct send_target *target = sending->target;
    struct buf *out = &sending->metadata;
    buf_puts(out, "Upload-Metadata: ");
    add_pair(out, "run", str_of(target->run));
    add_pair(out, "filename", str_of(name));
    add_pair(out, "project", str_of(target->project));
    add_pair(out, "role", str_of(target->role));
    add_pair(out, "replace", str_of(target->replace ? "true" : NULL));
    add_meta(out, target->meta);
    return buf_ok(out, err);
}

// The same file for the same run has the same key, also after this process has died; a refused
// upload is started again with another.
static bool make_key(const struct sending *sending, struct buf *out, struct err *err)
{
    char of_metadata[HASHER_TEXT_SIZE];
    struct hasher *hasher = hasher_new(err);
    bool ok = hasher && hasher_add(hasher, sending->metadata.at, sending->metadata.len, err) &&
              hasher_end(hasher, of_metadata, err);
    hasher_free(hasher);
    if (!ok)
        return false;
    buf_printf(out, "Idempotency-Key: %.32s-%.32s", sending->result->sha256, of_metadata);
    if (sending->starts > 1)
        buf_printf(out, "-%llx.%d", (unsigned long long)getpid(), sending->starts);
    return buf_ok(out, err);
}

// --- steps of the protocol ----------------------------------------------------------------------

static void keep(struct str value, char *text, size_t size)
{
    snprintf(text, size, "%.*s", (int)(value.len < size ? value.len : size - 1),
             value.at ? value.at : "");
}

// What the upload became, when an answer says so.
static bool take_result(struct sending *sending)
{
    const struct http_answer *answer = &sending->target->hub->answer;
    struct str upload = http_answer_header(answer, "Upload-Result");
    if (!upload.at)
        return false;
    keep(upload, sending->result->upload, sizeof sending->result->upload);
    keep(http_answer_header(answer, "Upload-Run"), sending->result->run_id,
         sizeof sending->result->run_id);
    sending->done = true;
    return true;
}

static bool start(struct sending *sending, struct err *err)
{
    struct remote_hub *hub = sending->target->hub;
    struct buf key = {0};
    char length[64];
    if (sending->starts++ >= MOST_STARTS)
        return err_set(err, ERR_BUSY, "the service keeps dropping the upload");
    snprintf(length, sizeof length, "Upload-Length: %llu", (unsigned long long)sending->bytes);
    bool ok = make_key(sending, &key, err);
    const struct hub_call call = {.method = "POST",
                                  .path = "/api/v1/tus",
                                  .headers = {TUS_HEADER, length, sending->metadata.at, key.at},
                                  .timeout_s = ANSWER_SECONDS};
    ok = ok && remote_hub_ask(hub, &call, err);
    buf_free(&key);
    if (!ok)
        return false;
    sending->at = 0;
    if (hub->answer.status == 409 && remote_hub_says(hub, "key-reused") && take_result(sending)) {
        sending->result->was_there = true;
        return true;
    }
    if (hub->answer.status != 201)
        return remote_hub_refused(hub, err);
    keep(http_answer_header(&hub->answer, "Location"), sending->location, sizeof sending->location);
    return sending->location[0] ||
           err_set(err, ERR_BUSY, "the service gave the upload no Location");
}

// An upload of an earlier process may have been refused, for a reason that has passed.
static bool start_again(struct sending *sending, struct err *err)
{
    bool refused = sending->target->hub->answer.status == 410 && sending->has_sent;
    if (refused)
        return remote_hub_refused(sending->target->hub, err);
    return start(sending, err);
}

static bool look_at_offset(struct sending *sending, struct err *err)
{
    struct remote_hub *hub = sending->target->hub;
    int64_t offset;
    const struct hub_call call = {.method = "HEAD",
                                  .path = sending->location,
                                  .headers = {TUS_HEADER},
                                  .timeout_s = ANSWER_SECONDS};
    if (!remote_hub_ask(hub, &call, err))
        return false;
    if (hub->answer.status == 404 || hub->answer.status == 410)
        return start_again(sending, err);
    if (hub->answer.status != 200 && hub->answer.status != 204)
        return remote_hub_refused(hub, err);
    if (take_result(sending))
        return true;
    if (!str_to_i64(http_answer_header(&hub->answer, "Upload-Offset"), &offset) || offset < 0 ||
        (uint64_t)offset > sending->bytes)
        return err_set(err, ERR_BUSY, "the service gave no valid Upload-Offset");
    sending->at = (uint64_t)offset;
    return true;
}

// The rest of the file in one request. False with ERR_BUSY: look where it stopped, later.
static bool send_rest(struct sending *sending, struct err *err)
{
    struct remote_hub *hub = sending->target->hub;
    char offset[64];
    snprintf(offset, sizeof offset, "Upload-Offset: %llu", (unsigned long long)sending->at);
    const struct hub_call call = {
        .method = "PATCH",
        .path = sending->location,
        .headers = {TUS_HEADER, offset, "Content-Type: application/offset+octet-stream"},
        .fd = sending->fd,
        .file_at = sending->at,
        .file_bytes = sending->bytes - sending->at};
    sending->has_sent = true;
    if (!remote_hub_try(hub, &call, err))
        return false;
    if (hub->answer.status / 100 == 2)
        return take_result(sending) ||
               err_set(err, ERR_BUSY, "the service does not have all bytes yet");
    if (hub->answer.status == 404 || remote_hub_says(hub, "offset") ||
        remote_hub_says(hub, "expired"))
        return err_set(err, ERR_BUSY, "the service has other bytes than expected");
    return remote_hub_refused(hub, err);
}

static bool send_all(struct sending *sending, struct err *err)
{
    struct hub_patience patience = {0};
    uint64_t best = 0;
    if (!start(sending, err))
        return false;
    while (!sending->done) {
        if (!look_at_offset(sending, err))
            return false;
        if (sending->at > best) // progress renews patience
            patience = (struct hub_patience){0};
        best = sending->at > best ? sending->at : best;
        if (sending->done || !sending->location[0])
            continue;
        if (!is_unchanged(sending, err))
            return false;
        if (!send_rest(sending, err) &&
            (err->code != ERR_BUSY || !remote_hub_wait(sending->target->hub, &patience, err)))
            return false;
    }
    return true;
}

bool send_file(const struct send_target *target, const char *path, const char *name,
               struct send_result *result, struct err *err)
{
    struct sending sending = {.target = target, .result = result, .fd = -1};
    *result = (struct send_result){0};
    bool ok = open_file(&sending, path, err) && hash_file(&sending, err) &&
              describe(&sending, name, err) && send_all(&sending, err);
    if (sending.fd >= 0)
        close(sending.fd);
    buf_free(&sending.metadata);
    return ok;
}
