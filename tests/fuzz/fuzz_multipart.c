// SPDX-License-Identifier: Apache-2.0
// Any bytes as a multipart body: never a crash, and the same parts however they are split.
#include "server/uploads/multipart.h"

#include "ingest/base/buf.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Either outcome is fine; only crashes are not.
static void ignore(bool outcome)
{
    (void)outcome;
}

struct feed {
    struct str body;
    size_t step, at;
};

static bool feed_read(void *ctx, void *bytes, size_t cap, size_t *got, struct err *err)
{
    (void)err;
    struct feed *feed = ctx;
    size_t len = feed->body.len - feed->at;
    len = len < feed->step ? len : feed->step;
    *got = len < cap ? len : cap;
    memcpy(bytes, feed->body.at + feed->at, *got);
    feed->at += *got;
    return true;
}

// Every part and how it ended, as text.
static void parse(struct str body, size_t step, struct buf *out)
{
    struct feed feed = {body, step, 0};
    struct err err = {0};
    struct multipart_part part;
    struct str bytes;
    bool found = false, ok = true;
    struct multipart *m = multipart_open("x", (struct multipart_source){feed_read, &feed}, &err);
    if (!m)
        return;
    while ((ok = multipart_next(m, &part, &found, &err)) && found) {
        buf_printf(out, "[%s|%d|%s]", part.name, part.is_file, part.filename);
        while ((ok = multipart_read(m, &bytes, &err)) && bytes.len)
            buf_add_str(out, bytes);
        if (!ok)
            break;
    }
    buf_puts(out, ok ? "end" : err.msg);
    multipart_close(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char boundary[MULTIPART_BOUNDARY_MAX + 1];
    struct err err = {0};
    struct buf whole = {0}, stepped = {0};
    if (size == 0)
        return 0;
    struct str body = {(const char *)data + 1, size - 1};
    ignore(multipart_boundary(body, boundary, &err));
    parse(body, SIZE_MAX, &whole);
    parse(body, 1 + data[0] % 64, &stepped);
    // How much of a part was read before an error may differ; whole parts and the error may not.
    bool ended = whole.len >= 3 && memcmp(whole.at + whole.len - 3, "end", 3) == 0;
    if (ended && (whole.len != stepped.len || memcmp(whole.at, stepped.at, whole.len) != 0))
        abort();
    buf_free(&whole);
    buf_free(&stepped);
    return 0;
}
