// SPDX-License-Identifier: Apache-2.0
// One request as handlers see it: plain texts, without the library.
#ifndef SERVER_REQUEST_H
#define SERVER_REQUEST_H

#include "ingest/base/arena.h"
#include "server/base/principal.h"
#include "server/http/body.h"
#include "server/http/query.h"

struct services;
struct route;

#define REQUEST_MAX_HEADERS  60
#define REQUEST_MAX_CAPTURES 3
#define REQUEST_ID_SIZE      65

struct request_header {
    struct str name, value;
};

struct request {
    const struct services *services;
    struct arena *arena; // freed with the request
    struct str method;
    struct str path;       // as sent, still percent-encoded, without the query
    struct str query_text; // as sent; "" none
    struct query query;    // query_text, decoded
    const struct request_header *headers;
    size_t header_count;
    const struct route *route;                 // the row that matched
    struct str captures[REQUEST_MAX_CAPTURES]; // what {...} in its pattern matched, decoded
    struct body *body;
    struct connection *connection; // it came on, NULL if unknown
    char id[REQUEST_ID_SIZE];      // returned as X-Request-Id
    struct str peer;               // address of the client
    bool by_proxy;                 // forwarded by a trusted proxy; peer is the client it names
    struct principal who;          // set once admitted
    bool takes_place;              // among the uploads in progress
    uint64_t quota_bytes;          // received and not in the store yet
    uint64_t quota_counted;        // bytes of the body counted by the store
    bool quota_stores_nothing;     // its upload is only compared with an earlier one
    bool is_piece;                 // of an upload; only the last one is audited
    bool changes_nothing;          // though its method may; not audited
    bool is_download;              // of a raw file; audited, though nothing changes
    bool notifies;                 // others, though its method is safe; audited
    struct str
        object; // what a change was about, for the audit log: "run r_1", a sha256; "" its path
};

// The first header of that name; at is NULL if there is none.
struct str request_header(const struct request *request, const char *name);
size_t request_header_count(const struct request *request, const char *name);

// Whether its method changes nothing (RFC 9110, 9.2.1).
bool request_is_safe(const struct request *request);

// Whether a comma-separated header contains that word, not refused by ";q=0".
bool request_accepts(const struct request *request, const char *header, const char *word);

// Whether a browser asks for a page rather than a program for data.
bool request_wants_page(const struct request *request);

// Whether the Content-Type is that media type, ignoring parameters.
bool request_has_type(const struct request *request, const char *type);

// "https://traces.example" or "http://HOST" of this request: the start of links. In the arena.
MUST_CHECK bool request_base_url(const struct request *request, struct str *url, struct err *err);

#endif
