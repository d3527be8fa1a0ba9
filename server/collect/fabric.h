// SPDX-License-Identifier: Apache-2.0
// Messages between a training process and the daemon that PyTorch's Kineto asks for what to record.
// One datagram each, in the machine's byte order.
#ifndef SERVER_FABRIC_H
#define SERVER_FABRIC_H

#include "ingest/base/buf.h"

#include <sys/socket.h>
#include <sys/un.h>

enum {
    FABRIC_MOST_PIDS = 11,
    FABRIC_MOST_RANKS = 16,
    FABRIC_HEADER_BYTES = 40,
    FABRIC_MOST_BYTES = 4096
};

enum fabric_kind {
    FABRIC_BAD,
    FABRIC_REQUEST, // a process asks; it expects one answer
    FABRIC_CONTEXT, // a process of an older Kineto says that it is there; it expects a count
};

struct fabric_message {
    int32_t type; // FABRIC_REQUEST: bit 1 is set unless the process is recording
    int64_t job;
    int32_t pids[FABRIC_MOST_PIDS]; // its own, as it sees it, then its ancestors
    size_t pid_count;
};

// Anything that is not exactly of one of the two forms is FABRIC_BAD.
enum fabric_kind fabric_parse(struct str datagram, struct fabric_message *message);

// The answers; text may be empty: nothing to do.
void fabric_answer(struct str text, struct buf *out);
void fabric_count(int32_t count, struct buf *out);

// What to record.
struct fabric_capture {
    char id[41]; // letters, digits, "-" and "_"
    char run[256];
    char job[32];                   // of the processes; "": any
    int64_t steps, warmup, roundup; // it starts at the next multiple of roundup
    int64_t ranks[FABRIC_MOST_RANKS];
    size_t rank_count; // 0: all
};

// Whether values are within what is safe to send. ERR_USAGE.
MUST_CHECK bool fabric_check(const struct fabric_capture *capture, struct err *err);

// The settings that a process gets, from a fixed set of keys. ERR_USAGE for a path that a line of
// them cannot hold.
MUST_CHECK bool fabric_settings(const struct fabric_capture *capture, const char *path,
                                struct buf *out, struct err *err);

// The address of the daemon: abstract, or folder/dynolog. ERR_USAGE if the folder's name is too
// long for the clients.
MUST_CHECK bool fabric_address(const char *folder, struct sockaddr_un *address, socklen_t *len,
                               struct err *err);

// Whether an answer may go there: an answer to, or from, an address of the other kind ends the
// training process.
bool fabric_is_client(const struct sockaddr_un *address, socklen_t len, const char *folder);

#endif
