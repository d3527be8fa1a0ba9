// SPDX-License-Identifier: Apache-2.0
// Gives a file that never changes a second place: shared with the first one where the filesystem
// can, copied else.
#ifndef SERVER_FILE_COPY_H
#define SERVER_FILE_COPY_H

#include "ingest/base/err.h"

enum file_copy { FILE_CLONED, FILE_LINKED, FILE_COPIED };

// Puts the content of a file under another path, in whose place nothing may stand half; a file that
// was there goes. Not flushed: folder_flush does that for all at once. ERR_NOT_FOUND.
MUST_CHECK bool file_copy(const char *from, const char *to, enum file_copy *how, struct err *err);

// The same with bytes of its own, for files that others write to.
MUST_CHECK bool file_copy_bytes(const char *from, const char *to, struct err *err);

// Makes a folder (0700) and those above it that are missing.
MUST_CHECK bool folder_make(const char *path, struct err *err);

// Flushes the filesystem of a folder.
MUST_CHECK bool folder_flush(const char *path, struct err *err);

#endif
