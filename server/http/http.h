// SPDX-License-Identifier: Apache-2.0
// The HTTP server: connections and threads. Everything about CivetWeb stays behind this interface.
#ifndef SERVER_HTTP_H
#define SERVER_HTTP_H

#include "server/files/intake.h"
#include "server/files/retention_plan.h"

struct http;
struct metrics;

struct http_config {
    const char *listen;        // "127.0.0.1:8080"; port 0 takes a free one
    const char *public_url;    // what links begin with, "https://traces.example"; NULL: Host
    const char *allow_hosts;   // more names of this service, "a.example,b.example"; NULL: none
    const char *web_dir;       // serve the dashboard from this folder instead; NULL: as built in
    uint64_t max_upload_bytes; // of one request
    uint64_t min_free_bytes;   // disk space that uploads leave free
    struct retention_rules retention;
    unsigned uploads_in_flight; // the next one is told to come back later
    uint64_t queue_limit;       // so many jobs may wait before uploads are refused; 0 any
    int64_t resume_ns;          // how long an upload in pieces waits for its next byte
    unsigned threads;           // connections served at a time, 0 for the default of 1100
    unsigned per_client;     // of these, of one address or token; 0 or more than half: half of them
    struct metrics *metrics; // NULL: nothing is counted; outlives the server
    struct intake intake;    // outlives the server
    struct access *access;   // these three may be NULL, too: see services.h
    struct quota *quota;
    struct audit *audit;
};

// Begins to listen and to answer. ERR_USAGE for an address that cannot be one, ERR_BUSY when the
// port is taken. Texts of the config outlive the server.
MUST_CHECK struct http *http_start(const struct http_config *config, struct err *err);

// The port that is listened on.
unsigned http_port(const struct http *http);

// From now on new requests are answered 503, so that what is under way can end.
void http_drain(struct http *http);

// Drains for at most grace_ms, ends what is left, and frees. NULL is allowed.
void http_stop(struct http *http, uint64_t grace_ms);

#endif
