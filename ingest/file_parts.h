// SPDX-License-Identifier: Apache-2.0
// The parts of a file: the file itself or, if it is an archive, its members, each with its own
// error. A file or member that holds several processes is as many parts.
#ifndef INGEST_FILE_PARTS_H
#define INGEST_FILE_PARTS_H

#include "ingest/unpack.h"

struct file_part {
    const char *name;            // of the member, NULL: the file itself; lives until the next part
    uint64_t size;               // as stored, before decompression; 0 if unknown
    struct format_found found;   // with the process, if there are several
    uint32_t process, processes; // which of how many, from 0
    struct source *source;       // decompressed, for the callback to close; NULL: see problem
    struct err problem;          // why it is not read: "a symbolic link"; ERR_NONE: it can be
    bool is_copy;                // it is not read, as the same bytes are another part
};

// A walk over a file.
struct file_parts {
    struct source *source;
    struct format_hint hint;
    const struct unpack_limits *limits;
    bool joins; // members of a set (file_sets) are one part, after the others; needs a scratch file
    struct format_found found; // of the file, once opened
    uint64_t count;            // of parts so far, including the current one
};

// Called with each part; false ends the walk.
typedef bool take_part(void *context, struct file_part *part, struct err *err);

// Calls take with the file, or with each member of an archive except folders. Always closes the
// source. Fails if the file cannot be opened, the archive is damaged or exceeds a limit, or take
// fails.
MUST_CHECK bool file_parts_each(struct file_parts *parts, take_part *take, void *context,
                                struct err *err);

#endif
