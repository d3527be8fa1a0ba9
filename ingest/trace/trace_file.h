// SPDX-License-Identifier: Apache-2.0
// A sealed trace on disk: sections of zstd-compressed column blocks with checksums.
#ifndef INGEST_TRACE_TRACE_FILE_H
#define INGEST_TRACE_TRACE_FILE_H

#include "ingest/trace/trace.h"

// Writes trace to path (a new file, fsynced; the caller renames it into place).
MUST_CHECK bool trace_file_save(const struct trace *trace, const char *path, struct err *err);

// Same into an empty file, which is closed; name is for messages.
MUST_CHECK bool trace_file_save_fd(const struct trace *trace, int fd, const char *name,
                                   struct err *err);

// Reads it back, checking every length and index. ERR_FORMAT if damaged or of another version.
MUST_CHECK struct trace *trace_file_load(const char *path, struct budget *budget, struct err *err);

// Same for a descriptor, which is closed; name is for messages.
MUST_CHECK struct trace *trace_file_load_fd(int fd, const char *name, struct budget *budget,
                                            struct err *err);

#endif
