// SPDX-License-Identifier: Apache-2.0
// Copies what a database refers to from one folder to another and verifies it there.
#include "server/care/backup.h"

#include "server/access/audit.h"
#include "server/care/progress.h"
#include "server/files/blob.h"
#include "server/files/data_folder.h"
#include "server/files/file_copy.h"
#include "server/files/scrub.h"

#include "ingest/base/clock.h"
#include "ingest/base/log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DATABASE "stepscope.db"
#define MARK     "stepscope-backup" // marks a folder as a backup; locked while written to
#define LAST     "backup.last"      // only its time counts
enum { SHA256_LEN = BLOB_SHA256_SIZE - 1 };

// Two folders with the same layout, and the files in them.
struct copying {
    const char *from, *to;
    struct blob_store *from_files, *to_files;
    struct backup_report *report;
    char (*names)[BLOB_SHA256_SIZE]; // of the referenced files, ascending
    size_t count, room;
    struct progress progress;
};

static struct blob_key key_of(const struct store_blob *blob)
{
    return (struct blob_key){BLOB_UPLOAD, blob->sha256};
}

static bool join(char path[BLOB_PATH_SIZE], const char *folder, const char *name, struct err *err)
{
    int len = snprintf(path, BLOB_PATH_SIZE, "%s/%s", folder, name);
    return (len > 0 && len < BLOB_PATH_SIZE) ||
           err_set(err, ERR_USAGE, "the path %.100s... is too long", folder);
}

// --- progress -----------------------------------------------------------------------------------

// Each of these reads the whole database.
static void tell_step(struct copying *copying, const char *step)
{
    fputs(step, copying->progress.out);
    progress_end_line(&copying->progress);
}

static void tell_files(struct copying *copying)
{
    const struct backup_report *report = copying->report;
    if (!progress_is_due(&copying->progress))
        return;
    fprintf(copying->progress.out, "copying files: %llu of %.1f MB",
            (unsigned long long)report->files, (double)report->bytes / 1e6);
    progress_end_line(&copying->progress);
}

// --- one file -----------------------------------------------------------------------------------

static void tell_damage(struct backup_report *report, const struct store_blob *blob,
                        const char *damage)
{
    report->damaged++;
    fprintf(report->out, "file %s %s\n", blob->sha256, damage);
}

static bool is_sound(struct blob_store *files, const struct store_blob *blob,
                     char damage[STORE_DAMAGE_SIZE], bool *sound, struct err *err)
{
    struct scrub_pace pace = {0};
    bool ok = scrub_file(files, blob, &pace, damage, err);
    *sound = ok && !damage[0];
    return ok;
}

// A damaged source file leaves none at the target; the rest is still worth having.
static bool copy_and_read(struct copying *copying, const struct store_blob *blob, struct err *err)
{
    char damage[STORE_DAMAGE_SIZE];
    bool sound;
    if (!blob_store_copy(copying->from_files, key_of(blob), copying->to, err)) {
        if (err->code != ERR_NOT_FOUND && err->code != ERR_IO)
            return false;
        tell_damage(copying->report, blob, "is missing");
        return true;
    }
    if (!is_sound(copying->to_files, blob, damage, &sound, err))
        return false;
    copying->report->added += sound;
    if (sound)
        return true;
    tell_damage(copying->report, blob, damage);
    return blob_store_remove(copying->to_files, key_of(blob), err);
}

static bool note_name(struct copying *copying, const struct store_blob *blob, struct err *err)
{
    void *names = budget_room(NULL, copying->names, &copying->room, copying->count + 1,
                              sizeof *copying->names, err);
    if (!names)
        return false;
    copying->names = names;
    memcpy(copying->names[copying->count++], blob->sha256, BLOB_SHA256_SIZE);
    return true;
}

static bool copy_blob(void *context, const struct store_blob *blob, struct err *err)
{
    struct copying *copying = context;
    char damage[STORE_DAMAGE_SIZE];
    bool sound;
    copying->report->files++;
    copying->report->bytes += (uint64_t)blob->bytes;
    tell_files(copying);
    if (!note_name(copying, blob, err) || !is_sound(copying->to_files, blob, damage, &sound, err))
        return false;
    return sound || copy_and_read(copying, blob, err);
}

// Missing traces are rebuilt from the blobs, so a missing one is no problem.
static bool copy_trace(void *context, const char *trace_id, struct err *err)
{
    const struct copying *copying = context;
    struct blob_key key = {BLOB_TRACE, trace_id};
    return blob_store_copy(copying->from_files, key, copying->to, err) ||
           err->code == ERR_NOT_FOUND;
}

static bool copy_if_there(const struct copying *copying, const char *name, struct err *err)
{
    char from[BLOB_PATH_SIZE], to[BLOB_PATH_SIZE];
    return join(from, copying->from, name, err) && join(to, copying->to, name, err) &&
           (file_copy_bytes(from, to, err) || err->code == ERR_NOT_FOUND);
}

// Newest first: a file rotated meanwhile is then copied twice instead of missed.
static bool copy_audit(const struct copying *copying, struct err *err)
{
    char name[sizeof AUDIT_FILE + 16];
    bool ok = copy_if_there(copying, AUDIT_FILE, err);
    for (int i = 1; ok && i <= AUDIT_MAX_FILES; i++) {
        snprintf(name, sizeof name, AUDIT_FILE ".%d", i);
        ok = copy_if_there(copying, name, err);
    }
    return ok;
}

// A database that was lost and recreated refers to no files. An older backup is then all that is
// left.
static bool check_not_emptied(const struct copying *copying, struct err *err)
{
    return copying->count > 0 || !data_folder_has_uploads(copying->to) ||
           err_set(err, ERR_CONFLICT,
                   "the database has no files, but the backup %s contains some; choose another "
                   "folder, or empty that one",
                   copying->to);
}

// All files that a copy of the database, still unnamed, refers to; then its name.
static bool copy_files(struct copying *copying, const char *db_part, struct err *err)
{
    char db[BLOB_PATH_SIZE];
    return store_each_blob(db_part, copy_blob, copying, err) && check_not_emptied(copying, err) &&
           store_each_trace(db_part, copy_trace, copying, err) && copy_audit(copying, err) &&
           folder_flush(copying->to, err) && join(db, copying->to, DATABASE, err) &&
           (rename(db_part, db) == 0 || err_set_errno(err, "naming %s", db)) &&
           folder_flush(copying->to, err);
}

static bool check_copy(const char *db_part, struct err *err)
{
    struct store_check found;
    return store_check_file(db_part, &found, err) &&
           (!found.damage[0] ||
            err_set(err, ERR_IO, "the database is damaged: %.150s", found.damage));
}

// --- files no longer in the backup --------------------------------------------------------------

static int compare_names(const void *a, const void *b)
{
    return memcmp(a, b, SHA256_LEN);
}

static bool is_named(const struct copying *copying, const char *name)
{
    return copying->count &&
           bsearch(name, copying->names, copying->count, sizeof *copying->names, compare_names);
}

// What cannot be removed stays.
static bool remove_if_unnamed(void *ctx, const char *sha256, uint64_t bytes, struct err *err)
{
    struct copying *copying = ctx;
    struct blob_key key = {BLOB_UPLOAD, sha256};
    (void)bytes;
    if (!is_named(copying, sha256))
        copying->report->removed += blob_store_remove(copying->to_files, key, err);
    return true;
}

static void remove_unnamed(struct copying *copying)
{
    struct blob_visitor visitor = {.blob = remove_if_unnamed, .ctx = copying};
    struct err ignored;
    (void)!blob_store_each(copying->to_files, &visitor, &ignored);
}

// --- making one ---------------------------------------------------------------------------------

static bool is_empty(const char *folder)
{
    DIR *dir = opendir(folder);
    bool found = false;
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));)
        found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (dir)
        closedir(dir);
    return !found;
}

static int lock_file(const char *path, int how, struct err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 && flock(fd, how) == 0)
        return fd;
    if (errno == EWOULDBLOCK)
        err_set(err, ERR_BUSY, "another process is using %s", path);
    else
        err_set_errno(err, "%s", path);
    if (fd >= 0)
        close(fd);
    return -1;
}

// Only a folder that is empty or a backup may be written to and cleaned up. Returns its lock, or
// -1.
static int open_target(const char *to, struct err *err)
{
    char mark[BLOB_PATH_SIZE];
    if (!folder_make(to, err) || !join(mark, to, MARK, err))
        return -1;
    if (access(mark, F_OK) != 0 && !is_empty(to)) {
        err_set(err, ERR_CONFLICT, "%s contains something other than a backup", to);
        return -1;
    }
    return lock_file(mark, LOCK_EX | LOCK_NB, err);
}

static bool write_mark(int fd, const struct backup_report *report, struct err *err)
{
    char time[CLOCK_RFC3339_SIZE];
    clock_rfc3339(clock_wall_ns(), time);
    return (ftruncate(fd, 0) == 0 &&
            dprintf(fd, "backup of %s by stepscope " STEPSCOPE_VERSION ": %llu files\n", time,
                    (unsigned long long)report->files) > 0 &&
            fsync(fd) == 0) ||
           err_set_errno(err, "writing the mark of the backup");
}

static bool open_files(struct copying *copying, struct err *err)
{
    copying->from_files = blob_store_open(copying->from, NULL, err);
    copying->to_files = copying->from_files ? blob_store_open(copying->to, NULL, err) : NULL;
    return copying->to_files;
}

static void end_copying(struct copying *copying)
{
    blob_store_close(copying->from_files);
    blob_store_close(copying->to_files);
    free(copying->names);
}

static bool copy_all(struct copying *copying, struct err *err)
{
    char db[BLOB_PATH_SIZE], db_part[BLOB_PATH_SIZE];
    if (!join(db, copying->from, DATABASE, err) ||
        !join(db_part, copying->to, DATABASE ".part", err))
        return false;
    unlink(db_part); // from an interrupted backup
    tell_step(copying, "copying the database");
    bool ok = open_files(copying, err) && store_copy_file(db, db_part, err);
    if (ok)
        tell_step(copying, "checking the copy of the database");
    ok = ok && check_copy(db_part, err) && copy_files(copying, db_part, err);
    if (!ok)
        unlink(db_part);
    return ok;
}

static bool check_source(const char *data, struct err *err)
{
    char db[BLOB_PATH_SIZE];
    return join(db, data, DATABASE, err) &&
           (access(db, F_OK) == 0 || err_set(err, ERR_NOT_FOUND, "found no database %s", db));
}

// In the folder that was backed up, so that its service can report the backup's age. The backup is
// good without it.
static void note_done(const char *data)
{
    char path[BLOB_PATH_SIZE];
    struct err ignored;
    int fd = join(path, data, LAST, &ignored)
                 ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600)
                 : -1;
    if (fd < 0 || futimens(fd, NULL) != 0)
        log_warn("%s/" LAST " cannot be written: metrics will not show this backup", data);
    if (fd >= 0)
        close(fd);
}

double backup_last_s(const char *data)
{
    char path[BLOB_PATH_SIZE];
    struct err ignored;
    struct stat info;
    if (!join(path, data, LAST, &ignored) || stat(path, &info) != 0)
        return 0;
    return (double)info.st_mtim.tv_sec;
}

bool backup_make(const char *data, const char *to, struct backup_report *report, struct err *err)
{
    char lock_path[BLOB_PATH_SIZE];
    struct copying copying = {
        .from = data, .to = to, .report = report, .progress = {.out = report->out}};
    if (!check_source(data, err) || !join(lock_path, data, BLOB_REMOVALS_LOCK, err))
        return false;
    int target = open_target(to, err);
    int removals = target < 0 ? -1 : lock_file(lock_path, LOCK_SH, err); // until all is copied
    bool ok = removals >= 0 && copy_all(&copying, err) && write_mark(target, report, err);
    if (ok)
        remove_unnamed(&copying);
    if (ok)
        note_done(data);
    end_copying(&copying);
    if (removals >= 0)
        close(removals);
    if (target >= 0)
        close(target);
    return ok;
}

// --- restoring ----------------------------------------------------------------------------------

static bool check_backup(const char *from, struct err *err)
{
    char mark[BLOB_PATH_SIZE];
    return join(mark, from, MARK, err) &&
           (access(mark, F_OK) == 0 || err_set(err, ERR_NOT_FOUND, "%s is not a backup", from)) &&
           check_source(from, err);
}

// A log left by another database is as bad as that database itself: SQLite would replay it into
// ours.
static bool check_target(const char *data, struct err *err)
{
    static const char *const names[] = {DATABASE, DATABASE "-wal", DATABASE "-journal"};
    char path[BLOB_PATH_SIZE];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!join(path, data, names[i], err))
            return false;
        if (access(path, F_OK) == 0)
            return err_set(err, ERR_CONFLICT,
                           "the database file %s already exists; choose another folder", path);
    }
    return true;
}

bool backup_restore(const char *from, const char *data, struct backup_report *report,
                    struct err *err)
{
    struct copying copying = {
        .from = from, .to = data, .report = report, .progress = {.out = report->out}};
    if (!check_backup(from, err) || !folder_make(data, err) || !check_target(data, err))
        return false;
    struct blobs *blobs = blob_open(data, err); // no service may start there meanwhile
    bool ok = blobs && copy_all(&copying, err);
    end_copying(&copying);
    blob_close(blobs);
    return ok;
}

// --- checking -----------------------------------------------------------------------------------

struct checking {
    struct blob_store *files;
    bool reads;
    struct backup_report *report;
};

static bool check_blob(void *context, const struct store_blob *blob, struct err *err)
{
    const struct checking *checking = context;
    char damage[STORE_DAMAGE_SIZE] = "";
    uint64_t bytes;
    bool sound = true;
    checking->report->files++;
    checking->report->bytes += (uint64_t)blob->bytes;
    if (!blob_store_size(checking->files, key_of(blob), &bytes, err))
        snprintf(damage, sizeof damage, "is missing");
    else if (bytes != (uint64_t)blob->bytes)
        snprintf(damage, sizeof damage, "has %llu bytes, %lld were uploaded",
                 (unsigned long long)bytes, (long long)blob->bytes);
    else if (checking->reads && !is_sound(checking->files, blob, damage, &sound, err))
        return false;
    if (damage[0])
        tell_damage(checking->report, blob, damage);
    return true;
}

bool backup_check_files(const char *data, bool reads, struct backup_report *report, struct err *err)
{
    char db[BLOB_PATH_SIZE];
    struct checking checking = {blob_store_open(data, NULL, err), reads, report};
    bool ok = checking.files && join(db, data, DATABASE, err) &&
              store_each_blob(db, check_blob, &checking, err);
    blob_store_close(checking.files);
    return ok;
}
