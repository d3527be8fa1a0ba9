// SPDX-License-Identifier: Apache-2.0
// Writes the overview of a run: rank by rank into a scratch file, then time by time for groups.
#include "ingest/base/buf.h"
#include "ingest/base/fd_io.h"
#include "ingest/base/log.h"
#include "ingest/trace/overview.h"

#include <stdlib.h>
#include <zstd.h>

#define MOST_NS      TRACE_MAX_NS // on either side of 0
#define LEAST_PIECES 256u         // of the first level
#define LAST_PIECES  16u          // the last level has about as many
#define FLUSH_BYTES  ((size_t)1 << 20)
#define FEW_VALUES   32u // are sorted by insertion

typedef uint8_t rank_block[OVERVIEW_OF_RANK][OVERVIEW_BLOCK];

struct writing {
    const struct overview_source *source;
    struct overview_header header;
    struct overview_rank *ranks;
    struct overview_entry *entries;
    uint32_t entry;
    int fd, scratch_fd;
    struct arena arena;
    rank_block *rows; // of all ranks, for one block
    uint8_t *values;  // of the four parts of a piece, for each rank
    struct overview_block block;
    ZSTD_CCtx *zstd;
    struct buf out;
    uint64_t offset; // of what comes next
};

static bool failed(struct err *err)
{
    return err_set_errno(err, "writing the overview of a run");
}

// --- the extent ---------------------------------------------------------------------------------

// A rank whose trace cannot be read is there without any time.
static bool may_go_without(const struct err *err)
{
    return err->code == ERR_NOT_FOUND || err->code == ERR_FORMAT || err->code == ERR_UNSUPPORTED;
}

static bool measure_rank(struct writing *writing, uint32_t index, struct err *err)
{
    const struct overview_source *source = writing->source;
    struct overview_rank *rank = &writing->ranks[index];
    rank->rank = source->ranks[index];
    struct trace_file *file = source->open(source->context, index, err);
    if (!file)
        return may_go_without(err);
    const struct trace_file_header *header = trace_file_header(file);
    rank->begin_ns = piece_clock_at(&source->clocks[index], header->begin_ns);
    rank->end_ns = piece_clock_at(&source->clocks[index], header->end_ns);
    rank->events = trace_file_count(file, SECTION_BEGIN);
    trace_file_close(file);
    if (rank->events == 0 || rank->begin_ns < -MOST_NS || rank->end_ns > MOST_NS ||
        rank->begin_ns >= rank->end_ns)
        *rank = (struct overview_rank){.rank = rank->rank};
    return true;
}

static void choose_levels(struct overview_header *header, int64_t begin_ns, int64_t end_ns,
                          uint64_t events)
{
    uint64_t pieces = events / OVERVIEW_EVENTS;
    pieces = pieces < LEAST_PIECES ? LEAST_PIECES : pieces;
    pieces = pieces < OVERVIEW_PIECES - 2 ? pieces : OVERVIEW_PIECES - 2;
    while ((uint64_t)(end_ns - begin_ns) >> header->width_bits > pieces)
        header->width_bits++;
    header->first = begin_ns >> header->width_bits;
    header->piece_count = (uint32_t)((end_ns >> header->width_bits) - header->first + 1);
    do
        header->level_count++;
    while (header->level_count < OVERVIEW_LEVELS &&
           overview_pieces(header, header->level_count - 1) > LAST_PIECES);
}

static bool measure(struct writing *writing, struct err *err)
{
    uint32_t count = writing->source->count;
    int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
    uint64_t most = 0;
    if (!(writing->ranks = arena_array(&writing->arena, count + 1, sizeof *writing->ranks, err)))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct overview_rank *rank = &writing->ranks[i];
        if (!measure_rank(writing, i, err))
            return false;
        if (rank->events == 0)
            continue;
        begin_ns = rank->begin_ns < begin_ns ? rank->begin_ns : begin_ns;
        end_ns = rank->end_ns > end_ns ? rank->end_ns : end_ns;
        most = rank->events > most ? rank->events : most;
    }
    if (most == 0)
        return err_set(err, ERR_NOT_FOUND, "found no trace with events in the run");
    choose_levels(&writing->header, begin_ns, end_ns, most);
    return true;
}

// --- ranks --------------------------------------------------------------------------------------

static uint64_t bytes_before(const struct overview_header *header, uint32_t level)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < level; i++)
        bytes += (uint64_t)overview_pieces(header, i) * OVERVIEW_OF_RANK;
    return bytes;
}

// Sums are rounded, so that parts never exceed the whole.
static void put_piece(const struct device_pieces *pieces, uint32_t i, uint64_t whole_ns,
                      uint8_t *row)
{
    uint64_t sum_ns = 0;
    uint32_t before = 0;
    for (enum piece_part part = 0; part < PIECE_PARTS; part++) {
        sum_ns += (uint64_t)pieces->ns[part][i];
        double share = whole_ns ? (double)sum_ns / (double)whole_ns : 0;
        uint32_t upto = (uint32_t)((share < 1 ? share : 1) * OVERVIEW_WHOLE + 0.5);
        upto = upto < before ? before : upto; // a clock set back turns events around
        row[(uint32_t)part * pieces->count + i] = (uint8_t)(upto - before);
        before = upto;
    }
}

static void put_row(const struct overview_rank *rank, const struct device_pieces *pieces,
                    uint8_t *row)
{
    for (uint32_t i = 0; i < pieces->count; i++) {
        int64_t begin_ns = (pieces->first + i) * ((int64_t)1 << pieces->width_bits);
        int64_t end_ns = begin_ns + ((int64_t)1 << pieces->width_bits);
        begin_ns = rank->begin_ns > begin_ns ? rank->begin_ns : begin_ns;
        end_ns = rank->end_ns < end_ns ? rank->end_ns : end_ns;
        if (begin_ns < end_ns && pieces->devices) {
            put_piece(pieces, i, (uint64_t)(end_ns - begin_ns) * pieces->devices, row);
            continue;
        }
        row[OVERVIEW_COMPUTE * pieces->count + i] = OVERVIEW_WHOLE;
        row[OVERVIEW_COMMUNICATION * pieces->count + i] = OVERVIEW_WHOLE;
        row[OVERVIEW_COPY * pieces->count + i] = 0;
    }
}

// To pieces of twice the length, in place.
static void widen(struct device_pieces *pieces)
{
    int64_t first = pieces->first >> 1;
    uint32_t count = (uint32_t)(((pieces->first + pieces->count - 1) >> 1) - first + 1);
    for (enum piece_part part = 0; part < PIECE_PARTS; part++)
        for (uint32_t i = 0; i < count; i++) {
            int64_t from = (first + i) * 2 - pieces->first, sum_ns = 0;
            for (int64_t k = from; k < from + 2; k++)
                sum_ns += k >= 0 && k < pieces->count ? pieces->ns[part][k] : 0;
            pieces->ns[part][i] = sum_ns;
        }
    pieces->first = first;
    pieces->count = count;
    pieces->width_bits++;
}

static bool read_pieces(struct writing *writing, uint32_t index, struct arena *arena,
                        struct device_pieces *pieces, struct err *err)
{
    const struct overview_source *source = writing->source;
    struct trace_file *file =
        writing->ranks[index].events ? source->open(source->context, index, err) : NULL;
    bool ok = file ? device_pieces_read(file, &source->clocks[index], arena, pieces, err)
                   : writing->ranks[index].events == 0;
    trace_file_close(file);
    if (ok && file)
        return true;
    pieces->devices = 0;
    return ok || may_go_without(err);
}

static bool put_rank(struct writing *writing, uint32_t index, struct arena *arena, struct err *err)
{
    const struct overview_header *header = &writing->header;
    struct device_pieces pieces = {header->width_bits, header->first, header->piece_count, 0, {0}};
    uint64_t bytes = bytes_before(header, header->level_count);
    uint8_t *row = arena_array(arena, bytes, 1, err);
    if (!row || !read_pieces(writing, index, arena, &pieces, err))
        return false;
    for (uint32_t level = 0; level < header->level_count; level++) {
        if (level && pieces.devices)
            widen(&pieces);
        pieces.first = header->first >> level;
        pieces.count = overview_pieces(header, level);
        pieces.width_bits = header->width_bits + level;
        put_row(&writing->ranks[index], &pieces, row + bytes_before(header, level));
    }
    return fd_write_at(writing->scratch_fd, row, bytes, index * bytes) || failed(err);
}

static bool put_ranks(struct writing *writing, struct err *err)
{
    for (uint32_t i = 0; i < writing->source->count; i++) {
        struct arena arena;
        arena_init(&arena, writing->arena.budget);
        bool ok = put_rank(writing, i, &arena, err);
        arena_free(&arena);
        if (!ok)
            return false;
    }
    return true;
}

// --- groups -------------------------------------------------------------------------------------

struct extent {
    uint8_t least, median, most;
};

// Values are sorted, or only counted if there are many.
static struct extent extent_of(uint8_t *values, uint32_t count)
{
    if (count <= FEW_VALUES) {
        for (uint32_t i = 1; i < count; i++) {
            uint8_t value = values[i];
            uint32_t k = i;
            for (; k > 0 && values[k - 1] > value; k--)
                values[k] = values[k - 1];
            values[k] = value;
        }
        return (struct extent){values[0], values[(count - 1) / 2], values[count - 1]};
    }
    uint32_t counts[OVERVIEW_WHOLE + 1] = {0}, below = 0, value = 0;
    struct extent extent = {OVERVIEW_WHOLE, 0, 0};
    for (uint32_t i = 0; i < count; i++) {
        counts[values[i]]++;
        extent.least = values[i] < extent.least ? values[i] : extent.least;
        extent.most = values[i] > extent.most ? values[i] : extent.most;
    }
    while ((below += counts[value]) <= (count - 1) / 2)
        value++;
    extent.median = (uint8_t)value;
    return extent;
}

struct group {
    uint32_t first, count; // ranks
};

static bool is_absent(uint8_t (*row)[OVERVIEW_BLOCK], uint32_t piece)
{
    return row[OVERVIEW_COMPUTE][piece] + row[OVERVIEW_COMMUNICATION][piece] > OVERVIEW_WHOLE;
}

// Gathers a piece's values, and finds the ranks that are idle most and that wait least. Returns how
// many have a trace of that time.
static uint32_t gather(struct writing *writing, struct group group, uint32_t piece)
{
    struct overview_block *block = &writing->block;
    uint32_t all = writing->source->count, count = 0, most = 0, least = OVERVIEW_WHOLE + 1;
    for (uint32_t i = 0; i < group.count; i++) {
        uint8_t(*row)[OVERVIEW_BLOCK] = writing->rows[group.first + i];
        if (is_absent(row, piece))
            continue;
        uint32_t idle = OVERVIEW_WHOLE;
        for (uint32_t part = 0; part < OVERVIEW_OF_RANK; part++) {
            writing->values[part * all + count] = row[part][piece];
            idle -= row[part][piece];
        }
        writing->values[OVERVIEW_IDLE * all + count++] = (uint8_t)idle;
        if (idle > most || count == 1) {
            most = idle;
            block->idlest[piece] = i;
        }
        if (row[OVERVIEW_COMMUNICATION][piece] < least) {
            least = row[OVERVIEW_COMMUNICATION][piece];
            block->slowest[piece] = i;
        }
    }
    return count;
}

static void put_extents(struct writing *writing, uint32_t piece, uint32_t count)
{
    struct overview_block *block = &writing->block;
    struct extent extents[OVERVIEW_IDLE + 1];
    for (uint32_t part = 0; part <= OVERVIEW_IDLE; part++) {
        extents[part] = extent_of(writing->values + part * writing->source->count, count);
        block->share[part][piece] = extents[part].median;
    }
    static const uint8_t of[][2] = {{OVERVIEW_COMPUTE, OVERVIEW_COMPUTE_LEAST},
                                    {OVERVIEW_COMMUNICATION, OVERVIEW_COMMUNICATION_LEAST},
                                    {OVERVIEW_IDLE, OVERVIEW_IDLE_LEAST}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        block->share[of[i][1]][piece] = extents[of[i][0]].least;
        block->share[of[i][1] + 1][piece] = extents[of[i][0]].most;
    }
    if (extents[OVERVIEW_IDLE].least == extents[OVERVIEW_IDLE].most)
        block->idlest[piece] = OVERVIEW_NOBODY;
    if (extents[OVERVIEW_COMMUNICATION].least == extents[OVERVIEW_COMMUNICATION].most)
        block->slowest[piece] = OVERVIEW_NOBODY;
}

static void fill_group(struct writing *writing, struct group group, uint32_t pieces)
{
    struct overview_block *block = &writing->block;
    memset(block, 0, sizeof *block);
    for (uint32_t piece = 0; piece < pieces; piece++) {
        block->idlest[piece] = block->slowest[piece] = OVERVIEW_NOBODY;
        uint32_t count = gather(writing, group, piece);
        if (count)
            put_extents(writing, piece, count);
        else
            block->share[OVERVIEW_COMPUTE][piece] = block->share[OVERVIEW_COMMUNICATION][piece] =
                OVERVIEW_WHOLE;
    }
}

// --- blocks -------------------------------------------------------------------------------------

static bool flush(struct writing *writing, struct err *err)
{
    if (!buf_ok(&writing->out, err))
        return false;
    uint64_t at = writing->offset - writing->out.len;
    if (!fd_write_at(writing->fd, writing->out.at, writing->out.len, at))
        return failed(err);
    buf_clear(&writing->out);
    return true;
}

static bool put_bytes(struct writing *writing, const void *bytes, size_t size, struct err *err)
{
    buf_add(&writing->out, bytes, size);
    writing->offset += size;
    return writing->out.len < FLUSH_BYTES || flush(writing, err);
}

static bool put_packed(struct writing *writing, const void *bytes, size_t size, struct err *err)
{
    char packed[ZSTD_COMPRESSBOUND(sizeof(struct overview_block))];
    size_t length = ZSTD_compress2(writing->zstd, packed, sizeof packed, bytes, size);
    if (ZSTD_isError(length))
        return err_set(err, ERR_INTERNAL, "cannot compress: %s", ZSTD_getErrorName(length));
    writing->entries[writing->entry++] =
        (struct overview_entry){writing->offset, (uint32_t)length, 0};
    return put_bytes(writing, packed, length, err);
}

static bool read_rows(struct writing *writing, uint32_t level, uint32_t block, uint32_t pieces,
                      struct err *err)
{
    const struct overview_header *header = &writing->header;
    uint64_t bytes = bytes_before(header, header->level_count);
    for (uint32_t i = 0; i < writing->source->count; i++)
        for (uint32_t part = 0; part < OVERVIEW_OF_RANK; part++) {
            uint64_t at = i * bytes + bytes_before(header, level) +
                          (uint64_t)part * overview_pieces(header, level) +
                          (uint64_t)block * OVERVIEW_BLOCK;
            if (fd_read_at(writing->scratch_fd, writing->rows[i][part], pieces, at) !=
                (ssize_t)pieces)
                return failed(err);
        }
    return true;
}

static bool put_block(struct writing *writing, uint32_t level, uint32_t block, struct err *err)
{
    uint32_t count = writing->source->count;
    uint32_t left = overview_pieces(&writing->header, level) - block * OVERVIEW_BLOCK;
    uint32_t pieces = left < OVERVIEW_BLOCK ? left : OVERVIEW_BLOCK;
    if (!read_rows(writing, level, block, pieces, err))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!put_packed(writing, writing->rows[i], sizeof writing->rows[i], err))
            return false;
    for (uint32_t fan = 1; fan < overview_fans(count); fan++)
        for (uint32_t lane = 0; lane < overview_lanes(count, fan); lane++) {
            uint32_t bits = fan * OVERVIEW_FAN_BITS, first = lane << bits;
            uint32_t most = count - first, wide = 1u << bits;
            fill_group(writing, (struct group){first, wide < most ? wide : most}, pieces);
            if (!put_packed(writing, &writing->block, sizeof writing->block, err))
                return false;
        }
    return true;
}

static bool put_blocks(struct writing *writing, struct err *err)
{
    struct overview_header *header = &writing->header;
    for (uint32_t level = 0; level < header->level_count; level++)
        header->entry_count +=
            overview_blocks(header, level) * overview_all_lanes(header->rank_count);
    writing->entries =
        arena_array(&writing->arena, header->entry_count, sizeof *writing->entries, err);
    writing->rows = arena_array(&writing->arena, header->rank_count, sizeof *writing->rows, err);
    writing->values = arena_array(&writing->arena, header->rank_count, OVERVIEW_IDLE + 1, err);
    if (!writing->entries || !writing->rows || !writing->values)
        return false;
    for (uint32_t level = 0; level < header->level_count; level++)
        for (uint32_t block = 0; block < overview_blocks(header, level); block++)
            if (!put_block(writing, level, block, err))
                return false;
    return true;
}

static bool write_all(struct writing *writing, struct err *err)
{
    struct overview_header *header = &writing->header;
    writing->zstd = ZSTD_createCCtx();
    if (!writing->zstd)
        return err_set(err, ERR_MEMORY, "out of memory");
    ZSTD_CCtx_setParameter(writing->zstd, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(writing->zstd, ZSTD_c_checksumFlag, 1);
    if (!measure(writing, err) || !put_ranks(writing, err) || !put_blocks(writing, err))
        return false;
    header->ranks_offset = writing->offset;
    size_t ranks = header->rank_count * sizeof *writing->ranks;
    if (!put_bytes(writing, writing->ranks, ranks, err))
        return false;
    header->index_offset = writing->offset;
    header->checksum = overview_checksum(header, writing->ranks);
    return put_bytes(writing, writing->entries, header->entry_count * sizeof *writing->entries,
                     err) &&
           flush(writing, err) &&
           (fd_write_at(writing->fd, header, sizeof *header, 0) || failed(err));
}

bool overview_write(const struct overview_source *source, int fd, int scratch_fd,
                    struct budget *budget, struct err *err)
{
    if (source->count == 0 || source->count > OVERVIEW_RANKS)
        return err_set(err, ERR_LIMIT, "found %u ranks, expected 1 to %u", source->count,
                       OVERVIEW_RANKS);
    struct writing *writing = calloc(1, sizeof *writing);
    if (!writing)
        return err_set(err, ERR_MEMORY, "out of memory");
    *writing = (struct writing){.source = source,
                                .fd = fd,
                                .scratch_fd = scratch_fd,
                                .header = {.magic = OVERVIEW_MAGIC,
                                           .version = OVERVIEW_VERSION,
                                           .rank_count = source->count},
                                .offset = sizeof(struct overview_header)};
    arena_init(&writing->arena, budget);
    bool ok = write_all(writing, err);
    ZSTD_freeCCtx(writing->zstd);
    buf_free(&writing->out);
    arena_free(&writing->arena);
    free(writing);
    return ok;
}
