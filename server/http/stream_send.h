// SPDX-License-Identifier: Apache-2.0
// Sends content that is generated on the fly, a piece at a time.
#ifndef SERVER_STREAM_SEND_H
#define SERVER_STREAM_SEND_H

#include "server/http/response.h"

struct stream_send {
    bool (*write)(void *context, const char *at, size_t len);
    void *context;
    int fd;              // the client's socket, checked while pieces are empty; -1: none
    bool chunked;        // otherwise it ends with the connection
    bool packed;         // as gzip
    uint64_t sent_bytes; // of content
};

// Sends the answer's body, then what its stream generates. False if it was truncated: clients
// notice, as the last chunk is missing.
MUST_CHECK bool stream_send(struct stream_send *send, struct response *response);

#endif
