// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the tus protocol: a resumable upload as a request names it.
#ifndef SERVER_TUS_H
#define SERVER_TUS_H

#include "server/api/api_parts.h"
#include "server/store/store_resumable.h"

#define TUS_PATH         "/api/v1/tus"
#define TUS_MAX_METADATA ((size_t)8192)

// "Upload-Offset" and when the upload expires.
void tus_show_offset(struct request *request, struct response *response, uint64_t offset);
void tus_show_expiry(struct request *request, struct response *response, int64_t expires_ns);

// "Upload-Result" and "Upload-Run": what an upload became.
MUST_CHECK bool tus_show_result(struct request *request, struct response *response,
                                struct str upload_id, struct err *err);

// When an upload expires if its last byte arrived now.
int64_t tus_expiry(const struct request *request);

// The form that the metadata describes; it has no file yet. ERR_USAGE for invalid metadata.
MUST_CHECK struct upload_form *tus_form(struct request *request, struct str metadata,
                                        struct str *filename, struct err *err);

// The name that the metadata gives its file.
MUST_CHECK bool tus_filename(struct request *request, struct str metadata, struct str *filename,
                             struct err *err);

// Receives the request's body as the piece of an open upload that starts at offset, and accepts the
// upload when it is complete (tus_receive.c). Bytes of a piece that breaks off are kept.
MUST_CHECK bool tus_receive(struct request *request, struct response *response,
                            const struct resumable *resumable, uint64_t offset, struct err *err);

// Reports how many bytes are durable. If all are there: accepts the upload, in case that failed
// before.
MUST_CHECK bool tus_settle(struct request *request, struct response *response,
                           const struct resumable *resumable, struct err *err);

#endif
