// SPDX-License-Identifier: Apache-2.0
// Temporary folders for tests: writing files, counting entries, removing.
#ifndef TESTS_UNIT_FOLDER_H
#define TESTS_UNIT_FOLDER_H

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static inline int folder_remove_one(const char *path, const struct stat *info, int type,
                                    struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(path);
}

static inline void folder_remove(const char *path)
{
    nftw(path, folder_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

// Entries of folder/name.
static inline int folder_count(const char *folder, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    DIR *dir = opendir(path);
    int count = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return count;
}

// Entries of all folders in folder/name.
static inline int folder_count_all(const char *folder, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    DIR *dir = opendir(path);
    int count = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            count += folder_count(path, entry->d_name);
    if (dir)
        closedir(dir);
    return count;
}

// Writes a file; if folder is empty, name is a whole path.
static inline void folder_write(const char *folder, const char *name, const char *content)
{
    char path[4200];
    snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", name);
    FILE *out = fopen(path, "w");
    if (out) {
        fputs(content, out);
        fclose(out);
    }
}

#endif
