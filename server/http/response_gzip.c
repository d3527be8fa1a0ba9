// SPDX-License-Identifier: Apache-2.0
// Compresses answers for clients that accept gzip.
#include "server/http/gzip.h"
#include "server/http/response.h"

#define SMALLEST_BYTES 1024 // smaller answers fit one packet anyway

static bool is_text(const char *type)
{
    struct str text = str_of(type);
    return str_starts_with(text, STR("text/")) || str_find(text, STR("json")) != SIZE_MAX ||
           str_find(text, STR("csv")) != SIZE_MAX || str_find(text, STR("xml")) != SIZE_MAX;
}

static bool add(void *context, const char *at, size_t len)
{
    buf_add(context, at, len);
    return true;
}

static bool compress_all(struct str in, struct buf *out)
{
    struct gzip gzip = {.write = add, .context = out};
    if (!gzip_start(&gzip))
        return false;
    bool ok = gzip_add(&gzip, in, true);
    gzip_end(&gzip);
    return ok && !out->failed;
}

bool response_packs(const struct request *request, const struct response *response)
{
    return !response->gzipped && response->type && is_text(response->type) &&
           request_accepts(request, "Accept-Encoding", "gzip");
}

void response_compress(const struct request *request, struct response *response)
{
    struct str plain = response->borrowed.at ? response->borrowed
                                             : (struct str){response->body.at, response->body.len};
    if (response->fd >= 0 || response->stream.next || plain.len < SMALLEST_BYTES ||
        !response_packs(request, response))
        return;
    struct buf packed = {0};
    if (!compress_all(plain, &packed) || packed.len >= plain.len) {
        buf_free(&packed);
        return;
    }
    buf_free(&response->body);
    response->borrowed = (struct str){0};
    response->body = packed;
    response->gzipped = true;
}
