// SPDX-License-Identifier: Apache-2.0
// Looks for files in blobs/ab/ that are named by their content.
#include "server/files/data_folder.h"

#include "server/files/blob.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_sha256(const char *name)
{
    return strspn(name, "0123456789abcdef") == BLOB_SHA256_SIZE - 1 &&
           name[BLOB_SHA256_SIZE - 1] == '\0';
}

static bool has_uploads_of(const char *folder, unsigned shard)
{
    char path[BLOB_PATH_SIZE];
    snprintf(path, sizeof path, "%s/blobs/%02x", folder, shard);
    DIR *dir = opendir(path);
    bool found = false;
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));)
        found = is_sha256(entry->d_name);
    if (dir)
        closedir(dir);
    return found;
}

bool data_folder_has_uploads(const char *folder)
{
    bool found = false;
    for (unsigned shard = 0; shard < 256 && !found; shard++)
        found = has_uploads_of(folder, shard);
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
