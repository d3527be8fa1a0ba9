// SPDX-License-Identifier: Apache-2.0
// Signs requests to S3: AWS Signature Version 4.
#ifndef SERVER_FILES_SIGV4_H
#define SERVER_FILES_SIGV4_H

#include "ingest/base/buf.h"

#include <stdint.h>

struct sigv4_keys {
    const char *id, *secret;
    const char *token; // of a session, NULL: none
    const char *region;
};

// The parts of a request that are signed.
struct sigv4_request {
    const char *method, *host;
    const char *path;         // percent-encoded, starting with '/'
    const char *query;        // sorted and percent-encoded, "" none
    const char *payload_hash; // lower-case hex
    const char *meta_hash;    // for x-amz-meta-sha256, NULL: none
    int64_t at_s;             // seconds since 1970
};

enum { SIGV4_HEADERS = 5, SIGV4_HEADER_SIZE = 2048 };

// Header lines to send; those that are not needed are "".
struct sigv4_headers {
    char lines[SIGV4_HEADERS][SIGV4_HEADER_SIZE];
};

// ERR_USAGE for keys that are too long, ERR_INTERNAL if the hash functions fail.
MUST_CHECK bool sigv4_sign(const struct sigv4_keys *keys, const struct sigv4_request *request,
                           struct sigv4_headers *headers, struct err *err);

// Percent-encodes what is not a letter, a digit or one of "-._~" and, in paths, '/'.
void sigv4_encode(struct str text, bool is_path, struct buf *out);

#endif
