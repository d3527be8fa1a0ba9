// SPDX-License-Identifier: Apache-2.0
// The files below a folder that may hold traces.
#ifndef SERVER_FOLDER_FILES_H
#define SERVER_FOLDER_FILES_H

#include "ingest/base/arena.h"

struct folder_files {
    const char **at; // paths, by name
    size_t count;
    // If the job recorded several times, in folders iteration_N or step_N, only the last is
    // listed: the recordings, and the one that is; 0 and "" otherwise.
    size_t windows;
    const char *window;
};

// Lists what may be a trace or an archive by its name, or a table by its header, at any depth,
// passing over what `push` passes over. The paths live in the arena. ERR_NOT_FOUND if there is no
// such file.
MUST_CHECK bool folder_files_list(const char *folder, struct arena *arena,
                                  struct folder_files *files, struct err *err);

// Whether a path is a folder, or a link to one.
bool folder_files_is_folder(const char *path);

#endif
