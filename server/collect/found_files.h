// SPDX-License-Identifier: Apache-2.0
// The files below a folder that are worth sending.
#ifndef SERVER_FOUND_FILES_H
#define SERVER_FOUND_FILES_H

#include "ingest/base/err.h"

#include <stddef.h>
#include <sys/stat.h>

// Why a file was passed over.
enum file_left {
    LEFT_UNREAD,     // neither its name nor its content is one that a hub reads
    LEFT_OTHER_NAME, // none of the names that were asked for
    LEFT_UNFINISHED, // by its name
    LEFT_EMPTY,
    LEFT_NO_FILE, // a symbolic link, or a device
    LEFT_TOO_DEEP,
    FILE_LEFTS
};

// Of a walk: how many files, and the name of one of them.
struct files_left {
    size_t counts[FILE_LEFTS];
    char names[FILE_LEFTS][128];
};

// "18 (16 of a kind that is not read, such as model.pt; 1 empty, such as rank3.log)" in at most
// FILES_LEFT_BYTES; "" if there are none.
#define FILES_LEFT_BYTES ((size_t)1400)
void files_left_say(const struct files_left *left, char out[FILES_LEFT_BYTES]);

struct found_files {
    const char *folder;
    const char *only; // patterns of names, "*.json.gz,rank*"; NULL: what a hub reads
    // false ends the walk
    bool (*file)(void *context, const char *name, const struct stat *info, struct err *err);
    void (*subfolder)(void *context, const char *path); // NULL, or for each folder
    // Whether a hub reads a file whose name does not say; NULL: found_files_is_read(path)
    bool (*is_read)(void *context, const char *name, const struct stat *info, const char *path);
    void *context;
    struct files_left *left; // NULL, or what was passed over is added
};

// Symbolic links and hidden files are passed over, and what is unfinished by its name. Names
// without a usual ending, as Flight Recorders and TensorBoard give them, are judged by what is in
// the file. A subfolder that vanishes meanwhile is no error. ERR_NOT_FOUND, ERR_IO for the folder
// itself.
MUST_CHECK bool found_files_walk(const struct found_files *walk, struct err *err);

// Opens for reading what a walk has found: a regular file at a path without symbolic links, as
// realpath gives it. Whoever owns the folder may have put a link to a file of another, or a
// FIFO, in its place meanwhile. -1 on failure; ERR_NOT_FOUND, ERR_FORMAT for another kind.
int found_files_open(const char *path, struct err *err);

// Whether the content of a file is one that a hub reads; opens it.
bool found_files_is_read(const char *path);

// Whether a file of that name, without folders, is sent.
bool found_files_wants(const char *name, const char *only);

// Whether a file of that name is one that programs append to.
bool found_files_grows(const char *name);

// Whether a process on this machine has the file open for writing; 1 yes, 0 no, -1 cannot know.
int found_files_is_open(const char *path);

#endif
