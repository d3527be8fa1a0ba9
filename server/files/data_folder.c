// SPDX-License-Identifier: Apache-2.0
// Looks for uploaded files in a folder that nobody serves.
#include "server/files/data_folder.h"

#include "server/files/blob.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static bool stop_at_first(void *ctx, const char *sha256, uint64_t bytes, struct err *err)
{
    (void)sha256, (void)bytes;
    *(bool *)ctx = true;
    return err_set(err, ERR_CANCELLED, "one is enough");
}

bool data_folder_has_uploads(const char *folder)
{
    bool found = false;
    struct blob_visitor visitor = {.blob = stop_at_first, .ctx = &found};
    struct err ignored;
    struct blob_store *files = blob_store_open(folder, NULL, &ignored);
    if (files)
        (void)!blob_store_each(files, &visitor, &ignored);
    blob_store_close(files);
    return found;
}

bool data_folder_check(const char *folder, struct err *err)
{
    char path[BLOB_PATH_SIZE];
    struct stat info;
    snprintf(path, sizeof path, "%s/stepscope.db", folder);
    return (stat(path, &info) == 0 && info.st_size > 0) || !data_folder_has_uploads(folder) ||
           err_set(err, ERR_CONFLICT,
                   "found uploaded files but no database %s: restore a backup, or move the folder "
                   "blobs away",
                   path);
}

static uint64_t bytes_of(const char *folder, bool has_folders)
{
    char path[900];
    uint64_t bytes = 0;
    struct stat info;
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] == '.' || lstat(path, &info) != 0)
            continue;
        if (S_ISREG(info.st_mode))
            bytes += (uint64_t)info.st_size;
        else if (has_folders && S_ISDIR(info.st_mode))
            bytes += bytes_of(path, false);
    }
    if (dir)
        closedir(dir);
    return bytes;
}

uint64_t data_folder_bytes(const char *data, const char *name)
{
    char folder[600];
    snprintf(folder, sizeof folder, "%s/%s", data, name);
    return bytes_of(folder, true);
}

bool data_folder_drop(const char *data, const char *name, struct str id)
{
    char folder[600], path[900];
    snprintf(folder, sizeof folder, "%s/%s/%.*s", data, name, (int)id.len, id.at);
    DIR *dir = opendir(folder);
    if (!dir)
        return errno == ENOENT;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            (void)unlink(path);
    }
    closedir(dir);
    return rmdir(folder) == 0;
}
