// SPDX-License-Identifier: Apache-2.0
// What a file holds: itself, or the members of the archive that it is, each with a fate of its own.
#ifndef INGEST_FILE_PARTS_H
#define INGEST_FILE_PARTS_H

#include "ingest/unpack.h"

struct file_part {
    const char *name; // of the member, NULL: the file itself; lives until the next part
    uint64_t size;    // as it is stored, before any decompression; 0 where that is not known
    struct format_found found;
    struct source *source; // beneath its compression, for the taker to close; NULL: see problem
    struct err problem;    // why it is not read: "a symbolic link"; ERR_NONE: nothing is in the way
};

// A file that is walked.
struct file_parts {
    struct source *source;
    struct str filename; // as far as it is known
    const struct unpack_limits *limits;
    struct format_found found; // of the file, once it was looked at
    uint64_t count;            // of parts so far, that at hand among them
};

// Takes a part; false ends the walk.
typedef bool take_part(void *context, struct file_part *part, struct err *err);

// Calls take with the file if it is no archive, else with each of its members that is no folder.
// Closes the source in every case. Fails when the file cannot be opened, the archive is damaged or
// beyond a limit, or take fails.
MUST_CHECK bool file_parts_each(struct file_parts *parts, take_part *take, void *context,
                                struct err *err);

#endif
