// SPDX-License-Identifier: Apache-2.0
// All ranks of a run from afar: how their devices spend the time, in pieces that double in length
// from level to level, for each rank and for groups of 8, 64, 512, ... ranks. It is stored as a
// file, of which a reader unpacks only what it draws.
#ifndef INGEST_TRACE_OVERVIEW_H
#define INGEST_TRACE_OVERVIEW_H

#include "ingest/base/hash.h"
#include "ingest/trace/device_pieces.h"

#define OVERVIEW_MAGIC     0x314b4e4152535453u // "STSRANK1"
#define OVERVIEW_VERSION   1u
#define OVERVIEW_FAN_BITS  3u // a group has 8 of the next smaller ones
#define OVERVIEW_FANS      7u // ranks, groups of 8, ..., of 262,144
#define OVERVIEW_RANKS     (1u << 18)
#define OVERVIEW_BLOCK     1024u // pieces
#define OVERVIEW_PIECES    65536u
#define OVERVIEW_LEVELS    13u
#define OVERVIEW_EVENTS    16u  // a piece has about as many, or more
#define OVERVIEW_WHOLE     255u // a share of 1
#define OVERVIEW_MIN_PX    32u
#define OVERVIEW_MAX_PX    2048u
#define OVERVIEW_MAX_LANES 128u

// What is known of each piece: the shares of a rank, or for a group the medians of its ranks, then
// the extremes. The idle share of a rank is what is left; a rank or group without a trace of that
// time has OVERVIEW_WHOLE for compute and for communication.
enum overview_figure {
    OVERVIEW_COMPUTE,
    OVERVIEW_COMMUNICATION,
    OVERVIEW_COPY,
    OVERVIEW_OF_RANK, // how many a rank has
    OVERVIEW_IDLE = OVERVIEW_OF_RANK,
    OVERVIEW_COMPUTE_LEAST,
    OVERVIEW_COMPUTE_MOST,
    OVERVIEW_COMMUNICATION_LEAST,
    OVERVIEW_COMMUNICATION_MOST,
    OVERVIEW_IDLE_LEAST,
    OVERVIEW_IDLE_MOST,
    OVERVIEW_FIGURES
};

// Pieces of one lane, a rank or a group.
struct overview_block {
    uint8_t share[OVERVIEW_FIGURES][OVERVIEW_BLOCK]; // of OVERVIEW_WHOLE
    // Indices of ranks, counted from the first of the group: which is idle most, and which
    // communicates least while others wait. OVERVIEW_NOBODY: none.
    uint32_t idlest[OVERVIEW_BLOCK], slowest[OVERVIEW_BLOCK];
};
#define OVERVIEW_NOBODY UINT32_MAX

// Times by the common clock.
struct overview_rank {
    int64_t rank, begin_ns, end_ns;
    uint64_t events;
};

struct overview_header {
    uint64_t magic;
    uint32_t version, rank_count;
    uint32_t width_bits; // of the first level's pieces
    uint32_t level_count;
    int64_t first;        // of the first level's pieces; of level l, first >> l
    uint32_t piece_count; // of the first level
    uint32_t entry_count; // of the index
    uint64_t ranks_offset, index_offset;
    uint64_t checksum; // of what is before it and of the ranks
};

// Where a block is; those of one level, time and fan follow one another.
struct overview_entry {
    uint64_t offset;
    uint32_t length, reserved; // reserved: 0
};

static inline uint32_t overview_lanes(uint32_t ranks, uint32_t fan)
{
    uint32_t bits = fan * OVERVIEW_FAN_BITS;
    return (ranks + (1u << bits) - 1) >> bits;
}

// Fans up to the first that has a single lane.
static inline uint32_t overview_fans(uint32_t ranks)
{
    uint32_t fans = 1;
    while (fans < OVERVIEW_FANS && overview_lanes(ranks, fans - 1) > 1)
        fans++;
    return fans;
}

// Pieces of a level.
static inline uint32_t overview_pieces(const struct overview_header *header, uint32_t level)
{
    int64_t last = header->first + header->piece_count - 1;
    return (uint32_t)((last >> level) - (header->first >> level) + 1);
}

static inline uint32_t overview_blocks(const struct overview_header *header, uint32_t level)
{
    return (overview_pieces(header, level) + OVERVIEW_BLOCK - 1) / OVERVIEW_BLOCK;
}

// Lanes of all fans.
static inline uint32_t overview_all_lanes(uint32_t ranks)
{
    uint32_t sum = 0;
    for (uint32_t fan = 0; fan < overview_fans(ranks); fan++)
        sum += overview_lanes(ranks, fan);
    return sum;
}

static inline uint64_t overview_checksum(const struct overview_header *header,
                                         const struct overview_rank *ranks)
{
    uint64_t head = hash_bytes((const char *)header, offsetof(struct overview_header, checksum));
    return hash_mix(head, hash_bytes((const char *)ranks, header->rank_count * sizeof *ranks));
}

// --- writing ------------------------------------------------------------------------------------

struct overview_source {
    uint32_t count;
    void *context;
    // Opens a rank's trace, which is closed with trace_file_close.
    struct trace_file *(*open)(void *context, uint32_t index, struct err *err);
    const int64_t *ranks;
    const struct piece_clock *clocks; // of each rank, complete once its trace was opened
};

// Reads all traces once and writes the file. Both descriptors are of empty files and stay open:
// scratch takes what is written before it is ordered. ERR_FORMAT, ERR_LIMIT, ERR_IO.
MUST_CHECK bool overview_write(const struct overview_source *source, int fd, int scratch_fd,
                               struct budget *budget, struct err *err);

// --- reading ------------------------------------------------------------------------------------

struct overview;

// Takes the descriptor over even on failure. ERR_FORMAT if it is damaged, ERR_UNSUPPORTED if of
// another version.
MUST_CHECK struct overview *overview_open_fd(int fd, struct err *err);
void overview_close(struct overview *overview); // NULL is allowed

const struct overview_header *overview_header(const struct overview *overview);
const struct overview_rank *overview_ranks(const struct overview *overview); // ascending

struct overview_query {
    int64_t from_ns, to_ns;          // by the common clock, from < to
    uint32_t px;                     // most pieces, at least OVERVIEW_MIN_PX
    uint32_t first_rank, rank_count; // indices, at least one
    uint32_t lanes;                  // most lanes, at least 1
};

struct overview_lane {
    uint32_t first_rank, rank_count;  // indices
    uint8_t *share[OVERVIEW_FIGURES]; // of each piece; of a rank the first OVERVIEW_OF_RANK
    uint32_t *idlest, *slowest;       // as in overview_block; NULL for a rank
};

struct overview_window {
    int64_t begin_ns, piece_ns; // of the first piece
    uint32_t piece_count;
    uint32_t fan;
    struct overview_lane *lanes;
    uint32_t lane_count;
};

// Reads what overlaps the window, with the smallest groups that fit, and the shortest pieces. The
// result lives in arena.
MUST_CHECK bool overview_read(const struct overview *overview, const struct overview_query *query,
                              struct arena *arena, struct overview_window *window, struct err *err);

#endif
