// SPDX-License-Identifier: Apache-2.0
// Compressed streams and sources for tests; include after cmocka.h.
#ifndef TESTS_UNIT_COMPRESS_H
#define TESTS_UNIT_COMPRESS_H

#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>

#include "ingest/base/buf.h"
#include "ingest/source/format.h"
#include "ingest/source/source.h"

// A gzip member with text, at a zlib level.
static inline void add_gzip(struct buf *out, struct str text, int level)
{
    z_stream z = {0};
    unsigned char block[4096];
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (const unsigned char *)text.at;
    z.avail_in = (uInt)text.len;
    int code = Z_OK;
    while (code != Z_STREAM_END) {
        z.next_out = block;
        z.avail_out = sizeof block;
        code = deflate(&z, Z_FINISH);
        buf_add(out, block, sizeof block - z.avail_out);
    }
    deflateEnd(&z);
}

// A zstd frame with text and its checksum.
static inline void add_zstd(struct buf *out, struct str text)
{
    size_t cap = ZSTD_compressBound(text.len);
    char *block = malloc(cap);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    size_t len = ZSTD_compress2(context, block, cap, text.at, text.len);
    assert_false(ZSTD_isError(len));
    buf_add(out, block, len);
    ZSTD_freeCCtx(context);
    free(block);
}

static inline struct str compress_text(const struct buf *buf)
{
    return (struct str){buf->len ? buf->at : "", buf->len};
}

// Reads a source to its end or failure in blocks of `cap` bytes and closes it.
static inline enum err_code compress_drain(struct source *source, size_t cap, struct buf *out)
{
    struct err err = {0};
    char *block = malloc(cap);
    size_t got = 1;
    while (got > 0 && source_read(source, block, cap, &got, &err)) {
        assert_true(got <= cap);
        buf_add(out, block, got);
    }
    free(block);
    source_close(source);
    return err.code;
}

// Same for bytes in memory with any compression, delivered `step` at a time.
static inline enum err_code compress_read(struct str bytes, size_t step, struct buf *out)
{
    struct err err = {0};
    struct source *source = source_mem_open(bytes.at, bytes.len, step, &err);
    assert_non_null(source);
    source = format_open(source, NULL, &(struct format_found){0}, &err);
    return source ? compress_drain(source, 1000, out) : err.code;
}

#endif
