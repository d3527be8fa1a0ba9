// SPDX-License-Identifier: Apache-2.0
// Copies of a SQLite database: backups, and copies next to it before its schema changes.
#include "server/db/db_sqlite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, COPIES_KEPT = 2 };
#define COPY_SUFFIX ".schema-"

// --- one copy -----------------------------------------------------------------------------------

static bool flush_file(const char *path, int flags, struct err *err)
{
    int fd = open(path, flags | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (!ok)
        err_set_errno(err, "flushing %s", path);
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool flush_folder_of(const char *path, struct err *err)
{
    char copy[PATH_BYTES]; // dirname writes into it
    snprintf(copy, sizeof copy, "%s", path);
    return flush_file(dirname(copy), O_RDONLY | O_DIRECTORY, err);
}

// In one step: a snapshot of one moment, however long it takes.
static bool copy_pages(sqlite3 *from, sqlite3 *to, struct err *err)
{
    sqlite3_backup *copy = sqlite3_backup_init(to, "main", from, "main");
    if (copy)
        sqlite3_backup_step(copy, -1);
    int rc = copy ? sqlite3_backup_finish(copy) : sqlite3_errcode(to);
    enum err_code code = (rc & 0xff) == SQLITE_FULL ? ERR_SPACE : ERR_IO;
    return rc == SQLITE_OK || err_set(err, code, "copying the database: %s", sqlite3_errstr(rc));
}

bool db_sqlite_copy(struct db *db, const char *to, struct err *err)
{
    if (access(to, F_OK) == 0)
        return err_set(err, ERR_CONFLICT, "the file %s already exists", to);
    struct db *copy = db_sqlite_connect(to, DB_WRITE, NULL, err);
    bool ok = copy && copy_pages(db_sqlite_of(db)->at, db_sqlite_of(copy)->at, err) &&
              sql_execute(copy, "PRAGMA journal_mode = DELETE", err); // one file, without a log
    db_close(copy, true);
    if (ok && flush_file(to, O_RDONLY, err) && flush_folder_of(to, err))
        return true;
    unlink(to);
    return false;
}

// --- before the schema changes ------------------------------------------------------------------

// The copies next to a database: how many, and the one with the lowest number.
struct copies {
    unsigned count;
    char oldest[PATH_BYTES];
};

static bool is_copy_of(const char *name, const char *db_name)
{
    size_t len = strlen(db_name);
    return strncmp(name, db_name, len) == 0 &&
           strncmp(name + len, COPY_SUFFIX, strlen(COPY_SUFFIX)) == 0;
}

static bool list_copies(const char *path, struct copies *copies, struct err *err)
{
    char folder[PATH_BYTES], name[PATH_BYTES];
    snprintf(folder, sizeof folder, "%s", path);
    snprintf(name, sizeof name, "%s", path);
    const char *folder_name = dirname(folder), *db_name = basename(name);
    DIR *dir = opendir(folder_name);
    *copies = (struct copies){0};
    if (!dir)
        return err_set_errno(err, "folder %s", folder_name);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char found[PATH_BYTES];
        int len = snprintf(found, sizeof found, "%s/%s", folder_name, entry->d_name);
        if (!is_copy_of(entry->d_name, db_name) || len < 0 || (size_t)len >= sizeof found)
            continue;
        if (copies->count++ == 0 || strcmp(found, copies->oldest) < 0)
            memcpy(copies->oldest, found, (size_t)len + 1);
    }
    closedir(dir);
    return true;
}

// Removes the oldest copies until `left` remain.
static bool drop_copies(const char *path, unsigned left, struct err *err)
{
    for (;;) {
        struct copies copies;
        if (!list_copies(path, &copies, err))
            return false;
        if (copies.count <= left)
            return true;
        if (unlink(copies.oldest) != 0)
            return err_set_errno(err, "removing %s", copies.oldest);
    }
}

bool db_sqlite_copy_before_schema(struct db *db, int64_t version, struct err *err)
{
    const char *path = db_sqlite_of(db)->path;
    char to[PATH_BYTES], part[PATH_BYTES];
    int len = snprintf(to, sizeof to, "%s" COPY_SUFFIX "%04lld", path, (long long)version);
    if (len < 0 || (size_t)len + sizeof ".part" > sizeof to)
        return err_set(err, ERR_USAGE, "the path %s is too long", path);
    snprintf(part, sizeof part, "%.*s.part", len, to);
    unlink(part); // left by an interrupted start
    if (!db_sqlite_copy(db, part, err))
        return err_wrap(err, "a copy before the schema changes");
    return (rename(part, to) == 0 || err_set_errno(err, "naming %s", to)) &&
           flush_folder_of(to, err) && drop_copies(path, COPIES_KEPT, err);
}

bool db_sqlite_drop_schema_copies(struct db *db, struct err *err)
{
    return drop_copies(db_sqlite_of(db)->path, 0, err);
}
