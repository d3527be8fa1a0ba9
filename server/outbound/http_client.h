// SPDX-License-Identifier: Apache-2.0
// Requests to other services, by libcurl, which is loaded only for that: it brings many libraries.
#ifndef SERVER_HTTP_CLIENT_H
#define SERVER_HTTP_CLIENT_H

#include "ingest/base/buf.h"
#include "ingest/base/err.h"

struct http_client;

// For one thread at a time; open the first one before threads start. ERR_UNSUPPORTED if libcurl is
// not installed.
MUST_CHECK struct http_client *http_client_open(struct err *err);
void http_client_close(struct http_client *client); // NULL is allowed

struct http_call {
    const char *method;
    const char *url;            // as http_client_check_url accepts it
    const char *const *headers; // "Name: value", each plain text
    size_t header_count;
    struct str body;
    int fd; // if file_bytes: the body is this part of a file instead
    uint64_t file_at, file_bytes;
    int64_t timeout_s;           // 0: as long as bytes move
    bool (*stop)(void *context); // NULL, or asked at least once a second
    void *context;
};

struct http_answer {
    long status;
    struct buf headers, body;
};

// Calls and keeps the answer, whatever its status. ERR_BUSY when the service cannot be reached or
// breaks off, ERR_CANCELLED when stop said so, ERR_IO when the file cannot be read, ERR_LIMIT for
// an answer of more than 4 MiB.
MUST_CHECK bool http_client_call(struct http_client *client, const struct http_call *call,
                                 struct http_answer *answer, struct err *err);
void http_answer_free(struct http_answer *answer);

// The value of a header of an answer; at is NULL if there is none.
struct str http_answer_header(const struct http_answer *answer, const char *name);

// Seconds that a Retry-After asks for, up to most_s; -1 without one.
int64_t http_answer_retry_s(const struct http_answer *answer, int64_t most_s);

// ERR_USAGE unless it is http:// or https:// followed by printable text.
MUST_CHECK bool http_client_check_url(const char *url, struct err *err);

// Printable ASCII without spaces: what a header's value or an address may hold as it is.
bool http_client_is_plain(const char *text);

#endif
