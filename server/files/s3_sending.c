// SPDX-License-Identifier: Apache-2.0
// Files on their way to S3: whole, or in parts if they are large.
#include "server/files/s3_sending.h"

#include "server/files/s3_list.h"
#include "server/files/sigv4.h"

#include <stdio.h>
#include <string.h>

enum { MAX_PARTS = 10000, QUERY_SIZE = S3_UPLOAD_ID_MOST + 60 };

static bool send_whole(struct s3_client *client, struct s3_sending *sending, struct err *err)
{
    struct s3_answer answer;
    struct s3_request request = {.method = "PUT",
                                 .key = sending->key,
                                 .query = "",
                                 .fd = sending->fd,
                                 .bytes = sending->bytes,
                                 .hash = sending->hash,
                                 .meta_hash = sending->hash,
                                 .into_fd = -1};
    bool ok = s3_send(client, &request, &answer, err);
    snprintf(sending->etag, sizeof sending->etag, "%s", answer.etag);
    buf_free(&answer.text);
    return ok;
}

// The id of an upload in parts, percent-encoded.
static bool begin_parts(struct s3_client *client, const struct s3_sending *sending, struct buf *id,
                        struct err *err)
{
    struct s3_answer answer;
    struct s3_request request = {.method = "POST",
                                 .key = sending->key,
                                 .query = "uploads=",
                                 .fd = -1,
                                 .meta_hash = sending->hash,
                                 .into_fd = -1};
    bool ok = s3_send(client, &request, &answer, err);
    if (ok)
        sigv4_encode(s3_list_text((struct str){answer.text.at, answer.text.len}, STR("UploadId")),
                     false, id);
    buf_free(&answer.text);
    return ok && buf_ok(id, err) &&
           ((id->len > 0 && id->len < S3_UPLOAD_ID_MOST) ||
            err_set(err, ERR_IO, "S3 began an upload without an id"));
}

static bool send_part(struct s3_client *client, const struct s3_sending *sending, const char *id,
                      int number, struct buf *list, struct err *err)
{
    char query[QUERY_SIZE];
    struct s3_answer answer;
    uint64_t most = s3_client_part_bytes(client);
    uint64_t from = (uint64_t)(number - 1) * most, left = sending->bytes - from;
    snprintf(query, sizeof query, "partNumber=%d&uploadId=%s", number, id);
    struct s3_request request = {.method = "PUT",
                                 .key = sending->key,
                                 .query = query,
                                 .fd = sending->fd,
                                 .from = from,
                                 .bytes = left < most ? left : most,
                                 .into_fd = -1};
    bool ok = s3_send(client, &request, &answer, err);
    buf_free(&answer.text);
    buf_printf(list, "<Part><PartNumber>%d</PartNumber><ETag>%s</ETag></Part>", number,
               answer.etag);
    return ok && buf_ok(list, err);
}

bool s3_end_parts(struct s3_client *client, struct s3_sending *sending, const char *method,
                  const char *id, const struct buf *list, struct err *err)
{
    char query[QUERY_SIZE];
    struct s3_answer answer;
    snprintf(query, sizeof query, "uploadId=%s", id);
    struct s3_request request = {.method = method,
                                 .key = sending->key,
                                 .query = query,
                                 .fd = -1,
                                 .text = list ? (struct str){list->at, list->len} : STR(""),
                                 .into_fd = -1};
    bool ok = s3_send(client, &request, &answer, err);
    struct str body = {answer.text.at ? answer.text.at : "", answer.text.len};
    struct str etag = s3_list_text(body, STR("ETag"));
    if (ok && list && etag.len == 0) // a failure, or Ceph 16, which leaves it empty
        ok = err_set(err, ERR_NOT_FOUND, "S3 did not put the parts of %s together", sending->key);
    snprintf(sending->etag, sizeof sending->etag, "%s", answer.etag);
    buf_free(&answer.text);
    return ok;
}

// The answer may have been lost, empty or too late: then the upload is over, and the object exists.
static bool is_complete(struct s3_client *client, struct s3_sending *sending, struct err *err)
{
    struct s3_answer answer;
    struct s3_request request = {
        .method = "HEAD", .key = sending->key, .query = "", .fd = -1, .into_fd = -1};
    bool is_known = s3_send(client, &request, &answer, err) || err->code == ERR_NOT_FOUND;
    bool ok = answer.bytes == sending->bytes && strcmp(answer.meta_hash, sending->hash) == 0;
    snprintf(sending->etag, sizeof sending->etag, "%s", answer.etag);
    buf_free(&answer.text);
    return is_known && (ok || err_set(err, ERR_BUSY, "S3 lost the parts of %s", sending->key));
}

static bool send_parts(struct s3_client *client, struct s3_sending *sending, struct err *err)
{
    struct buf id = {0}, list = {0};
    uint64_t part = s3_client_part_bytes(client);
    uint64_t count = ((sending->bytes + part - 1) / part);
    bool ok = count <= MAX_PARTS || err_set(err, ERR_LIMIT, "a file is too large for S3");
    bool begun = ok = ok && begin_parts(client, sending, &id, err);
    buf_puts(&list, "<CompleteMultipartUpload>");
    for (int i = 1; ok && i <= (int)count; i++)
        ok = send_part(client, sending, id.at, i, &list, err);
    buf_puts(&list, "</CompleteMultipartUpload>");
    ok = ok && buf_ok(&list, err) &&
         (s3_end_parts(client, sending, "POST", id.at, &list, err) ||
          ((err->code == ERR_NOT_FOUND || err->code == ERR_BUSY) &&
           is_complete(client, sending, err)));
    struct err ignored; // a sweep removes what remains
    if (begun && !ok)
        (void)!s3_end_parts(client, sending, "DELETE", id.at, NULL, &ignored);
    buf_free(&id);
    buf_free(&list);
    return ok;
}

bool s3_send_file(struct s3_client *client, struct s3_sending *sending, struct err *err)
{
    return sending->bytes > s3_client_part_bytes(client) ? send_parts(client, sending, err)
                                                         : send_whole(client, sending, err);
}
