// SPDX-License-Identifier: Apache-2.0
// Reads the overview of a run: for a window, blocks that lie side by side in the file.
#include "ingest/base/fd_io.h"
#include "ingest/base/fuzzed.h"
#include "ingest/trace/overview.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define MOST_WIDTH_BITS 55u

struct overview {
    struct overview_header header;
    struct overview_rank *ranks;
    int fd;
    uint64_t size;
};

static bool damaged(const char *what, struct err *err)
{
    return err_set(err, ERR_FORMAT, "the overview of a run is damaged: %s", what);
}

static bool no_memory(struct err *err)
{
    return err_set(err, ERR_MEMORY, "out of memory");
}

const struct overview_header *overview_header(const struct overview *overview)
{
    return &overview->header;
}

const struct overview_rank *overview_ranks(const struct overview *overview)
{
    return overview->ranks;
}

static bool read_at(const struct overview *overview, uint64_t offset, void *to, size_t size,
                    struct err *err)
{
    ssize_t got = fd_read_at(overview->fd, to, size, offset);
    if (got < 0)
        return err_set_errno(err, "reading the overview of a run");
    return (size_t)got == size || damaged("it is cut", err);
}

// --- opening ------------------------------------------------------------------------------------

static bool good_header(const struct overview_header *header)
{
    if (header->rank_count == 0 || header->rank_count > OVERVIEW_RANKS ||
        header->width_bits > MOST_WIDTH_BITS || header->level_count == 0 ||
        header->level_count > OVERVIEW_LEVELS || header->piece_count == 0 ||
        header->piece_count > OVERVIEW_PIECES)
        return false;
    int64_t most = TRACE_MAX_NS >> header->width_bits;
    uint64_t entries = 0;
    if (header->first < -most - 1 || header->first > most - (header->piece_count - 1))
        return false;
    for (uint32_t level = 0; level < header->level_count; level++)
        entries +=
            (uint64_t)overview_blocks(header, level) * overview_all_lanes(header->rank_count);
    return entries == header->entry_count;
}

static bool good_ranks(const struct overview *overview)
{
    for (uint32_t i = 0; i < overview->header.rank_count; i++) {
        const struct overview_rank *rank = &overview->ranks[i];
        if (rank->begin_ns < -TRACE_MAX_NS || rank->begin_ns > rank->end_ns ||
            rank->end_ns > TRACE_MAX_NS || (i > 0 && rank->rank <= rank[-1].rank))
            return false;
    }
    return true;
}

static bool read_head(struct overview *overview, struct err *err)
{
    struct overview_header *header = &overview->header;
    struct stat info;
    if (fstat(overview->fd, &info) != 0)
        return err_set_errno(err, "reading the overview of a run");
    overview->size = (uint64_t)info.st_size;
    if (!read_at(overview, 0, header, sizeof *header, err))
        return false;
    if (header->magic != OVERVIEW_MAGIC)
        return damaged("it has no header", err);
    if (header->version != OVERVIEW_VERSION)
        return err_set(err, ERR_UNSUPPORTED,
                       "the overview of a run is of version %u, this program reads %u",
                       header->version, OVERVIEW_VERSION);
    if (!good_header(header))
        return damaged("its header does not add up", err);
    if (header->index_offset > overview->size ||
        header->entry_count * sizeof(struct overview_entry) !=
            overview->size - header->index_offset)
        return damaged("its index does not end it", err);
    size_t bytes = header->rank_count * sizeof *overview->ranks;
    if (!(overview->ranks = malloc(bytes)))
        return no_memory(err);
    if (!read_at(overview, header->ranks_offset, overview->ranks, bytes, err))
        return false;
    return (fuzzed_same(header->checksum, overview_checksum(header, overview->ranks)) &&
            good_ranks(overview)) ||
           damaged("its ranks do not add up", err);
}

struct overview *overview_open_fd(int fd, struct err *err)
{
    struct overview *overview = calloc(1, sizeof *overview);
    if (!overview) {
        close(fd);
        no_memory(err);
        return NULL;
    }
    overview->fd = fd;
    if (read_head(overview, err))
        return overview;
    overview_close(overview);
    return NULL;
}

void overview_close(struct overview *overview)
{
    if (!overview)
        return;
    close(overview->fd);
    free(overview->ranks);
    free(overview);
}

// --- reading ------------------------------------------------------------------------------------

// What is read of a level and a fan.
struct part {
    const struct overview *overview;
    uint32_t level, first_lane;
    uint32_t first, count; // pieces of the level
    struct overview_window *window;
    ZSTD_DCtx *zstd;
    struct overview_entry *entries; // of the lanes
    char *packed;
    size_t packed_cap;
    struct overview_block block;
};

static size_t block_bytes(const struct part *part)
{
    return part->window->fan ? sizeof part->block
                             : sizeof(uint8_t[OVERVIEW_OF_RANK][OVERVIEW_BLOCK]);
}

// The entries of the lanes in a block, and where their bytes are.
static bool read_entries(struct part *part, uint32_t block, uint64_t *bytes, struct err *err)
{
    const struct overview_header *header = &part->overview->header;
    uint64_t at = block, lanes = part->window->lane_count, next = 0;
    for (uint32_t level = 0; level < part->level; level++)
        at += overview_blocks(header, level);
    at *= overview_all_lanes(header->rank_count);
    for (uint32_t fan = 0; fan < part->window->fan; fan++)
        at += overview_lanes(header->rank_count, fan);
    at = header->index_offset + (at + part->first_lane) * sizeof *part->entries;
    if (!read_at(part->overview, at, part->entries, lanes * sizeof *part->entries, err))
        return false;
    *bytes = 0;
    for (uint64_t i = 0; i < lanes; i++) {
        const struct overview_entry *entry = &part->entries[i];
        if (entry->length > ZSTD_COMPRESSBOUND(sizeof part->block) ||
            entry->offset > part->overview->size || (i > 0 && entry->offset != next))
            return damaged("its blocks do not follow one another", err);
        next = entry->offset + entry->length;
        *bytes += entry->length;
    }
    return true;
}

static bool read_packed(struct part *part, uint64_t bytes, struct err *err)
{
    if (bytes > part->packed_cap) {
        free(part->packed);
        part->packed_cap = (size_t)bytes;
        if (!(part->packed = malloc(part->packed_cap)))
            return no_memory(err);
    }
    return read_at(part->overview, part->entries[0].offset, part->packed, (size_t)bytes, err);
}

static bool good_indices(const struct overview_lane *lane, uint32_t from, uint32_t count)
{
    for (uint32_t i = from; lane->idlest && i < from + count; i++)
        if ((lane->idlest[i] != OVERVIEW_NOBODY && lane->idlest[i] >= lane->rank_count) ||
            (lane->slowest[i] != OVERVIEW_NOBODY && lane->slowest[i] >= lane->rank_count))
            return false;
    return true;
}

// Copies the pieces of the unpacked block that are in the window.
static bool take(const struct part *part, uint32_t block, struct overview_lane *lane)
{
    const struct overview_block *from = &part->block;
    uint32_t base = block * OVERVIEW_BLOCK;
    uint32_t begin = part->first > base ? part->first : base;
    uint32_t end = part->first + part->count;
    end = end < base + OVERVIEW_BLOCK ? end : base + OVERVIEW_BLOCK;
    uint32_t to = begin - part->first, at = begin - base, count = end - begin;
    for (uint32_t i = 0; i < OVERVIEW_FIGURES; i++)
        if (lane->share[i])
            memcpy(lane->share[i] + to, from->share[i] + at, count);
    if (lane->idlest) {
        memcpy(lane->idlest + to, from->idlest + at, count * sizeof *from->idlest);
        memcpy(lane->slowest + to, from->slowest + at, count * sizeof *from->slowest);
    }
    return good_indices(lane, to, count);
}

static bool read_block(struct part *part, uint32_t block, struct err *err)
{
    uint64_t bytes;
    if (!read_entries(part, block, &bytes, err) || !read_packed(part, bytes, err))
        return false;
    const char *at = part->packed;
    for (uint32_t i = 0; i < part->window->lane_count; i++) {
        size_t got = ZSTD_decompressDCtx(part->zstd, &part->block, block_bytes(part), at,
                                         part->entries[i].length);
        if (ZSTD_isError(got) || got != block_bytes(part))
            return damaged("a block does not decompress", err);
        if (!take(part, block, &part->window->lanes[i]))
            return damaged("a rank is out of bounds", err);
        at += part->entries[i].length;
    }
    return true;
}

static bool make_lane(struct overview_lane *lane, uint32_t fan, uint32_t pieces,
                      struct arena *arena, struct err *err)
{
    uint32_t figures = fan ? OVERVIEW_FIGURES : OVERVIEW_OF_RANK;
    for (uint32_t i = 0; i < figures; i++)
        if (!(lane->share[i] = arena_array(arena, pieces + 1, 1, err)))
            return false;
    if (!fan)
        return true;
    lane->idlest = arena_array(arena, pieces + 1, sizeof *lane->idlest, err);
    lane->slowest = arena_array(arena, pieces + 1, sizeof *lane->slowest, err);
    return lane->idlest && lane->slowest;
}

// The smallest groups that fit.
static bool choose_lanes(struct part *part, const struct overview_query *query, struct arena *arena,
                         struct err *err)
{
    struct overview_window *window = part->window;
    uint32_t ranks = part->overview->header.rank_count, fan = 0, bits = 0;
    uint32_t last = query->first_rank + query->rank_count - 1;
    while (fan + 1 < overview_fans(ranks) &&
           (last >> bits) - (query->first_rank >> bits) >= query->lanes)
        bits = ++fan * OVERVIEW_FAN_BITS;
    window->fan = fan;
    part->first_lane = query->first_rank >> bits;
    window->lane_count = (last >> bits) - part->first_lane + 1;
    window->lanes = arena_array(arena, window->lane_count, sizeof *window->lanes, err);
    for (uint32_t i = 0; window->lanes && i < window->lane_count; i++) {
        uint32_t first = (part->first_lane + i) << bits, left = ranks - first;
        window->lanes[i].first_rank = first;
        window->lanes[i].rank_count = 1u << bits < left ? 1u << bits : left;
        if (!make_lane(&window->lanes[i], fan, part->count, arena, err))
            return false;
    }
    return window->lanes;
}

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

// The shortest pieces that fit.
static void choose_pieces(struct part *part, const struct overview_query *query)
{
    const struct overview_header *header = &part->overview->header;
    uint32_t bits = header->width_bits;
    int64_t first = header->first, last = header->first + header->piece_count - 1;
    int64_t from = clamp(query->from_ns >> bits, first, last);
    int64_t to = clamp((query->to_ns - 1) >> bits, first, last);
    while (part->level + 1 < header->level_count &&
           (to >> part->level) - (from >> part->level) >= (int64_t)query->px)
        part->level++;
    part->first = (uint32_t)((from >> part->level) - (first >> part->level));
    part->count = (uint32_t)((to >> part->level) - (from >> part->level) + 1);
    part->window->piece_ns = (int64_t)1 << (bits + part->level);
    part->window->begin_ns = (from >> part->level) * part->window->piece_ns;
    part->window->piece_count = part->count;
}

bool overview_read(const struct overview *overview, const struct overview_query *query,
                   struct arena *arena, struct overview_window *window, struct err *err)
{
    struct part *part = arena_alloc(arena, sizeof *part, err);
    *window = (struct overview_window){0};
    if (!part)
        return false;
    part->overview = overview;
    part->window = window;
    choose_pieces(part, query);
    bool ok = choose_lanes(part, query, arena, err) &&
              (part->entries = arena_array(arena, window->lane_count, sizeof *part->entries, err));
    part->zstd = ok ? ZSTD_createDCtx() : NULL;
    ok = ok && (part->zstd || no_memory(err));
    uint32_t end = (part->first + part->count - 1) / OVERVIEW_BLOCK;
    for (uint32_t block = part->first / OVERVIEW_BLOCK; ok && block <= end; block++)
        ok = read_block(part, block, err);
    ZSTD_freeDCtx(part->zstd);
    free(part->packed);
    return ok;
}
