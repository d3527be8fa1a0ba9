// SPDX-License-Identifier: Apache-2.0
// The files below a folder that are worth sending.
#ifndef SERVER_FOUND_FILES_H
#define SERVER_FOUND_FILES_H

#include "ingest/base/err.h"

#include <sys/stat.h>

struct found_files {
    const char *folder;
    const char *only; // patterns of names, "*.json.gz,rank*"; NULL: what a hub reads
    // false ends the walk
    bool (*file)(void *context, const char *name, const struct stat *info, struct err *err);
    void (*subfolder)(void *context, const char *path); // NULL, or for each folder
    void *context;
};

// Symbolic links and hidden files are passed over, and what is unfinished by its name. A subfolder
// that vanishes meanwhile is no error. ERR_NOT_FOUND, ERR_IO for the folder itself.
MUST_CHECK bool found_files_walk(const struct found_files *walk, struct err *err);

// Whether a file of that name, without folders, is sent.
bool found_files_wants(const char *name, const char *only);

// Whether a file of that name is one that programs append to.
bool found_files_grows(const char *name);

// Whether a process on this machine has the file open for writing; 1 yes, 0 no, -1 cannot know.
int found_files_is_open(const char *path);

#endif
