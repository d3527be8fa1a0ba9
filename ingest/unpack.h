// SPDX-License-Identifier: Apache-2.0
// The members of an archive, one after the other. Nothing is written and no name is followed: a
// member is a name for people and bytes.
#ifndef INGEST_UNPACK_H
#define INGEST_UNPACK_H

#include "ingest/format.h"

// A member as the archive describes it.
struct unpack_member {
    const char *name;   // its path: UTF-8 without control characters; lives until the next member
    uint64_t size;      // as the archive says, 0 where it does not
    const char *unread; // why its bytes are not read: "a symbolic link"; NULL: they are
};

struct unpack_limits {
    uint64_t max_members; // folders among them
    uint64_t max_bytes;   // unpacked, of all members together, and decompressed within them
    uint64_t max_ratio;   // of these to the archive's own
};

// What is enough for the traces of any job.
extern const struct unpack_limits unpack_limits;

struct unpack;

// An archive as format_open found it. Takes over the source, also on failure. ERR_UNSUPPORTED for
// one that is read anywhere (FORMAT_SEEK) from a source that is not.
MUST_CHECK struct unpack *unpack_open(struct source *source, const struct format *format,
                                      const struct unpack_limits *limits, struct err *err);

// Goes to the next member that is neither a folder nor what macOS adds; *member is NULL at the end.
// Fails where the archive is damaged or beyond a limit; the members before are as they are.
MUST_CHECK bool unpack_next(struct unpack *unpack, const struct unpack_member **member,
                            struct err *err);

// The bytes of the member at hand, once, until unpack_next. What is damaged yields what came before
// it, then fails with ERR_FORMAT.
MUST_CHECK struct source *unpack_source(struct unpack *unpack, struct err *err);

// A member's bytes decompressed, which count as unpacked, too. Takes over the source, also on
// failure.
MUST_CHECK struct source *unpack_decoded(struct unpack *unpack, struct source *below,
                                         struct err *err);

// Bytes unpacked so far.
uint64_t unpack_bytes(const struct unpack *unpack);

void unpack_close(struct unpack *unpack);

#endif
