// SPDX-License-Identifier: Apache-2.0
// Makes the forms of one trace that are compared with each other.
#include "tests/bench/corpus.h"
#include "tests/bench/simdjson_pass.h"

#include "ingest/source/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

static bool out_of_memory(struct err *err)
{
    return err_set(err, ERR_LIMIT, "out of memory");
}

static bool read_all(struct source *source, struct str *text, struct err *err)
{
    size_t cap = 0, len = 0, got = 1;
    char *bytes = NULL;
    for (bool ok = true; got; len += got) {
        if (len == cap) {
            cap = cap ? cap * 2 : (size_t)1 << 24;
            char *grown = realloc(bytes, cap + SIMDJSON_PASS_PADDING);
            ok = grown || out_of_memory(err);
            bytes = grown ? grown : bytes;
        }
        if (!ok || !source_read(source, bytes + len, cap - len, &got, err)) {
            free(bytes);
            return false;
        }
    }
    memset(bytes + len, 0, SIMDJSON_PASS_PADDING);
    *text = (struct str){bytes, len};
    return true;
}

static bool read_text(const char *path, struct str *text, struct err *err)
{
    struct source *source = source_file_open(path, err);
    if (!source || !(source = format_open(source, NULL, &(struct format_found){0}, err)))
        return false;
    bool ok = read_all(source, text, err);
    source_close(source);
    return ok;
}

static bool pack_zstd(struct str text, struct str *packed, struct err *err)
{
    size_t cap = ZSTD_compressBound(text.len);
    char *bytes = malloc(cap);
    if (!bytes)
        return out_of_memory(err);
    size_t len = ZSTD_compress(bytes, cap, text.at, text.len, CORPUS_ZSTD_LEVEL);
    *packed = (struct str){bytes, len};
    return !ZSTD_isError(len) || err_set(err, ERR_INTERNAL, "zstd: %s", ZSTD_getErrorName(len));
}

// zlib counts its input in 32 bits, so larger texts are passed in parts.
static bool deflate_all(z_stream *stream, struct str text)
{
    for (size_t at = 0; at < text.len;) {
        size_t part = text.len - at < (1u << 30) ? text.len - at : 1u << 30;
        char *from;
        memcpy(&from, &text.at, sizeof from);
        stream->next_in = (Bytef *)(from + at);
        stream->avail_in = (uInt)part;
        stream->avail_out = UINT32_MAX;
        at += part;
        int code = deflate(stream, at == text.len ? Z_FINISH : Z_NO_FLUSH);
        if (stream->avail_in || (at == text.len && code != Z_STREAM_END))
            return false;
    }
    return true;
}

static bool pack_gzip(struct str text, struct str *packed, struct err *err)
{
    z_stream stream = {0};
    if (deflateInit2(&stream, CORPUS_GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return out_of_memory(err);
    char *bytes = malloc(deflateBound(&stream, text.len));
    stream.next_out = (Bytef *)bytes;
    bool ok = bytes ? deflate_all(&stream, text) || err_set(err, ERR_INTERNAL, "zlib failed")
                    : out_of_memory(err);
    *packed = (struct str){bytes, stream.total_out};
    deflateEnd(&stream);
    return ok;
}

static bool write_file(const char *path, struct str bytes, struct err *err)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return err_set_errno(err, "cannot write %s", path);
    bool written = fwrite(bytes.at, 1, bytes.len, file) == bytes.len;
    return (fclose(file) == 0 && written) || err_set_errno(err, "cannot write %s", path);
}

static bool make_folder(struct corpus *corpus, struct err *err)
{
    const char *parent = getenv("TMPDIR");
    snprintf(corpus->folder, sizeof corpus->folder, "%.40s/bench.XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(corpus->folder)) {
        *corpus->folder = '\0';
        return err_set_errno(err, "cannot make a temporary folder");
    }
    snprintf(corpus->json_path, sizeof corpus->json_path, "%s/trace.json", corpus->folder);
    snprintf(corpus->zstd_path, sizeof corpus->zstd_path, "%s/trace.json.zst", corpus->folder);
    snprintf(corpus->gzip_path, sizeof corpus->gzip_path, "%s/trace.json.gz", corpus->folder);
    snprintf(corpus->trace_path, sizeof corpus->trace_path, "%s/sealed", corpus->folder);
    return true;
}

static bool pack(struct corpus *corpus, struct err *err)
{
    return pack_zstd(corpus->text, &corpus->zstd, err) &&
           pack_gzip(corpus->text, &corpus->gzip, err) &&
           write_file(corpus->json_path, corpus->text, err) &&
           write_file(corpus->zstd_path, corpus->zstd, err) &&
           write_file(corpus->gzip_path, corpus->gzip, err);
}

bool corpus_open(struct corpus *corpus, const char *path, bool only_text, struct err *err)
{
    *corpus = (struct corpus){0};
    bool ok = read_text(path, &corpus->text, err) && make_folder(corpus, err) &&
              (only_text || pack(corpus, err));
    if (!ok)
        corpus_close(corpus);
    return ok;
}

bool corpus_open_packed(struct corpus *corpus, const char *path, struct err *err)
{
    *corpus = (struct corpus){0};
    struct source *source = source_file_open(path, err);
    bool ok = source && read_all(source, &corpus->zstd, err) && make_folder(corpus, err);
    if (source)
        source_close(source);
    snprintf(corpus->zstd_path, sizeof corpus->zstd_path, "%s", path);
    corpus->is_borrowed = true;
    if (!ok)
        corpus_close(corpus);
    return ok;
}

struct source *corpus_unpack(struct str packed, struct err *err)
{
    struct source *source = source_mem_open(packed.at, packed.len, 0, err);
    return source ? format_open(source, NULL, &(struct format_found){0}, err) : NULL;
}

struct source *corpus_read(const struct corpus *corpus, struct err *err)
{
    return corpus->text.at ? source_mem_open(corpus->text.at, corpus->text.len, 0, err)
                           : corpus_unpack(corpus->zstd, err);
}

static void free_text(struct str text)
{
    char *bytes;
    memcpy(&bytes, &text.at, sizeof bytes);
    free(bytes);
}

void corpus_close(struct corpus *corpus)
{
    free_text(corpus->text);
    free_text(corpus->zstd);
    free_text(corpus->gzip);
    if (*corpus->folder) {
        unlink(corpus->json_path);
        if (!corpus->is_borrowed)
            unlink(corpus->zstd_path);
        unlink(corpus->gzip_path);
        unlink(corpus->trace_path);
        rmdir(corpus->folder);
    }
}
