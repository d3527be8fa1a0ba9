// SPDX-License-Identifier: Apache-2.0
// What the files of the tus protocol share: an upload in pieces as a request names it.
#ifndef SERVER_TUS_H
#define SERVER_TUS_H

#include "server/api/api_parts.h"
#include "server/store/store_resumable.h"

#define TUS_PATH         "/api/v1/tus"
#define TUS_MAX_METADATA ((size_t)8192)

// "Upload-Offset" and how long the upload lasts.
void tus_show_offset(struct request *request, struct response *response, uint64_t offset);
void tus_show_expiry(struct request *request, struct response *response, int64_t expires_ns);

// "Upload-Result" and "Upload-Run": what an upload became.
MUST_CHECK bool tus_show_result(struct request *request, struct response *response,
                                struct str upload_id, struct err *err);

// When an upload whose last byte came now is given up.
int64_t tus_expiry(const struct request *request);

// The form that metadata describes; the file is missing still. ERR_USAGE for what cannot be.
MUST_CHECK struct upload_form *tus_form(struct request *request, struct str metadata,
                                        struct str *filename, struct err *err);

// Receives the request's body as the piece of an open upload that begins at offset, and accepts the
// upload when it is complete (tus_receive.c). What came of a piece that breaks off is kept.
MUST_CHECK bool tus_receive(struct request *request, struct response *response,
                            const struct resumable *resumable, uint64_t offset, struct err *err);

// Says how many bytes are there, on disk for good. All of them: accepts the upload, should that
// have failed before.
MUST_CHECK bool tus_settle(struct request *request, struct response *response,
                           const struct resumable *resumable, struct err *err);

#endif
