// SPDX-License-Identifier: Apache-2.0
// Orders changes to files and rows so that a crash at any point loses nothing acknowledged.
#include "server/files/data_folder.h"
#include "server/care/care.h"

#include "ingest/base/clock.h"
#include "ingest/base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOB_PREFIX = 2, TRACE_PREFIX = 4 }; // "ab" and "t_ab" select the folder
#include "server/base/disk_fault.h"
#include "server/care/resumable_sweep.h"

// --- removing files that no row refers to --------------------------------------------------------

static bool remove_if_unnamed(const struct intake *intake, const char *sha256, struct err *err)
{
    bool named;
    return store_names_blob(intake->store, sha256, &named, err) &&
           (named || blob_remove(intake->blobs, sha256, 0, err));
}

// S3 may do a removal after it was given up, so no row may name the bytes again before it is done.
// Uploads see in keep_again, after they are recorded, what was removed before; none is waited for,
// as one may take minutes.
static bool remove_far(const struct intake *intake, const char *sha256, struct err *err)
{
    struct store_removal removal = {.sha256 = sha256};
    struct blob_key key = {BLOB_UPLOAD, sha256};
    uint64_t bytes;
    int64_t asked_s = clock_wall_ns() / 1000000000; // before it begins for the others
    // If the place does not answer, nothing begins.
    if (!blob_store_size(blob_stored(intake->blobs), key, &bytes, err))
        return err->code == ERR_NOT_FOUND;
    return store_begin_removal(intake->store, &removal, err) &&
           (!removal.begun || (blob_remove(intake->blobs, sha256, asked_s, err) &&
                               store_end_removal(intake->store, &removal, err)));
}

// Checks once more that no row names it: an upload may just have brought the same bytes.
static bool remove_unnamed(const struct intake *intake, const char *sha256, struct err *err)
{
    if (blob_is_far(intake->blobs))
        return remove_far(intake, sha256, err);
    blob_exclude(intake->blobs);
    bool ok = remove_if_unnamed(intake, sha256, err);
    blob_include(intake->blobs);
    return ok;
}

// *done false: a backup is being made; try again later. Or a flush failed: then refused rows may be
// there at the next start, so their files stay until it has checked.
static bool remove_blob(const struct intake *intake, const char *sha256, bool *done,
                        struct err *err)
{
    bool named;
    *done = disk_fault_check(blob_fault(intake->blobs), NULL);
    if (!*done)
        return true;
    if (!store_names_blob(intake->store, sha256, &named, err))
        return false;
    if (named)
        return true;
    *done = blob_begin_removals(intake->blobs);
    if (!*done)
        return true;
    bool ok = remove_unnamed(intake, sha256, err);
    blob_end_removals(intake->blobs);
    return ok;
}

static bool remove_trace(const struct intake *intake, const char *trace_id, struct err *err)
{
    bool named;
    if (!store_names_trace(intake->store, trace_id, &named, err))
        return false;
    if (!named && intake->jobs)
        jobs_cancel_trace(intake->jobs, str_of(trace_id));
    return named || blob_remove_trace(intake->blobs, trace_id, err);
}

static bool collect(const struct intake *intake, struct arena *arena, struct err *err)
{
    struct garbage *items;
    size_t count;
    if (!store_list_garbage(intake->store, arena, &items, &count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        bool done = true;
        bool ok = items[i].kind == GARBAGE_BLOB ? remove_blob(intake, items[i].name.at, &done, err)
                                                : remove_trace(intake, items[i].name.at, err);
        if (!ok || (done && !store_forget_garbage(intake->store, &items[i], err)))
            return false;
    }
    return true;
}

bool intake_collect(const struct intake *intake, struct err *err)
{
    struct arena arena;
    arena_init(&arena, NULL);
    bool ok = collect(intake, &arena, err);
    arena_free(&arena);
    return ok;
}

// --- accepting ----------------------------------------------------------------------------------

// Files first, then the rows that refer to them: a crash in between leaves a file for the next
// start to sweep, never a row without its file.
static bool keep_and_record(const struct intake *intake, const struct intake_request *request,
                            struct trace_part *parts, struct arena *arena, struct upload *upload,
                            struct err *err)
{
    for (size_t i = 0; i < request->count; i++) {
        const struct intake_part *part = &request->parts[i];
        if (!blob_spool_keep(part->spool, err))
            return false;
        parts[i] = (struct trace_part){
            .sha256 = blob_spool_sha256(part->spool),
            .bytes = (int64_t)blob_spool_bytes(part->spool),
            .filename = part->filename,
            .rank = part->rank,
            .role = part->role,
            .archive = part->archive,
        };
    }
    struct upload_request rows = {.run = request->run,
                                  .parts = parts,
                                  .count = request->count,
                                  .replace = request->replace,
                                  .owner = request->owner,
                                  .sent_bytes = request->sent_bytes,
                                  .key = request->key,
                                  .resumable_id = request->resumable_id};
    return store_add_upload(intake->store, &rows, arena, upload, err);
}

// A file that a backup holds is noted, and removed when the backup ends.
static bool drop_file(const struct intake *intake, const char *sha256, struct err *err)
{
    struct garbage item = {GARBAGE_BLOB, str_of(sha256)};
    bool done;
    return remove_blob(intake, sha256, &done, err) &&
           (done || !disk_fault_check(blob_fault(intake->blobs), NULL) ||
            store_note_garbage(intake->store, &item, err));
}

// A refused upload leaves nothing: its files already have names, but perhaps no row. From another
// machine a sweep removes them: while it does, the same bytes are refused, and they are often sent
// again at once.
static void drop_files(const struct intake *intake, const struct intake_request *request)
{
    struct err err;
    if (blob_is_far(intake->blobs))
        return;
    for (size_t i = 0; i < request->count; i++)
        if (!drop_file(intake, blob_spool_sha256(request->parts[i].spool), &err))
            log_warn("a file of a refused upload remains for now: %s", err.msg);
}

// The same bytes may have been removed, as garbage, after they were stored and before they were
// recorded.
static bool keep_again(const struct intake *intake, const struct intake_request *request,
                       struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && blob_is_far(intake->blobs) && i < request->count; i++)
        ok = blob_spool_keep_again(request->parts[i].spool, err);
    return ok;
}

bool intake_accept(const struct intake *intake, const struct intake_request *request,
                   struct arena *arena, struct upload *upload, struct err *err)
{
    struct trace_part *parts = arena_array(arena, request->count + 1, sizeof *parts, err);
    if (!parts)
        return false;
    blob_pin(intake->blobs);
    bool ok = keep_and_record(intake, request, parts, arena, upload, err) &&
              keep_again(intake, request, err);
    blob_unpin(intake->blobs);
    if (!ok)
        drop_files(intake, request);
    else if (intake->jobs)
        jobs_wake(intake->jobs);
    struct err ignored; // includes files replaced by jobs since the last time
    if (!intake_collect(intake, &ignored))
        log_warn("files of replaced traces remain: %s", ignored.msg);
    return ok;
}

// --- deleting -----------------------------------------------------------------------------------

bool intake_bin_run(const struct intake *intake, struct str run_id, int64_t expected,
                    struct str who, struct err *err)
{
    bool ok = store_bin_run(intake->store, run_id, expected, who, err) ||
              (err->code == ERR_SPACE && // the ballast just made room
               store_bin_run(intake->store, run_id, expected, who, err));
    if (ok && intake->jobs) // a restored run is read again: no two jobs may read it at once
        jobs_stop_run(intake->jobs, run_id);
    return ok;
}

bool intake_delete_run(const struct intake *intake, struct str run_id, int64_t expected,
                       struct err *err)
{
    bool ok = store_delete_run(intake->store, run_id, expected, err);
    if (!ok && err->code == ERR_SPACE) // deleting frees space, and the ballast just did
        ok = store_delete_run(intake->store, run_id, expected, err);
    if (!ok)
        return false;
    struct err ignored; // the run is gone; stubborn files are retried at the next start
    if (!intake_collect(intake, &ignored))
        log_warn("files of a deleted run remain: %s", ignored.msg);
    if (!data_folder_drop(blob_root(intake->blobs), "steps", run_id))
        log_warn("steps of a deleted run remain");
    care_wake(intake->care);
    return true;
}

// --- unreferenced files -------------------------------------------------------------------------

// Names of one folder "ab" at a time, as files are listed in that order: much faster than a query
// per file.
struct sweep {
    const struct intake *intake;
    struct arena arena; // of the names
    struct store_names names;
    char prefix[8]; // their common prefix; "" before the first
    unsigned removed;
    struct swept_folders *swept;
    struct swept_folder *folder; // the one that is looked through, in swept; NULL: it has none
};

static size_t place_of(char character)
{
    static const char all[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    const char *at = character ? strchr(all, character) : NULL;
    return at ? (size_t)(at - all) : SWEPT_CHARACTERS;
}

// A name that came within the same tick of the clock as the last one would not show.
static bool is_settled(int64_t changed_ns)
{
    enum { SETTLED_NS = 2000000000 };
    return clock_wall_ns() - changed_ns > SETTLED_NS;
}

// NULL if the name has none.
static struct swept_folder *folder_of(struct swept_folders *swept, enum blob_type type,
                                      const char *name)
{
    size_t high = place_of(name[0]), low = high == SWEPT_CHARACTERS ? high : place_of(name[1]);
    return low == SWEPT_CHARACTERS ? NULL
                                   : &swept->at[type == BLOB_TRACE][high * SWEPT_CHARACTERS + low];
}

static bool sweep_folder(void *ctx, enum blob_type type, const char *name, int64_t changed_ns)
{
    struct sweep *sweep = ctx;
    struct swept_folder *folder = sweep->folder = folder_of(sweep->swept, type, name);
    if (!folder)
        return true;
    if (changed_ns != 0 && folder->changed_ns == changed_ns) { // 0 where a place keeps no times
        folder->sweep = sweep->swept->sweeps;
        return false;
    }
    *folder = (struct swept_folder){.changed_ns = is_settled(changed_ns) ? changed_ns : 0,
                                    .sweep = sweep->swept->sweeps};
    return true;
}

// A file that stays. Places without folders do not say when one starts.
static void count_file(struct sweep *sweep, enum blob_type type, const char *shard, uint64_t bytes)
{
    struct swept_folder *folder = folder_of(sweep->swept, type, shard);
    if (!folder)
        return;
    if (folder->sweep != sweep->swept->sweeps)
        *folder = (struct swept_folder){.sweep = sweep->swept->sweeps};
    folder->files++;
    folder->bytes += bytes;
}

// It is looked through again the next time.
static void leave_unswept(struct sweep *sweep)
{
    if (sweep->folder)
        sweep->folder->changed_ns = 0;
}

static int compare_names(const void *key, const void *name)
{
    return strcmp(key, ((const struct str *)name)->at);
}

static bool look_up(struct sweep *sweep, const char *name, size_t prefix_len, bool *named,
                    struct err *err)
{
    bool ok = true;
    if (sweep->prefix[0] == '\0' || strncmp(sweep->prefix, name, prefix_len) != 0) {
        arena_free(&sweep->arena);
        arena_init(&sweep->arena, NULL);
        snprintf(sweep->prefix, sizeof sweep->prefix, "%.*s", (int)prefix_len, name);
        ok = (prefix_len == BLOB_PREFIX ? store_blobs_from : store_traces_from)(
            sweep->intake->store, str_of(sweep->prefix), &sweep->arena, &sweep->names, err);
    }
    *named =
        ok && sweep->names.count &&
        bsearch(name, sweep->names.at, sweep->names.count, sizeof *sweep->names.at, compare_names);
    return ok;
}

static bool sweep_blob(void *ctx, const char *sha256, uint64_t bytes, struct err *err)
{
    struct sweep *sweep = ctx;
    bool named, done; // if not done, the next sweep tries again
    if (!look_up(sweep, sha256, BLOB_PREFIX, &named, err))
        return false;
    if (named) {
        count_file(sweep, BLOB_UPLOAD, sha256, bytes);
        return true;
    }
    leave_unswept(sweep);
    bool ok = remove_blob(sweep->intake, sha256, &done, err);
    sweep->removed += ok && done;
    return ok;
}

static bool sweep_trace(void *ctx, const char *trace_id, uint64_t bytes, struct err *err)
{
    struct sweep *sweep = ctx;
    bool named;
    if (!look_up(sweep, trace_id, TRACE_PREFIX, &named, err))
        return false;
    if (named) {
        count_file(sweep, BLOB_TRACE, trace_id + strlen("t_"), bytes);
        return true;
    }
    leave_unswept(sweep);
    return remove_trace(sweep->intake, trace_id, err);
}

bool intake_sweep_unnamed(const struct intake *intake, struct swept_folders *swept, struct err *err)
{
    unsigned unfinished = 0;
    struct sweep sweep = {.intake = intake, .swept = swept};
    struct blob_visitor visitor = {sweep_blob, sweep_trace, &sweep, sweep_folder, &unfinished};
    arena_init(&sweep.arena, NULL);
    swept->sweeps++;
    bool ok = blob_store_each(blob_stored(intake->blobs), &visitor, err);
    if (!ok)
        leave_unswept(&sweep); // it may have more
    arena_free(&sweep.arena);
    if (sweep.removed)
        log_info("removed %u unreferenced uploaded files", sweep.removed);
    if (unfinished)
        log_info("removed %u unfinished files among the stored ones", unfinished);
    return ok;
}

void swept_count(const struct swept_folders *swept, enum blob_type type, uint64_t *files,
                 uint64_t *bytes)
{
    *files = *bytes = 0;
    for (size_t i = 0; i < SWEPT_FOLDERS; i++) {
        const struct swept_folder *folder = &swept->at[type == BLOB_TRACE][i];
        if (folder->sweep == swept->sweeps) {
            *files += folder->files;
            *bytes += folder->bytes;
        }
    }
}

bool intake_sweep(const struct intake *intake, struct err *err)
{
    unsigned removed;
    if (!blob_sweep_spool(intake->blobs, &removed, err))
        return false;
    if (removed)
        log_info("removed %u unfinished files of an earlier process", removed);
    // Care does the rest: a service also starts while the place of its files is out of reach.
    return blob_is_far(intake->blobs) ||
           (intake_collect(intake, err) && resumable_sweep_files(intake, err));
}
