// SPDX-License-Identifier: Apache-2.0
// Rows first, so that it is known which files there are; then files, each read again where it was
// copied to; then every row is compared. Services start on the target once all of this is done.
#include "server/care/copy.h"

#include "server/care/progress.h"
#include "server/files/blob.h"
#include "server/files/data_folder.h"
#include "server/files/file_copy.h"
#include "server/files/scrub.h"
#include "server/store/store_copy.h"

#include "ingest/base/buf.h"
#include "ingest/base/clock.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLACE_SIZE = 4096 };

struct copying {
    const struct copy_request *request;
    struct store_copy *rows;
    struct blobs *folders[2]; // of both sides, locked
    struct blob_store *from, *to;
    struct disk_fault fault;
    char from_store[PLACE_SIZE], to_store[PLACE_SIZE];
    char scratch[PLACE_SIZE]; // what comes from S3 passes here; "" not made
    bool same_files;          // both sides have one place
    uint64_t files, bytes, copied, damaged;
    struct progress progress;
    const char *doing;
};

// --- progress -----------------------------------------------------------------------------------

static void tell_rows(void *context, const char *table, uint64_t rows)
{
    struct copying *copying = context;
    if (!progress_is_due(&copying->progress))
        return;
    fprintf(copying->progress.out, "%s rows: %" PRIu64 ", in %s", copying->doing, rows, table);
    progress_end_line(&copying->progress);
}

static void tell_files(struct copying *copying)
{
    if (!progress_is_due(&copying->progress))
        return;
    fprintf(copying->progress.out, "copying files: %" PRIu64 " of %.1f MB", copying->files,
            (double)copying->bytes / 1e6);
    progress_end_line(&copying->progress);
}

// --- files --------------------------------------------------------------------------------------

static bool tell_damage(struct copying *copying, const char *name, const char *damage)
{
    copying->damaged++;
    fprintf(copying->request->out, "file %s of the source %s\n", name, damage);
    return true;
}

static bool check_taken(struct copying *copying, const struct store_blob *blob, struct err *err)
{
    static const struct scrub_pace pace = {.past_cache = true};
    char damage[STORE_DAMAGE_SIZE];
    return scrub_file(copying->to, blob, &pace, damage, err) &&
           (!damage[0] || err_set(err, ERR_IO, "file %s, just copied, %s", blob->sha256, damage));
}

// What is damaged stays where it is; the rest is still worth having.
static bool take_blob(struct copying *copying, const struct store_blob *blob, struct err *err)
{
    static const struct scrub_pace pace = {0};
    char damage[STORE_DAMAGE_SIZE];
    struct blob_key key = {BLOB_UPLOAD, blob->sha256};
    if (!scrub_file(copying->from, blob, &pace, damage, err))
        return false;
    if (damage[0])
        return tell_damage(copying, blob->sha256, damage);
    copying->copied++;
    return blob_store_take(copying->to, key, copying->from, err) && check_taken(copying, blob, err);
}

static bool is_there(struct copying *copying, const struct store_blob *blob, bool *there,
                     struct err *err)
{
    static const struct scrub_pace pace = {.past_cache = true};
    char damage[STORE_DAMAGE_SIZE];
    uint64_t bytes;
    *there = false;
    if (!blob_store_size(copying->to, (struct blob_key){BLOB_UPLOAD, blob->sha256}, &bytes, err))
        return err->code == ERR_NOT_FOUND;
    if (bytes != (uint64_t)blob->bytes)
        return true;
    bool ok = scrub_file(copying->to, blob, &pace, damage, err);
    *there = ok && !damage[0];
    return ok;
}

static bool copy_blob(void *context, const struct store_blob *blob, struct err *err)
{
    struct copying *copying = context;
    bool there;
    copying->files++;
    copying->bytes += (uint64_t)blob->bytes;
    tell_files(copying);
    if (!is_there(copying, blob, &there, err))
        return false;
    if (there)
        return true;
    return copying->same_files ? tell_damage(copying, blob->sha256, "is missing or damaged")
                               : take_blob(copying, blob, err);
}

// Traces can be made again: a missing one is no problem, and their length tells whether they are
// there.
static bool copy_trace(void *context, const char *trace_id, struct err *err)
{
    struct copying *copying = context;
    struct blob_key key = {BLOB_TRACE, trace_id};
    uint64_t here, there;
    tell_files(copying);
    if (!blob_store_size(copying->from, key, &here, err))
        return err->code == ERR_NOT_FOUND;
    if (blob_store_size(copying->to, key, &there, err) && here == there)
        return true;
    return blob_store_take(copying->to, key, copying->from, err) || err->code == ERR_NOT_FOUND;
}

static bool flush_folder(const struct copy_side *side, struct err *err)
{
    const char *folder = side->blobs ? side->blobs : side->folder;
    return strstr(folder, "://") || folder_flush(folder, err);
}

static bool copy_files(struct copying *copying, struct err *err)
{
    return store_each_blob(copying->from_store, copy_blob, copying, err) &&
           (copying->same_files ||
            store_each_trace(copying->from_store, copy_trace, copying, err)) &&
           flush_folder(&copying->request->to, err);
}

// --- whose files these are ----------------------------------------------------------------------

static bool found_one(void *ctx, const char *name, uint64_t bytes, struct err *err)
{
    (void)ctx, (void)bytes;
    return err_set(err, ERR_CONFLICT,
                   "the target's file store has other files (%.14s...), expected an empty one",
                   name);
}

static bool check_no_files(struct copying *copying, struct err *err)
{
    struct blob_visitor visitor = {.blob = found_one, .trace = found_one};
    return blob_store_each(copying->to, &visitor, err);
}

// A place that is not the target's yet must be empty and belong to no one.
static bool check_place(struct copying *copying, const char *mark, struct err *err)
{
    bool has_mark;
    if (copying->same_files)
        return true;
    if (!mark[0])
        return check_no_files(copying, err);
    return store_copy_has_mark(copying->rows, &has_mark, err) &&
           (has_mark ||
            err_set(err, ERR_CONFLICT,
                    "the target's file store belongs to another database (its \"" BLOB_MARK
                    "\" is %s), expected an empty one",
                    mark));
}

// The place gets the mark that services of the target's database look for.
static bool mark_files(struct copying *copying, struct err *err)
{
    char mark[BLOB_MARK_SIZE], own[STORE_ID_SIZE], kept[STORE_ID_SIZE];
    if (!blob_store_read_mark(copying->to, mark, err) || !store_new_name(own, err) ||
        !check_place(copying, mark, err) ||
        !store_copy_keep_mark(copying->rows, mark[0] ? mark : own, kept, err))
        return false;
    if (mark[0])
        return strcmp(mark, kept) == 0 ||
               err_set(err, ERR_CONFLICT,
                       "the target's file store is not the one that the copy started with");
    return blob_store_write_mark(copying->to, kept, err);
}

// --- both sides ---------------------------------------------------------------------------------

static bool write_store(const struct copy_side *side, char place[PLACE_SIZE], struct err *err)
{
    int len = side->store ? snprintf(place, PLACE_SIZE, "%s", side->store)
                          : snprintf(place, PLACE_SIZE, "%s/stepscope.db", side->folder);
    return (len > 0 && len < PLACE_SIZE) || err_set(err, ERR_USAGE, "a place is too long");
}

// No service may use a folder meanwhile. A source without a database is refused before anything is
// created in it.
static bool lock_folder(const struct copy_side *side, bool is_target, struct blobs **folder,
                        struct err *err)
{
    char path[PLACE_SIZE];
    if (!side->folder)
        return true;
    snprintf(path, sizeof path, "%s/stepscope.db", side->folder);
    if (!is_target && access(path, F_OK) != 0)
        return err_set(err, ERR_NOT_FOUND, "found no database %.200s", path);
    if (is_target && !folder_make(side->folder, err))
        return false;
    *folder = blob_open(side->folder, err);
    return *folder;
}

// The folder is locked, so one that exists was left by an interrupted copy.
static bool make_scratch(struct copying *copying, struct err *err)
{
    const struct copy_side *from = &copying->request->from, *to = &copying->request->to;
    const char *tmp = getenv("TMPDIR"), *folder = to->folder ? to->folder : from->folder;
    int len = folder ? snprintf(copying->scratch, PLACE_SIZE, "%s/copy.scratch", folder)
                     : snprintf(copying->scratch, PLACE_SIZE, "%s/stepscope-copy.XXXXXX",
                                tmp ? tmp : "/tmp");
    bool fits = len > 0 && len < PLACE_SIZE;
    if (fits && (folder ? mkdir(copying->scratch, 0700) == 0 || errno == EEXIST
                        : mkdtemp(copying->scratch) != NULL))
        return true;
    err_set_errno(err, "the folder %.200s", copying->scratch);
    copying->scratch[0] = '\0';
    return false;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info, (void)type, (void)at;
    return remove(path);
}

static void remove_scratch(const struct copying *copying)
{
    enum { OPEN_FOLDERS = 8 };
    if (copying->scratch[0])
        nftw(copying->scratch, remove_one, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

static struct blob_store *open_files(struct copying *copying, const struct copy_side *side,
                                     const char *name, struct err *err)
{
    struct buf place = {0};
    const char *chosen = side->blobs ? side->blobs : side->folder;
    buf_puts(&place, chosen);
    if (strstr(chosen, "://"))
        buf_printf(&place, "%s" BLOB_KEEP_FREE "0&cache=%s/%s", strchr(chosen, '?') ? "" : "?",
                   copying->scratch, name);
    struct blob_store *store =
        buf_ok(&place, err) ? blob_store_open(place.at, &copying->fault, err) : NULL;
    buf_free(&place);
    return store;
}

// However the places are written: one that services have used has a unique mark.
static bool find_same_files(struct copying *copying, struct err *err)
{
    char marks[2][BLOB_MARK_SIZE];
    const char *from = copying->request->from.blobs, *to = copying->request->to.blobs;
    if (!blob_store_read_mark(copying->from, marks[0], err) ||
        !blob_store_read_mark(copying->to, marks[1], err))
        return false;
    copying->same_files =
        (marks[0][0] && strcmp(marks[0], marks[1]) == 0) || (from && to && strcmp(from, to) == 0);
    return true;
}

static bool open_both(struct copying *copying, struct err *err)
{
    const struct copy_side *from = &copying->request->from, *to = &copying->request->to;
    if (!write_store(from, copying->from_store, err) || !write_store(to, copying->to_store, err) ||
        !lock_folder(from, false, &copying->folders[0], err) ||
        !lock_folder(to, true, &copying->folders[1], err) || !make_scratch(copying, err))
        return false;
    copying->from = open_files(copying, from, "from", err);
    copying->to = copying->from ? open_files(copying, to, "to", err) : NULL;
    if (!copying->to || !find_same_files(copying, err))
        return false;
    copying->rows = store_copy_open(copying->from_store, copying->to_store, err);
    return copying->rows != NULL;
}

static void close_both(struct copying *copying)
{
    store_copy_close(copying->rows);
    blob_store_close(copying->from);
    blob_store_close(copying->to);
    for (int i = 0; i < 2; i++)
        blob_close(copying->folders[i]);
    remove_scratch(copying);
}

static bool copy_all(struct copying *copying, uint64_t *rows, struct err *err)
{
    struct store_copy_watch watch = {tell_rows, copying};
    copying->doing = "copying";
    if (!mark_files(copying, err) || !store_copy_rows(copying->rows, &watch, err) ||
        !copy_files(copying, err))
        return false;
    copying->doing = "comparing";
    return store_copy_compare(copying->rows, &watch, rows, err) &&
           store_copy_end(copying->rows, err);
}

bool copy_service(const struct copy_request *request, struct err *err)
{
    struct copying copying = {.request = request, .progress = {.out = request->out}};
    uint64_t rows = 0;
    bool ok = open_both(&copying, err) && copy_all(&copying, &rows, err);
    close_both(&copying);
    if (!ok)
        return false;
    fprintf(request->out,
            "%" PRIu64 " rows are the same; %" PRIu64 " files of %.1f MB, %" PRIu64
            " of them copied now; %" PRIu64 " missing or damaged\n",
            rows, copying.files, (double)copying.bytes / 1e6, copying.copied, copying.damaged);
    return copying.damaged == 0 ||
           err_set(err, ERR_IO,
                   "%" PRIu64 " files of the source are missing or damaged, all others are copied",
                   copying.damaged);
}
