// SPDX-License-Identifier: Apache-2.0
// The HTTP server: connections and threads. Everything about CivetWeb stays behind this interface.
#ifndef SERVER_HTTP_H
#define SERVER_HTTP_H

#include "server/base/services.h"
#include "server/http/response.h"

struct http;

struct http_config {
    const char *listen;       // "127.0.0.1:8080"; port 0 takes a free one
    const char *allow_hosts;  // more names for this service, "a.example,b.example"; NULL: none
    unsigned threads;         // concurrent connections, 0 for the default of 1100
    unsigned per_client;      // of these, per address or token; 0 or more than half: half
    struct services services; // for handlers; they outlive the server, which adds its own

    // Answers a request that passed the pre-check. Never fails.
    void (*answer)(struct request *request, struct response *response);
};

// Starts listening and answering. ERR_USAGE for an invalid address, ERR_BUSY if the port is taken.
// Texts of the config outlive the server.
MUST_CHECK struct http *http_start(const struct http_config *config, struct err *err);

// The port it listens on.
unsigned http_port(const struct http *http);

// From now on new requests get 503, so that those in progress can end.
void http_drain(struct http *http);

// Where other services answer the same: for notice_ms everything is answered as before, and each
// connection ends with its answer, so that a balancer that asks whether this one is ready asks no
// more, and has closed idle connections. Then nothing can connect, which any balancer tells from an
// answer, so that it sends the request elsewhere. Who had connected is accepted first, and what
// still comes on connections that are open is answered.
void http_give_way(struct http *http, uint64_t notice_ms);

// After what is left of a notice drains for at most grace_ms, ends what is left, and frees. NULL is
// allowed.
void http_stop(struct http *http, uint64_t grace_ms);

#endif
