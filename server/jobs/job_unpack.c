// SPDX-License-Identifier: Apache-2.0
// The child process writes members into a nameless file; the service stores them as blobs, a few at
// a time, with their rows.
#include "server/jobs/job_unpack.h"

#include "server/jobs/job_input.h"
#include "server/jobs/members.h"
#include "server/jobs/windows.h"
#include "server/store/store_access.h"
#include "server/store/store_inputs.h"

#include "ingest/base/fd_io.h"
#include "ingest/base/log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BATCH_BYTES ((uint64_t)256 << 20)
#define BLOCK_BYTES ((size_t)256 << 10)

enum { BATCH_MEMBERS = 32 };

struct unpacking {
    struct job_site *site;
    const struct job *job;
    struct progress *progress;
    struct arena arena;
    struct unpack_state state;
    int input, bytes, list;
    uint64_t room; // for members
    struct member_list members;
    const struct str *windows; // of members
    char *block;
};

// --- room ---------------------------------------------------------------------------------------

static uint64_t left_of(int64_t own, int64_t otherwise, int64_t used)
{
    int64_t limit = own >= 0 ? own : otherwise;
    if (limit <= 0)
        return UINT64_MAX;
    return limit > used ? (uint64_t)(limit - used) : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// Bytes that members may take, by free disk space and the quotas of the archive's owner.
static bool find_room(struct unpacking *unpacking, struct err *err)
{
    const struct jobs_config *config = unpacking->site->config;
    const struct unpack_state *state = &unpacking->state;
    struct quota_use use = {0};
    uint64_t free_bytes;
    if (!blob_free_bytes(config->blobs, &free_bytes, err))
        return false;
    unpacking->room = free_bytes > config->min_free_bytes ? free_bytes - config->min_free_bytes : 0;
    if (state->owner.len == 0)
        return true;
    if (!store_quota_use(config->store, state->owner, store_today(), &use, err))
        return false;
    uint64_t stored =
        left_of(state->limits.stored_bytes, config->quota.stored_bytes, use.stored_bytes);
    uint64_t day = left_of(state->limits.day_bytes, config->quota.day_bytes, use.day_bytes);
    // The archive's own bytes are counted already and will be deleted.
    stored = stored == UINT64_MAX ? stored : stored + (uint64_t)unpacking->job->bytes;
    day = day == UINT64_MAX ? day : day + (uint64_t)unpacking->job->bytes;
    unpacking->room = least(unpacking->room, least(stored, day));
    return true;
}

// --- the process --------------------------------------------------------------------------------

static bool open_files(struct unpacking *unpacking, struct err *err)
{
    const struct jobs_config *config = unpacking->site->config;
    const struct job *job = unpacking->job;
    unpacking->block = malloc(BLOCK_BYTES);
    if (!unpacking->block)
        return err_set(err, ERR_MEMORY, "out of memory");
    return job_input_open(config, job, &unpacking->input, err) &&
           job_input_check(config, job, unpacking->input, unpacking->progress, err) &&
           (unpacking->bytes = blob_scratch(config->blobs, err)) >= 0 &&
           (unpacking->list = blob_scratch(config->blobs, err)) >= 0;
}

static bool run_child(struct unpacking *unpacking, struct job_death *death, struct err *err)
{
    struct job_site *site = unpacking->site;
    const struct job *job = unpacking->job;
    int64_t seconds = job_trace_seconds(site->config, job->bytes);
    struct job_child_task task = {
        .files = {.input = unpacking->input, .kept = -1, .keep = unpacking->bytes},
        .tables = unpacking->list,
        .cores = site->cores,
        .cores_fd = site->cores_fd,
        .limit_ns = seconds * 1000000000,
        .progress = unpacking->progress,
        .job_id = job->id};
    struct job_reply reply;
    task.order = job_trace_order(site->config, &task.files, seconds, job->bytes);
    task.order.unpacks = true;
    task.order.filename = job->filename;
    task.order.unpack_bytes = unpacking->room;
    // Twice the room: parts of sets leave holes in the file.
    task.order.file_bytes =
        2 * least(unpacking->room, INT64_MAX / 2 - MEMBER_LIST_MAX_BYTES) + MEMBER_LIST_MAX_BYTES;
    if (!job_child_run(&task, &reply, death, err))
        return false;
    job_tell_walls(site, reply.walls);
    if (!reply.ok)
        *err = reply.err;
    return reply.ok;
}

// An invalid list is as bad as none.
static bool read_list(struct unpacking *unpacking, struct job_death *death, struct err *err)
{
    struct stat info;
    if (fstat(unpacking->bytes, &info) != 0)
        return err_set_errno(err, "reading the members");
    if (member_list_read(unpacking->list, (uint64_t)info.st_size, &unpacking->arena,
                         &unpacking->members, err))
        return true;
    if (err->code == ERR_FORMAT) {
        death->verb = "ended without a result";
        snprintf(death->detail, sizeof death->detail, "%.100s", err->msg);
    }
    return false;
}

// --- storing ------------------------------------------------------------------------------------

struct batch {
    struct spool *spools[BATCH_MEMBERS];
    struct new_member members[BATCH_MEMBERS];
    size_t count;
    uint64_t bytes;
};

static bool copy(struct unpacking *unpacking, const struct member *member, struct spool *spool,
                 struct err *err)
{
    for (uint64_t at = 0; at < member->bytes;) {
        uint64_t left = member->bytes - at;
        size_t size = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
        ssize_t got = fd_read_at(unpacking->bytes, unpacking->block, size, member->at + at);
        if (got < 0)
            return err_set_errno(err, "reading a member");
        if (got == 0)
            return err_set(err, ERR_IO, "the file of members ends within one");
        if (!blob_spool_write(spool, unpacking->block, (size_t)got, err))
            return false;
        at += (uint64_t)got;
    }
    return blob_spool_seal(spool, err);
}

static struct new_member row_of(const struct unpacking *unpacking, size_t index)
{
    static const enum input_kind kinds[] = {[MEMBER_TRACE] = INPUT_TRACE,
                                            [MEMBER_ATTACHMENT] = INPUT_ATTACHMENT,
                                            [MEMBER_SKIPPED] = INPUT_SKIPPED};
    const struct member *member = &unpacking->members.at[index];
    return (struct new_member){
        .position = (int64_t)index,
        .kind = kinds[member->kind],
        .filename = member->name,
        .format = member->format,
        .window = unpacking->windows[index],
        .process = member->process,
        .is_repeat = member->is_repeat,
        .sha256 = "",
        .bytes = (int64_t)member->bytes,
        .secrets = member->secrets,
        .failed = member->failed,
        .reason = member->reason,
    };
}

// One process of the file itself: "job.sqlite/process0".
static bool take_file(struct unpacking *unpacking, struct new_member *row, struct err *err)
{
    struct str file = unpacking->job->filename, name = row->filename;
    char *path = arena_printf(&unpacking->arena, err, "%.*s%s%.*s", (int)file.len,
                              file.len ? file.at : "", file.len ? "/" : "", (int)name.len, name.at);
    row->sha256 = unpacking->job->sha256.at;
    row->bytes = unpacking->job->bytes;
    row->filename = path ? str_of(path) : name;
    return path;
}

static bool add_to_batch(struct unpacking *unpacking, struct batch *batch, size_t index,
                         struct err *err)
{
    const struct member *member = &unpacking->members.at[index];
    struct new_member *row = &batch->members[batch->count];
    struct spool **spool = &batch->spools[batch->count++];
    *row = row_of(unpacking, index);
    *spool = NULL;
    batch->bytes += member->bytes;
    if (member->kind == MEMBER_SKIPPED)
        return true;
    if (!member->bytes)
        return take_file(unpacking, row, err);
    *spool = blob_spool_open(unpacking->site->config->blobs, member->bytes, err);
    if (!*spool || !copy(unpacking, member, *spool, err))
        return false;
    row->sha256 = blob_spool_sha256(*spool);
    return true;
}

// After their rows were committed: until then they may have been removed as garbage.
static bool keep_again(struct unpacking *unpacking, struct batch *batch, struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && blob_is_far(unpacking->site->config->blobs) && i < batch->count; i++)
        ok = !batch->spools[i] || blob_spool_keep_again(batch->spools[i], err);
    return ok;
}

// Files first, then their rows: files without rows are deleted later.
static bool keep_batch(struct unpacking *unpacking, struct batch *batch, struct err *err)
{
    const struct jobs_config *config = unpacking->site->config;
    bool ok = true;
    blob_pin(config->blobs);
    for (size_t i = 0; ok && i < batch->count; i++)
        ok = !batch->spools[i] || blob_spool_keep(batch->spools[i], err);
    ok = ok &&
         store_add_members(config->store, unpacking->job, batch->members, batch->count, err) &&
         keep_again(unpacking, batch, err);
    blob_unpin(config->blobs);
    return ok;
}

static bool fill_batch(struct unpacking *unpacking, struct batch *batch, size_t *index,
                       struct err *err)
{
    size_t count = unpacking->members.count;
    while (*index < count && batch->count < BATCH_MEMBERS && batch->bytes < BATCH_BYTES)
        if (!add_to_batch(unpacking, batch, (*index)++, err))
            return false;
    return true;
}

// Frees the disk space of stored members; filesystems that cannot punch holes need it twice.
static void forget_bytes(const struct unpacking *unpacking, size_t index)
{
    const struct member *last = &unpacking->members.at[index - 1];
    off_t end = (off_t)(last->at + last->bytes);
    if (end)
        (void)fallocate(unpacking->bytes, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, end);
}

static bool store_batch(struct unpacking *unpacking, size_t *index, struct err *err)
{
    struct batch batch = {.count = 0};
    bool ok = job_room_check(unpacking->site->config, "unpack the archive", err) &&
              fill_batch(unpacking, &batch, index, err) && keep_batch(unpacking, &batch, err);
    for (size_t i = 0; i < batch.count; i++)
        blob_spool_close(batch.spools[i]);
    if (ok)
        forget_bytes(unpacking, *index);
    return ok;
}

// The last ones of an attempt that was cut off may be missing if they are far away: they are stored
// again.
static size_t first_to_store(const struct unpacking *unpacking)
{
    size_t stored = (size_t)unpacking->state.stored;
    if (!blob_is_far(unpacking->site->config->blobs))
        return stored;
    return stored > BATCH_MEMBERS ? stored - BATCH_MEMBERS : 0;
}

static bool store_members(struct unpacking *unpacking, struct err *err)
{
    size_t index = first_to_store(unpacking);
    unpacking->windows = windows_of(&unpacking->members, &unpacking->arena, err);
    if (!unpacking->windows)
        return false;
    while (index < unpacking->members.count) {
        if (unpacking->progress->cancel)
            return err_set(err, ERR_CANCELLED, "cancelled while its members were stored");
        if (!store_batch(unpacking, &index, err))
            return false;
        jobs_wake(unpacking->site->jobs); // for the new traces
    }
    return true;
}

// --- the end ------------------------------------------------------------------------------------

// In these cases the archive is kept for another try.
static bool may_pass(const struct err *end)
{
    return end->code == ERR_SPACE || end->code == ERR_MEMORY || end->code == ERR_IO;
}

static bool finish(struct unpacking *unpacking, struct err *err)
{
    const struct member_list *members = &unpacking->members;
    struct str reason = members->end.code ? str_of(members->end.msg)
                        : members->count  ? STR("")
                                          : STR("found an archive without files");
    if (may_pass(&members->end)) {
        *err = members->end;
        return false;
    }
    return store_finish_unpack(unpacking->site->config->store, unpacking->job, reason, err);
}

static bool keep_attachment(struct unpacking *unpacking, struct spool *spool, struct err *err)
{
    const struct jobs_config *config = unpacking->site->config;
    struct new_member row = row_of(unpacking, 0);
    row.sha256 = blob_spool_sha256(spool);
    blob_pin(config->blobs);
    bool ok = blob_spool_keep(spool, err) &&
              store_unpack_as_attachment(config->store, unpacking->job, &row, err);
    struct err why; // the job is done, whatever comes now
    if (ok && blob_is_far(config->blobs) && !blob_spool_keep_again(spool, &why))
        log_warn("an attachment of %s may be missing: %s", unpacking->job->run_id.at, why.msg);
    blob_unpin(config->blobs);
    return ok;
}

// The file itself is an attachment that says something about the run.
static bool store_attachment(struct unpacking *unpacking, struct err *err)
{
    static const struct str no_window = {"", 0};
    const struct member *member = &unpacking->members.at[0];
    unpacking->windows = &no_window;
    struct spool *spool = blob_spool_open(unpacking->site->config->blobs, member->bytes, err);
    bool ok =
        spool && copy(unpacking, member, spool, err) && keep_attachment(unpacking, spool, err);
    blob_spool_close(spool);
    if (ok)
        jobs_wake(unpacking->site->jobs);
    return ok;
}

static bool store_all(struct unpacking *unpacking, struct err *err)
{
    const struct member_list *members = &unpacking->members;
    if (members->count == 1 && members->at[0].name.len == 0 &&
        members->at[0].kind == MEMBER_ATTACHMENT)
        return store_attachment(unpacking, err);
    if (members->count == 1 && members->at[0].name.len == 0)
        return store_unpack_as_trace(unpacking->site->config->store, unpacking->job, err);
    return store_members(unpacking, err) && finish(unpacking, err);
}

bool job_unpack_run(struct job_site *site, const struct job *job, struct progress *progress,
                    struct job_death *death, struct err *err)
{
    struct unpacking unpacking = {
        .site = site, .job = job, .progress = progress, .input = -1, .bytes = -1, .list = -1};
    arena_init(&unpacking.arena, NULL);
    bool ok =
        store_begin_unpack(site->config->store, job, &unpacking.arena, &unpacking.state, err) &&
        find_room(&unpacking, err) && open_files(&unpacking, err) &&
        run_child(&unpacking, death, err) && read_list(&unpacking, death, err) &&
        store_all(&unpacking, err);
    const int fds[] = {unpacking.input, unpacking.bytes, unpacking.list};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(unpacking.block);
    arena_free(&unpacking.arena);
    return ok;
}
