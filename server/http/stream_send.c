// SPDX-License-Identifier: Apache-2.0
// Pieces to chunks, compressed on the fly.
#include "server/http/stream_send.h"

#include "server/http/connections.h"
#include "server/http/gzip.h"

#include "ingest/base/log.h"

#include <stdio.h>

static bool write_chunk(void *context, const char *at, size_t len)
{
    struct stream_send *send = context;
    char size[24];
    int digits = snprintf(size, sizeof size, "%zx\r\n", len);
    if (len == 0) // it would be the last one
        return true;
    bool ok = !send->chunked || send->write(send->context, size, (size_t)digits);
    ok = ok && send->write(send->context, at, len) &&
         (!send->chunked || send->write(send->context, "\r\n", 2));
    send->sent_bytes += ok ? len : 0;
    return ok;
}

// Without gzip, pieces are sent as they are.
static bool write_piece(struct stream_send *send, struct gzip *gzip, const struct buf *piece,
                        bool last)
{
    struct str content = {piece->at, piece->len};
    return gzip->work ? gzip_add(gzip, content, last) : write_chunk(send, content.at, content.len);
}

static bool write_pieces(struct stream_send *send, struct gzip *gzip, struct response *response)
{
    struct err err = {.pos = ERR_NO_POS};
    bool more = true;
    if (!write_piece(send, gzip, &response->body, false))
        return false;
    while (more) {
        buf_clear(&response->body);
        if (!response->stream.next(response->stream.context, &response->body, &more, &err) ||
            !buf_ok(&response->body, &err)) {
            log_warn("an answer was cut off: %s", err.msg);
            return false;
        }
        bool waits = more && response->body.len == 0;
        // A failed write would tell, but there is nothing to write yet.
        if ((waits && connections_has_left(send->fd)) ||
            !write_piece(send, gzip, &response->body, !more))
            return false;
    }
    return true;
}

bool stream_send(struct stream_send *send, struct response *response)
{
    struct gzip gzip = {.write = write_chunk, .context = send};
    if (send->packed && !gzip_start(&gzip))
        return false;
    bool ok = write_pieces(send, &gzip, response);
    gzip_end(&gzip);
    return ok && (!send->chunked || send->write(send->context, "0\r\n\r\n", 5));
}
