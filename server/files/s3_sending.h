// SPDX-License-Identifier: Apache-2.0
// Sends a file to S3: whole, or in parts if it is large. Thread-safe.
#ifndef SERVER_FILES_S3_SENDING_H
#define SERVER_FILES_S3_SENDING_H

#include "server/files/s3_client.h"

enum { S3_UPLOAD_ID_MOST = 452 }; // percent-encoded

struct s3_sending {
    const char *key, *hash;
    int fd;
    uint64_t bytes;
    char etag[S3_ETAG_SIZE]; // of the object
};

// As s3_send; ERR_LIMIT if it would be too many parts.
MUST_CHECK bool s3_send_file(struct s3_client *client, struct s3_sending *sending, struct err *err);

// Ends an upload in parts: POST makes it an object, DELETE discards it (list NULL). S3 may report a
// failed POST in the body of a 200.
MUST_CHECK bool s3_end_parts(struct s3_client *client, struct s3_sending *sending,
                             const char *method, const char *id, const struct buf *list,
                             struct err *err);

#endif
