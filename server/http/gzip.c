// SPDX-License-Identifier: Apache-2.0
#include "server/http/gzip.h"

#include <isa-l/igzip_lib.h>
#include <stdlib.h>

#define LEVEL       1
#define PART_BYTES  ((size_t)1 << 30) // ISA-L counts in 32 bits
#define BLOCK_BYTES ((size_t)16 * 1024)

// Nearly 400 kB, of which short content touches little: too large for the stacks of connection
// threads.
struct gzip_work {
    struct isal_zstream stream;
    uint8_t level[ISAL_DEF_LVL1_DEFAULT];
    uint8_t block[BLOCK_BYTES];
};

bool gzip_start(struct gzip *gzip)
{
    gzip->work = malloc(sizeof *gzip->work);
    if (!gzip->work)
        return false;
    struct isal_zstream *stream = &gzip->work->stream;
    isal_deflate_init(stream);
    stream->level = LEVEL;
    stream->level_buf = gzip->work->level;
    stream->level_buf_size = sizeof gzip->work->level;
    stream->gzip_flag = IGZIP_GZIP;
    return true;
}

static bool add_part(struct gzip *gzip, struct str part, bool last)
{
    struct gzip_work *work = gzip->work;
    work->stream.next_in = (uint8_t *)(uintptr_t)part.at;
    work->stream.avail_in = (uint32_t)part.len;
    work->stream.end_of_stream = last;
    do {
        work->stream.next_out = work->block;
        work->stream.avail_out = sizeof work->block;
        if (isal_deflate(&work->stream) != COMP_OK ||
            !gzip->write(gzip->context, (const char *)work->block,
                         sizeof work->block - work->stream.avail_out))
            return false;
    } while (work->stream.avail_out == 0);
    return true;
}

bool gzip_add(struct gzip *gzip, struct str piece, bool last)
{
    while (piece.len > PART_BYTES) {
        if (!add_part(gzip, (struct str){piece.at, PART_BYTES}, false))
            return false;
        piece = (struct str){piece.at + PART_BYTES, piece.len - PART_BYTES};
    }
    return add_part(gzip, piece, last);
}

void gzip_end(struct gzip *gzip)
{
    free(gzip->work);
    gzip->work = NULL;
}
