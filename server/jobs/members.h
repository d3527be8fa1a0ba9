// SPDX-License-Identifier: Apache-2.0
// The members of an archive as written by the child process: their bytes in one file, one after
// another, and a list of them in another. The process has read untrusted bytes, so the list is
// checked.
#ifndef SERVER_MEMBERS_H
#define SERVER_MEMBERS_H

#include "ingest/base/arena.h"
#include "ingest/source/format.h"

enum member_kind {
    MEMBER_TRACE,
    MEMBER_ATTACHMENT, // kept as it is, text without its secrets
    MEMBER_SKIPPED,    // not kept
};

struct member {
    struct str name; // its path in the archive; "": the file is no archive, and this describes it
    int64_t process; // of a trace, as its format numbers them; 0: it has one
    bool is_repeat;  // it has the bytes of the previous member, of which it is another process
    enum member_kind kind;
    struct str format;  // its word, "" unknown
    uint64_t at, bytes; // in the file of bytes; none if they are the whole file's
    int64_t secrets;    // in its bytes; -1 for a trace: unknown
    bool failed;        // it is damaged, or claimed to be a trace
    struct str reason;  // why it is not a trace, or incomplete; "" none
};

// Members do not overlap and are in the order of their bytes.
struct member_list {
    struct member *at;
    size_t count;
    struct err end; // why the archive could not be read to its end; ERR_NONE: it could
};

#define MEMBER_LIST_MAX_BYTES ((uint64_t)64 << 20)

// What the process needs to unpack an archive.
struct members_work {
    int input, bytes, list; // descriptors
    uint64_t max_bytes;     // of the file of bytes
    uint64_t memory_bytes;  // for reading what may be a trace, 0: any
    struct str filename;    // of the input; may be empty
    struct progress *progress;
};

// Writes members and the list. An archive that is damaged or exceeds a limit ends the list; false
// only if the files cannot be read or written.
MUST_CHECK bool members_write(const struct members_work *work, struct err *err);

// Appends to a list.
MUST_CHECK bool member_list_add(int fd, const struct member *member, struct err *err);
MUST_CHECK bool member_list_finish(int fd, const struct err *end, struct err *err);

// Reads a list into the arena. bytes: the size of the file of bytes. ERR_FORMAT if anything in it
// is impossible.
MUST_CHECK bool member_list_read(int fd, uint64_t bytes, struct arena *arena,
                                 struct member_list *list, struct err *err);

#endif
