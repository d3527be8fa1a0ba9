// SPDX-License-Identifier: Apache-2.0
// Requests to a bucket of S3. Each is tried a few times, and an answer that broke off is continued,
// not begun again, as long as the object is the same; bytes are checked by their SHA-256 on the
// way there. Thread-safe.
#ifndef SERVER_FILES_S3_CLIENT_H
#define SERVER_FILES_S3_CLIENT_H

#include "ingest/base/buf.h"

struct s3_client;

enum { S3_HASH_SIZE = 65, S3_ETAG_SIZE = 100 };

// A request's body is the bytes of a file, or a text.
struct s3_request {
    const char *method;
    const char *key;   // below the prefix of the place; "" for the bucket itself
    const char *query; // sorted and percent-encoded, "" none
    int fd;            // of the body, -1: text
    uint64_t from, bytes;
    struct str text;
    const char *hash;      // of the body, NULL: it is hashed first
    const char *meta_hash; // kept with the object; NULL: none
    int64_t asked_s;       // S3 refuses it 15 minutes after that time of day; 0: now
    int once_ms;           // one try of at most this long; 0: several, as long as bytes arrive
    int into_fd;           // the answer's body goes there, alone; -1: to answer->text
};

struct s3_answer {
    struct buf text;
    uint64_t bytes; // size of the object
    char etag[S3_ETAG_SIZE];
    char meta_hash[S3_HASH_SIZE]; // "" none
};

// place: s3://BUCKET[/PREFIX][?endpoint=URL&region=NAME&part_bytes=COUNT]. The keys are
// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN of the environment. ERR_USAGE,
// ERR_UNSUPPORTED.
MUST_CHECK struct s3_client *s3_client_open(const char *place, struct err *err);
void s3_client_close(struct s3_client *client); // NULL is allowed

// ERR_NOT_FOUND; ERR_BUSY if the service cannot be reached, asks to slow down or refuses to be
// read; ERR_IO if it refuses a write or what arrives is not what was sent. Free answer->text in any
// case.
MUST_CHECK bool s3_send(struct s3_client *client, const struct s3_request *request,
                        struct s3_answer *answer, struct err *err);

// Larger files are sent in parts of this.
uint64_t s3_client_part_bytes(const struct s3_client *client);

// The prefix before each key, percent-encoded for a query.
const char *s3_client_prefix(const struct s3_client *client);

// The hash of a part of a file.
MUST_CHECK bool s3_hash(int fd, uint64_t from, uint64_t bytes, char hash[S3_HASH_SIZE],
                        struct err *err);

#endif
