// SPDX-License-Identifier: Apache-2.0
// The members of an archive, in order. Nothing is written and no name is followed: a member is just
// a name to show and its bytes.
#ifndef INGEST_UNPACK_H
#define INGEST_UNPACK_H

#include "ingest/source/format.h"
#include "ingest/source/source.h"

// A member as the archive describes it.
struct unpack_member {
    const char *name;   // its path: UTF-8 without control characters; lives until the next member
    uint64_t size;      // as stated by the archive, 0 if it states none
    const char *unread; // why its bytes cannot be read: "a symbolic link"; NULL: they can
};

struct unpack_limits {
    uint64_t max_members; // including folders
    uint64_t max_bytes;   // of all members together, unpacked and decompressed
    uint64_t max_ratio;   // of those bytes to the archive's size
};

// Enough for the traces of any job.
extern const struct unpack_limits unpack_limits;

struct unpack;

// Opens an archive found by format_open. Takes over the source, also on failure. ERR_UNSUPPORTED if
// the format needs FORMAT_SEEK and the source does not allow it.
MUST_CHECK struct unpack *unpack_open(struct source *source, const struct format *format,
                                      const struct unpack_limits *limits, struct err *err);

// What a system, or push itself, leaves beside files: nothing of the job.
bool unpack_is_left_behind(const char *name);

// Moves to the next member, skipping folders and what is left behind; *member is NULL at the end.
// Fails if the archive is damaged or exceeds a limit; members before that are valid.
MUST_CHECK bool unpack_next(struct unpack *unpack, const struct unpack_member **member,
                            struct err *err);

// The bytes of the current member, once, until unpack_next. A damaged one yields the bytes before
// the damage, then fails with ERR_FORMAT.
MUST_CHECK struct source *unpack_source(struct unpack *unpack, struct err *err);

// Passes on a member's decompressed bytes and counts them towards the limits. Takes over `below`,
// also on failure.
MUST_CHECK struct source *unpack_decoded(struct unpack *unpack, struct source *below,
                                         struct err *err);

// Bytes of the archive that were read so far.
uint64_t unpack_taken(const struct unpack *unpack);

void unpack_close(struct unpack *unpack);

#endif
