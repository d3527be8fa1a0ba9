// SPDX-License-Identifier: Apache-2.0
// gzip decompression through ISA-L; consecutive members form one stream.
#include "ingest/base/fuzzed.h"
#include "ingest/source/format.h"
#include "ingest/source/frames.h"

#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>

#define MAX_EMPTY 100000 // consecutive members without output before it counts as an attack

struct gzip {
    struct source source;
    struct source *below;
    struct inflate_state state;
    struct isal_gzip_header header; // kept, so that a header split between two blocks can be
                                    // resumed
    uint64_t taken;
    bool input_ended;
    bool in_header;
    bool in_member;  // from the start of a header to the end of its trailer
    bool any_member; // one was read to the end
    unsigned empty;  // consecutive members without output
    bool failed;     // after some bytes were returned; `error` is for the next read
    struct err error;
    struct frames frames;
    unsigned char bytes[FUZZED_SIZE(1 << 17, 1 << 12)];
};

static bool refill(struct gzip *gzip, struct err *err)
{
    size_t got;
    if (!source_read(gzip->below, gzip->bytes, sizeof gzip->bytes, &got, err))
        return false;
    gzip->state.next_in = gzip->bytes;
    gzip->state.avail_in = (uint32_t)got;
    gzip->taken += got;
    gzip->input_ended = got == 0;
    return true;
}

static const char *reason(int code)
{
    switch (code) {
    case ISAL_INVALID_BLOCK: return "invalid block";
    case ISAL_INVALID_SYMBOL: return "invalid symbol";
    case ISAL_INVALID_LOOKBACK: return "invalid distance";
    case ISAL_INVALID_WRAPPER: return "invalid header";
    case ISAL_UNSUPPORTED_METHOD: return "unsupported method";
    case ISAL_INCORRECT_CHECKSUM: return "wrong checksum";
    default: return "unknown error";
    }
}

static void begin_member(struct gzip *gzip)
{
    unsigned char *next_in = gzip->state.next_in;
    uint32_t avail_in = gzip->state.avail_in;
    isal_inflate_reset(&gzip->state);
    gzip->state.crc_flag = ISAL_GZIP_NO_HDR_VER;
    gzip->state.next_in = next_in;
    gzip->state.avail_in = avail_in;
    isal_gzip_header_init(&gzip->header);
    gzip->in_header = true;
    gzip->in_member = true;
}

// Continues with the header or the text, as far as input and room allow.
static int advance(struct gzip *gzip)
{
    if (!gzip->in_header)
        return isal_inflate(&gzip->state);
    int code = isal_read_gzip_header(&gzip->state, &gzip->header);
    gzip->in_header = code == ISAL_END_INPUT;
    return gzip->in_header ? ISAL_DECOMP_OK : code;
}

// Bytes after the last member that do not start another one (padding, garbage) end the stream.
static bool at_end(const struct gzip *gzip)
{
    if (gzip->input_ended && gzip->state.avail_in == 0)
        return true;
    return gzip->any_member && gzip->state.avail_in && gzip->state.next_in[0] != 0x1F;
}

// --- several blocks of bgzip at once ------------------------------------------------------------

#define BLOCK_HEAD 18     // bytes, with the field that says how long the block is
#define BLOCK_TEXT 65536u // at most

static size_t little(const unsigned char *at, int bytes)
{
    size_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | at[bytes];
    return value;
}

// The length of a block by its only extra field, as bgzip writes it; 0: no such block.
static size_t measure_block(struct str packed, size_t *most)
{
    static const char head[] = "\x1F\x8B\x08\x04", field[] = "\x06\x00"
                                                             "BC"
                                                             "\x02\x00";
    const unsigned char *at = (const unsigned char *)packed.at;
    if (packed.len < BLOCK_HEAD || memcmp(at, head, 4) != 0 || memcmp(at + 10, field, 6) != 0)
        return 0;
    size_t len = little(at + 16, 2) + 1;
    if (len < BLOCK_HEAD + 8 || len > packed.len)
        return 0;
    *most = little(at + len - 4, 4);
    return *most <= BLOCK_TEXT ? len : 0;
}

static size_t unpack_block(struct str packed, char *text, size_t most)
{
    struct inflate_state *state = malloc(sizeof *state);
    if (!state)
        return SIZE_MAX;
    unsigned char end; // room, so that an empty block has some
    isal_inflate_init(state);
    state->crc_flag = ISAL_GZIP;
    memcpy(&state->next_in, &packed.at, sizeof state->next_in);
    state->avail_in = (uint32_t)packed.len;
    state->next_out = most ? (unsigned char *)text : &end;
    state->avail_out = most ? (uint32_t)most : 1;
    bool ok = isal_inflate(state) == ISAL_DECOMP_OK && state->block_state == ISAL_BLOCK_FINISH &&
              state->total_out == most && state->avail_in == 0;
    free(state);
    return ok ? most : SIZE_MAX;
}

static const struct frame_ops gzip_blocks = {measure_block, unpack_block};

// Between two members: true if some were unpacked.
static bool take_blocks(struct gzip *gzip)
{
    struct str unread = {(const char *)gzip->state.next_in, gzip->state.avail_in};
    if (!gzip->frames.reserved || !frames_fill(&gzip->frames, gzip->below, &unread))
        return false;
    gzip->taken += unread.len - gzip->state.avail_in;
    size_t packed = frames_unpack(&gzip->frames, unread);
    unread = (struct str){unread.at + packed, unread.len - packed};
    memcpy(&gzip->state.next_in, &unread.at, sizeof gzip->state.next_in);
    gzip->state.avail_in = (uint32_t)unread.len;
    gzip->any_member |= packed > 0;
    return packed > 0;
}

static void gzip_spread(struct source *source, struct cores *cores)
{
    struct gzip *gzip = (struct gzip *)source;
    struct str head = {(const char *)gzip->bytes, gzip->taken};
    if (gzip->taken <= sizeof gzip->bytes && cores_free(cores) > 1)
        frames_begin(&gzip->frames, &gzip_blocks, cores, head);
}

// ------------------------------------------------------------------------------------------------

static bool report(const struct gzip *gzip, struct err *err)
{
    if (err)
        *err = gzip->error;
    return false;
}

static bool gzip_read(struct source *source, void *bytes, size_t cap, size_t *got, struct err *err)
{
    struct gzip *gzip = (struct gzip *)source;
    uint32_t room = cap > UINT32_MAX ? UINT32_MAX : (uint32_t)cap;
    if (gzip->failed)
        return report(gzip, err);
    if ((*got = frames_read(&gzip->frames, bytes, cap)) ||
        (!gzip->in_member && take_blocks(gzip) && (*got = frames_read(&gzip->frames, bytes, cap))))
        return true;
    gzip->state.next_out = bytes;
    gzip->state.avail_out = room;
    while (gzip->state.avail_out == room) {
        if (gzip->state.avail_in == 0 && !gzip->input_ended && !refill(gzip, err))
            return false;
        if (!gzip->in_member) {
            if (at_end(gzip))
                break;
            begin_member(gzip);
            gzip->state.next_out = bytes;
            gzip->state.avail_out = room;
        }
        int code = advance(gzip);
        uint64_t pos = gzip->taken - gzip->state.avail_in;
        if (code != ISAL_DECOMP_OK) {
            gzip->failed = true;
            err_set_at(&gzip->error, ERR_FORMAT, pos, "damaged gzip stream: %s", reason(code));
            if (gzip->state.avail_out == room)
                return report(gzip, err);
        } else if (gzip->state.block_state == ISAL_BLOCK_FINISH) {
            gzip->in_member = false;
            gzip->any_member = true;
            gzip->empty = gzip->state.total_out ? 0 : gzip->empty + 1;
            if (gzip->empty > MAX_EMPTY)
                return err_set_at(err, ERR_LIMIT, pos, "more than %d empty gzip members",
                                  MAX_EMPTY);
        } else if (gzip->input_ended && gzip->state.avail_out == room) {
            return err_set_at(err, ERR_FORMAT, pos, "the gzip stream is truncated");
        }
    }
    *got = room - gzip->state.avail_out;
    return true;
}

static void gzip_close(struct source *source)
{
    struct gzip *gzip = (struct gzip *)source;
    frames_close(&gzip->frames);
    source_close(gzip->below);
    free(gzip);
}

static uint64_t gzip_consumed(const struct source *source)
{
    return source_consumed(((const struct gzip *)source)->below);
}

static const struct source_ops gzip_ops = {
    .read = gzip_read, .close = gzip_close, .consumed = gzip_consumed, .spread = gzip_spread};

struct source *source_gzip_open(struct source *below, struct err *err)
{
    struct gzip *gzip = malloc(sizeof *gzip);
    if (!gzip) {
        source_close(below);
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    memset(gzip, 0, offsetof(struct gzip, bytes));
    gzip->source.ops = &gzip_ops;
    gzip->below = below;
    isal_inflate_init(&gzip->state);
    return &gzip->source;
}

const struct format format_gzip = {
    .name = "gzip",
    .what = "a gzip file",
    .advice = "compress the trace once",
    .kind = FORMAT_COMPRESSION,
    .ending = ".gz",
    .magic = {"\x1F\x8B", 2},
    .decode = source_gzip_open,
};
