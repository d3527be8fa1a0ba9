// SPDX-License-Identifier: Apache-2.0
// The output file: one buffer in front of write(2), zlib or libzstd.
#include "tests/tracegen/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { BUFFER_BYTES = 1 << 20, GZ_LEVEL = 1, ZST_LEVEL = 1, GZIP_WINDOW = 15 + 16 };
enum { RESPACE_BYTES = BUFFER_BYTES / RESPACE_GROWTH }; // of text whose new form fits the buffer

struct outfile {
    int fd;
    enum outfile_format format;
    size_t used;
    uint64_t flushed;
    char *path;
    char *text;   // BUFFER_BYTES not compressed yet
    char *packed; // BUFFER_BYTES for the compressors
    char *draft;  // BUFFER_BYTES as written, if white space changes; else NULL
    struct respace respace;
    z_stream gz;
    ZSTD_CCtx *zst;
};

void outfile_die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("tracegen: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

void *outfile_memory(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory)
        outfile_die("found no memory for %zu bytes", count * size);
    return memory;
}

static void write_all(struct outfile *out, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(out->fd, bytes, size);
        if (n < 0 && errno != EINTR)
            outfile_die("cannot write %s: %s", out->path, strerror(errno));
        if (n > 0) {
            bytes += n;
            size -= (size_t)n;
        }
    }
}

static void pack_gz(struct outfile *out, int flush)
{
    out->gz.next_in = (unsigned char *)out->text;
    out->gz.avail_in = (unsigned)out->used;
    do {
        out->gz.next_out = (unsigned char *)out->packed;
        out->gz.avail_out = BUFFER_BYTES;
        if (deflate(&out->gz, flush) == Z_STREAM_ERROR)
            outfile_die("cannot compress %s", out->path);
        write_all(out, out->packed, BUFFER_BYTES - out->gz.avail_out);
    } while (out->gz.avail_out == 0);
}

static void pack_zst(struct outfile *out, ZSTD_EndDirective end)
{
    ZSTD_inBuffer in = {out->text, out->used, 0};
    size_t left = 0;
    do {
        ZSTD_outBuffer packed = {out->packed, BUFFER_BYTES, 0};
        left = ZSTD_compressStream2(out->zst, &packed, &in, end);
        if (ZSTD_isError(left))
            outfile_die("cannot compress %s: %s", out->path, ZSTD_getErrorName(left));
        write_all(out, out->packed, packed.pos);
    } while (in.pos < in.size || (end == ZSTD_e_end && left > 0));
}

static void flush(struct outfile *out, bool last)
{
    switch (out->format) {
    case OUTFILE_JSON: write_all(out, out->text, out->used); break;
    case OUTFILE_GZ: pack_gz(out, last ? Z_FINISH : Z_NO_FLUSH); break;
    case OUTFILE_ZST: pack_zst(out, last ? ZSTD_e_end : ZSTD_e_continue); break;
    }
    out->flushed += out->used;
    out->used = 0;
}

struct outfile *outfile_open(const char *path, enum outfile_format format, enum spacing spacing)
{
    struct outfile *out = outfile_memory(1, sizeof *out);
    out->format = format;
    out->respace.spacing = spacing;
    if (spacing != SPACING_AS_WRITTEN)
        out->draft = outfile_memory(1, BUFFER_BYTES);
    out->path = strdup(path);
    out->text = outfile_memory(1, BUFFER_BYTES);
    out->packed = outfile_memory(1, BUFFER_BYTES);
    out->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (out->fd < 0)
        outfile_die("cannot create %s: %s", path, strerror(errno));
    if (format == OUTFILE_GZ &&
        deflateInit2(&out->gz, GZ_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        outfile_die("cannot start zlib for %s", path);
    if (format == OUTFILE_ZST) {
        out->zst = ZSTD_createCCtx();
        if (!out->zst)
            outfile_die("cannot start zstd for %s", path);
        ZSTD_CCtx_setParameter(out->zst, ZSTD_c_compressionLevel, ZST_LEVEL);
    }
    return out;
}

char *outfile_reserve(struct outfile *out, size_t size)
{
    if (out->draft)
        return out->draft;
    if (out->used + size > BUFFER_BYTES)
        flush(out, false);
    return out->text + out->used;
}

static void commit_draft(struct outfile *out, size_t size)
{
    for (size_t at = 0; at < size; at += RESPACE_BYTES) {
        size_t part = size - at < RESPACE_BYTES ? size - at : RESPACE_BYTES;
        if (out->used + part * RESPACE_GROWTH > BUFFER_BYTES)
            flush(out, false);
        char *end = respace_put(&out->respace, out->draft + at, part, out->text + out->used);
        out->used = (size_t)(end - out->text);
    }
}

void outfile_commit(struct outfile *out, const char *end)
{
    if (out->draft)
        commit_draft(out, (size_t)(end - out->draft));
    else
        out->used = (size_t)(end - out->text);
}

uint64_t outfile_text_bytes(const struct outfile *out)
{
    return out->flushed + out->used;
}

void outfile_close(struct outfile *out)
{
    flush(out, true);
    if (out->format == OUTFILE_GZ)
        deflateEnd(&out->gz);
    ZSTD_freeCCtx(out->zst);
    if (close(out->fd) != 0)
        outfile_die("cannot close %s: %s", out->path, strerror(errno));
    free(out->path);
    free(out->text);
    free(out->packed);
    free(out->draft);
    free(out);
}
