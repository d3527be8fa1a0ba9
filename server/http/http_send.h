// SPDX-License-Identifier: Apache-2.0
// Writes an answer to a connection.
#ifndef SERVER_HTTP_SEND_H
#define SERVER_HTTP_SEND_H

#include "server/http/response.h"

struct mg_connection;

#define HTTP_IDLE_S 20 // how long a connection waits for its next request; sent in Keep-Alive

struct http_send {
    struct mg_connection *connection;
    int fd;              // the connection's socket, -1 unknown
    bool closes;         // the connection ends with this answer
    bool old;            // the client speaks HTTP/1.0, which has no chunks
    bool discards;       // the client may still be sending: let it see the answer before closing
    uint64_t sent_bytes; // of content; set by http_send once all of it was sent
};

// Bytes of an answer's content.
uint64_t http_send_bytes(const struct response *response);

// Compresses if it pays, adds the headers common to all answers, and sends.
void http_send(struct http_send *send, const struct request *request, struct response *response);

#endif
