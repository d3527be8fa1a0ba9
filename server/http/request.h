// SPDX-License-Identifier: Apache-2.0
// One request as handlers see it: plain texts, no library behind it.
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
    struct arena *arena; // dies with the request
    struct str method;
    struct str path;       // as sent, still percent-encoded, without the query
    struct str query_text; // as sent; "" none
    struct query query;    // query_text, decoded
    const struct request_header *headers;
    size_t header_count;
    const struct route *route;                 // the row that serves it
    struct str captures[REQUEST_MAX_CAPTURES]; // what stood for {...} in its pattern, decoded
    struct body *body;
    struct connection *connection; // that it came on, NULL unknown
    char id[REQUEST_ID_SIZE];      // given back as X-Request-Id
    struct str peer;               // address of the client
    bool by_proxy;                 // passed on by a trusted proxy; peer is whom it names
    struct principal who;          // set once admitted
    bool takes_place;              // among the uploads under way
    uint64_t quota_bytes;          // that came and are not in the store yet
    uint64_t quota_counted;        // bytes of the body that the store counted
    bool quota_stores_nothing;     // its upload is only compared with one that came before
    bool is_piece;                 // of an upload; only the last one is for the audit log
    bool is_download;              // of a raw file; for the audit log, though nothing changes
    struct str
        object; // what a change was about, for the audit log: "run r_1", a sha256; "" its path
};

// The first header of that name; at is NULL when there is none.
struct str request_header(const struct request *request, const char *name);
size_t request_header_count(const struct request *request, const char *name);

// Whether its method changes nothing (RFC 9110, 9.2.1).
bool request_is_safe(const struct request *request);

// Whether a comma-separated header holds that word, not refused by ";q=0".
bool request_accepts(const struct request *request, const char *header, const char *word);

// Whether a browser asks for a page rather than a program for data.
bool request_wants_page(const struct request *request);

// Whether the Content-Type is that media type, whatever its parameters.
bool request_has_type(const struct request *request, const char *type);

// "https://traces.example" or "http://HOST" of this request: what links begin with. In the arena.
MUST_CHECK bool request_base_url(const struct request *request, struct str *url, struct err *err);

#endif
