// SPDX-License-Identifier: Apache-2.0
// An answer being built: handlers fill it, http.c sends it.
#ifndef SERVER_RESPONSE_H
#define SERVER_RESPONSE_H

#include "server/http/request.h"

#define RESPONSE_MAX_HEADERS 12

enum response_cache {
    CACHE_REVALIDATE, // private, no-cache: cached, but revalidated each time
    CACHE_IMMUTABLE,  // the address changes with the content
    CACHE_NEVER,
};

// Content generated while it is sent, so its length is not known yet.
struct response_stream {
    // Adds the next piece; *more: another may follow. A failure truncates the answer.
    bool (*next)(void *context, struct buf *out, bool *more, struct err *err);
    void (*end)(void *context); // NULL: nothing to free
    void *context;
    uint64_t held_bytes; // memory held while it is sent
};

struct response {
    int status;                    // 0: 200, or the error's
    const char *type;              // Content-Type, with charset where it is text
    struct buf body;               // what to send, or
    struct str borrowed;           // what to send, outliving the request, or
    struct response_stream stream; // after body, if next is set, or
    int fd;                        // a file to send, closed afterwards; -1 none
    uint64_t file_bytes;           // of fd
    bool gzipped;                  // the content is already one gzip member
    struct str etag;               // with its quotes; "" none
    bool lasts;                    // it follows from the store and the request alone;
    int64_t from_ns, until_ns;     // and, if until_ns is set, only between these times
    bool inline_style;             // a page without scripts that brings its style
    bool runs_module;              // a page or script that runs WebAssembly
    enum response_cache cache;
    const char *word; // of the problem type; NULL: from the error code
    struct str fix;   // what to do about the problem; "" none
    struct request_header headers[RESPONSE_MAX_HEADERS];
    size_t header_count;
};

void response_init(struct response *response);
void response_free(struct response *response);

// Adds a header line; control characters in the value become '?'. Left out if memory runs out.
void response_header(struct response *response, struct arena *arena, const char *name,
                     const char *fmt, ...) PRINTF_LIKE(4, 5);

// Makes the answer a download: `attachment; filename="..."` of letters, digits and dashes.
void response_download(struct response *response, struct arena *arena, struct str name,
                       const char *suffix);

// Sets the ETag to "fmt" in quotes. True if the client has exactly that: the answer is then
// complete (304) and the handler is done.
bool response_unchanged(const struct request *request, struct response *response, const char *fmt,
                        ...) PRINTF_LIKE(3, 4);
// The same where "fmt" stands for the data of an answer that is still to be made, not for its
// bytes: another program makes other bytes of them, and has another ETag.
bool response_data_unchanged(const struct request *request, struct response *response,
                             const char *fmt, ...) PRINTF_LIKE(3, 4);

// An answer's status and the word of its problem type.
struct refusal {
    int status;
    const char *word;
};

// Fails with a specific status and problem word; returns false like err_set.
bool response_refuse(struct response *response, struct err *err, struct refusal refusal,
                     const char *fmt, ...) PRINTF_LIKE(4, 5);

// "Retry-After" of a few seconds, spread so that clients do not come back all at once; unless
// already set.
void response_retry_later(struct response *response, struct request *request);

// Fails since the service is about to stop; more: what follows these words.
bool response_stopping(struct response *response, struct request *request, const char *more,
                       struct err *err);

// Whether the client's If-None-Match or If-Match list contains the tag (or "*"); weak marks are
// ignored.
bool response_tag_matches(struct str list, struct str etag);

// Replaces the body by its gzip form if the client accepts it and it pays.
void response_compress(const struct request *request, struct response *response);

// Whether its content, if long enough, would be compressed for this client.
bool response_packs(const struct request *request, const struct response *response);

// The standard phrase: "200 OK" and so on.
const char *response_phrase(int status);

#endif
