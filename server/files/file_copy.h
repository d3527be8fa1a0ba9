// SPDX-License-Identifier: Apache-2.0
// Gives an immutable file a second place: shared with the first one if the filesystem can,
// otherwise copied.
#ifndef SERVER_FILE_COPY_H
#define SERVER_FILE_COPY_H

#include "ingest/base/err.h"

enum file_copy { FILE_CLONED, FILE_LINKED, FILE_COPIED };

// Puts a file's content under another path, replacing any file there; never leaves a partial file.
// Not flushed: folder_flush does that for all at once. ERR_NOT_FOUND.
MUST_CHECK bool file_copy(const char *from, const char *to, enum file_copy *how, struct err *err);

// Same with separate bytes, for files that others write to.
MUST_CHECK bool file_copy_bytes(const char *from, const char *to, struct err *err);

// Creates a folder (0700) and its missing parents.
MUST_CHECK bool folder_make(const char *path, struct err *err);

// Flushes a folder's filesystem.
MUST_CHECK bool folder_flush(const char *path, struct err *err);

#endif
