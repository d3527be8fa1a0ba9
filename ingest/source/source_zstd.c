// SPDX-License-Identifier: Apache-2.0
// zstd decompression of concatenated frames, with a bound on the window (the memory a frame may
// request).
#include "ingest/base/fuzzed.h"
#include "ingest/source/format.h"
#include "ingest/source/frames.h"

#include <stdlib.h>
#define ZSTD_STATIC_LINKING_ONLY // ZSTD_decompressBound, for frames that do not say their size
#include <zstd.h>
#include <zstd_errors.h>

// 128 MiB, the default limit of the zstd tool.
#define WINDOW_LOG_MAX FUZZED_SIZE(27, 17)
#define MAX_EMPTY      100000 // consecutive frames without output before it counts as an attack

struct zstd {
    struct source source;
    struct source *below;
    ZSTD_DStream *stream;
    ZSTD_inBuffer in;
    size_t want;    // the library's last return value: 0 at the end of a frame
    unsigned empty; // consecutive frames without output
    uint64_t taken;
    bool input_ended;
    bool full;   // the last call filled its room within a frame
    bool failed; // after some bytes were returned; `error` is for the next read
    struct err error;
    struct frames frames;
    char bytes[FUZZED_SIZE(1 << 17, 1 << 12)];
};

static bool refill(struct zstd *zstd, struct err *err)
{
    size_t got;
    zstd->taken += zstd->in.size;
    if (!source_read(zstd->below, zstd->bytes, sizeof zstd->bytes, &got, err))
        return false;
    zstd->in = (ZSTD_inBuffer){zstd->bytes, got, 0};
    zstd->input_ended = got == 0;
    return true;
}

static void note_failure(struct zstd *zstd, uint64_t pos)
{
    zstd->failed = true;
    if (ZSTD_getErrorCode(zstd->want) == ZSTD_error_frameParameter_windowTooLarge)
        err_set_at(&zstd->error, ERR_FORMAT, pos,
                   "the zstd frame needs a window of more than 2^%d bytes; compress with at most "
                   "--long=%d",
                   WINDOW_LOG_MAX, WINDOW_LOG_MAX);
    else
        err_set_at(&zstd->error, ERR_FORMAT, pos, "damaged zstd stream: %s",
                   ZSTD_getErrorName(zstd->want));
}

static bool report(const struct zstd *zstd, struct err *err)
{
    if (err)
        *err = zstd->error;
    return false;
}

// Gives the library what its next step needs, a block at most, or nothing as long as it may have
// more of the last one: of a call that fails, as by the checksum at the end of a frame, it does not
// say what it wrote before. False: nothing was to be done.
static bool decompress_step(struct zstd *zstd, ZSTD_outBuffer *out)
{
    size_t before = zstd->in.pos, left = zstd->in.size - before;
    size_t step = zstd->want ? zstd->want : ZSTD_FRAMEHEADERSIZE_MIN(ZSTD_f_zstd1);
    step = zstd->full ? 0 : step < left ? step : left;
    ZSTD_inBuffer in = {zstd->in.src, before + step, before};
    bool was_full = zstd->full;
    zstd->want = ZSTD_decompressStream(zstd->stream, out, &in);
    zstd->full = zstd->want != 0 && out->pos == out->size;
    zstd->in.pos = in.pos;
    return was_full || out->pos || in.pos != before;
}

// --- several frames at once ---------------------------------------------------------------------

static size_t measure_frame(struct str packed, size_t *most)
{
    size_t len = ZSTD_findFrameCompressedSize(packed.at, packed.len);
    unsigned long long bound = ZSTD_isError(len) ? 0 : ZSTD_decompressBound(packed.at, len);
    *most = (size_t)bound;
    return ZSTD_isError(len) || bound == ZSTD_CONTENTSIZE_ERROR ? 0 : len;
}

static size_t unpack_frame(struct str packed, char *text, size_t most)
{
    size_t len = ZSTD_decompress(text, most, packed.at, packed.len);
    return ZSTD_isError(len) ? SIZE_MAX : len;
}

static const struct frame_ops zstd_frames = {measure_frame, unpack_frame};

static struct str unread_of(const struct zstd *zstd)
{
    return (struct str){(const char *)zstd->in.src + zstd->in.pos, zstd->in.size - zstd->in.pos};
}

// Between two frames: true if some were unpacked.
static bool take_frames(struct zstd *zstd)
{
    struct str unread = unread_of(zstd);
    if (zstd->want != 0 || !zstd->frames.reserved ||
        !frames_fill(&zstd->frames, zstd->below, &unread))
        return false;
    size_t packed = frames_unpack(&zstd->frames, unread);
    zstd->taken += zstd->in.pos + packed;
    zstd->in = (ZSTD_inBuffer){unread.at + packed, unread.len - packed, 0};
    return packed > 0;
}

// Looks at the file's first frame, of which some was read already.
static void zstd_spread(struct source *source, struct cores *cores)
{
    struct zstd *zstd = (struct zstd *)source;
    struct str unread = {zstd->in.src, zstd->in.size};
    if (zstd->taken || zstd->input_ended || cores_free(cores) < 2 ||
        !frames_fill(&zstd->frames, zstd->below, &unread))
        return;
    zstd->in = (ZSTD_inBuffer){unread.at, unread.len, zstd->in.pos};
    frames_begin(&zstd->frames, &zstd_frames, cores, unread);
}

// ------------------------------------------------------------------------------------------------

static bool zstd_read(struct source *source, void *bytes, size_t cap, size_t *got, struct err *err)
{
    struct zstd *zstd = (struct zstd *)source;
    ZSTD_outBuffer out = {bytes, cap, 0};
    if (zstd->failed)
        return report(zstd, err);
    while (out.pos == 0 && cap > 0) {
        out.pos = frames_read(&zstd->frames, bytes, cap);
        if (out.pos || take_frames(zstd))
            continue;
        if (zstd->in.pos == zstd->in.size && !zstd->input_ended && !refill(zstd, err))
            return false;
        if (zstd->input_ended && zstd->want == 0)
            break;
        bool stepped = decompress_step(zstd, &out);
        uint64_t pos = zstd->taken + zstd->in.pos;
        if (ZSTD_isError(zstd->want)) {
            note_failure(zstd, pos);
            if (out.pos == 0)
                return report(zstd, err);
            break;
        }
        if (zstd->input_ended && !stepped)
            return err_set_at(err, ERR_FORMAT, pos, "the zstd stream is truncated");
        zstd->empty = out.pos ? 0 : zstd->empty + (zstd->want == 0);
        if (zstd->empty > MAX_EMPTY)
            return err_set_at(err, ERR_LIMIT, pos, "more than %d empty zstd frames", MAX_EMPTY);
    }
    *got = out.pos;
    return true;
}

static void zstd_close(struct source *source)
{
    struct zstd *zstd = (struct zstd *)source;
    ZSTD_freeDStream(zstd->stream);
    frames_close(&zstd->frames);
    source_close(zstd->below);
    free(zstd);
}

static uint64_t zstd_consumed(const struct source *source)
{
    return source_consumed(((const struct zstd *)source)->below);
}

static const struct source_ops zstd_ops = {
    .read = zstd_read, .close = zstd_close, .consumed = zstd_consumed, .spread = zstd_spread};

struct source *source_zstd_open(struct source *below, struct err *err)
{
    struct zstd *zstd = malloc(sizeof *zstd);
    ZSTD_DStream *stream = zstd ? ZSTD_createDStream() : NULL;
    if (!stream) {
        free(zstd);
        source_close(below);
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    zstd->source.ops = &zstd_ops;
    zstd->below = below;
    zstd->stream = stream;
    zstd->in = (ZSTD_inBuffer){zstd->bytes, 0, 0};
    zstd->want = 0;
    zstd->empty = 0;
    zstd->taken = 0;
    zstd->input_ended = zstd->full = false;
    zstd->failed = false;
    zstd->frames = (struct frames){.reserved = 0};
    return &zstd->source;
}

// A frame, or a skippable one: 0x184D2A50 to 0x184D2A5F, little-endian.
static enum format_likeness probe_zstd(const struct format_sample *sample)
{
    bool skipped = sample->head.len >= 4 && ((unsigned char)sample->head.at[0] & 0xF0) == 0x50 &&
                   memcmp(sample->head.at + 1, "\x2A\x4D\x18", 3) == 0;
    return skipped || str_starts_with(sample->head, STR("\x28\xB5\x2F\xFD")) ? FORMAT_SURE
                                                                             : FORMAT_UNLIKE;
}

const struct format format_zstd = {
    .name = "zstd",
    .what = "a zstd file",
    .advice = "compress the trace once",
    .kind = FORMAT_COMPRESSION,
    .ending = ".zst",
    .probe = probe_zstd,
    .decode = source_zstd_open,
};
