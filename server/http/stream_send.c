// SPDX-License-Identifier: Apache-2.0
// Pieces to chunks, compressed on the fly.
#include "server/http/stream_send.h"

#include "server/http/connections.h"

#include "ingest/base/log.h"

#include <stdio.h>
#include <zlib.h>

#define LEVEL       1 // the client waits for it, and the network is rarely slower
#define CHUNK_BYTES ((size_t)16 * 1024)

struct packer {
    struct stream_send *send;
    z_stream stream;
    unsigned char block[CHUNK_BYTES];
};

static bool write_chunk(struct stream_send *send, const char *at, size_t len)
{
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

static bool pack(struct packer *packer, struct str in, bool last)
{
    z_stream *stream = &packer->stream;
    stream->next_in = (z_const Bytef *)(uintptr_t)in.at;
    stream->avail_in = (uInt)in.len;
    do {
        stream->next_out = packer->block;
        stream->avail_out = sizeof packer->block;
        if (deflate(stream, last ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR ||
            !write_chunk(packer->send, (const char *)packer->block,
                         sizeof packer->block - stream->avail_out))
            return false;
    } while (stream->avail_out == 0);
    return true;
}

static bool write_piece(struct packer *packer, const struct buf *piece, bool last)
{
    if (packer->send->packed)
        return pack(packer, (struct str){piece->at, piece->len}, last);
    return write_chunk(packer->send, piece->at, piece->len);
}

static bool write_pieces(struct packer *packer, struct response *response)
{
    struct err err = {.pos = ERR_NO_POS};
    bool more = true;
    if (!write_piece(packer, &response->body, false))
        return false;
    while (more) {
        buf_clear(&response->body);
        if (!response->stream.next(response->stream.context, &response->body, &more, &err) ||
            !buf_ok(&response->body, &err)) {
            log_warn("an answer was cut off: %s", err.msg);
            return false;
        }
        bool waits = more && response->body.len == 0;
        // Writing would tell, but there is nothing to write yet.
        if ((waits && connections_has_left(packer->send->fd)) ||
            !write_piece(packer, &response->body, !more))
            return false;
    }
    return true;
}

bool stream_send(struct stream_send *send, struct response *response)
{
    struct packer packer = {.send = send};
    bool packed = send->packed;
    if (packed &&
        deflateInit2(&packer.stream, LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    bool ok = write_pieces(&packer, response);
    if (packed)
        deflateEnd(&packer.stream);
    return ok && (!send->chunked || send->write(send->context, "0\r\n\r\n", 5));
}
