// SPDX-License-Identifier: Apache-2.0
// What several services received of one upload. Each stores its bytes as pieces where all files
// are, and the row says up to where they count; one that continues fetches those it lacks. How far
// its file agrees with the pieces is noted beside it, so that nothing is fetched twice.
#include "server/files/pieces_file.h"

#include "ingest/base/fd_io.h"
#include "ingest/base/str.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void pieces_share(struct blobs *blobs, const char *node)
{
    if (blob_store_has_pieces(blobs->store))
        snprintf(blobs->node, sizeof blobs->node, "%s", node);
}

// --- what is here -------------------------------------------------------------------------------

static int open_note(const struct pieces *pieces, int flags, struct err *err)
{
    char name[PIECES_NAME_SIZE];
    return pieces_name(pieces->id, PIECES_HAVE, name, err)
               ? openat(pieces->blobs->pieces_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags,
                        0600)
               : -1;
}

static uint64_t read_note(const struct pieces *pieces)
{
    struct err ignored;
    struct stat info;
    uint64_t have = 0;
    int fd = open_note(pieces, 0, &ignored);
    if (fd < 0)
        return 0;
    bool ok = pread(fd, &have, sizeof have, 0) == (ssize_t)sizeof have &&
              fstat(pieces->fd, &info) == 0 && have <= (uint64_t)info.st_size;
    close(fd);
    return ok ? have : 0;
}

// Only after the bytes are on disk: what the note says is believed.
static bool note(struct pieces *pieces, uint64_t have, struct err *err)
{
    int fd = open_note(pieces, O_CREAT, err);
    bool ok = fd >= 0 && fd_write_at(fd, &have, sizeof have, 0);
    if (fd >= 0)
        close(fd);
    if (!ok || ftruncate(pieces->sums_fd, 0) != 0)
        return err_set_errno(err, "note of a resumable upload");
    pieces->shared = have;
    pieces->sums = 0; // the checksums are of what follows
    return true;
}

// --- what others have ---------------------------------------------------------------------------

struct found {
    struct blob_piece *pieces;
    size_t count, room;
};

static bool add(void *ctx, const struct blob_piece *piece, struct err *err)
{
    struct found *found = ctx;
    if (found->count == found->room) {
        found->room = found->room ? 2 * found->room : 64;
        void *more = realloc(found->pieces, found->room * sizeof *found->pieces);
        if (!more)
            return err_set(err, ERR_MEMORY, "out of memory for an upload");
        found->pieces = more;
    }
    found->pieces[found->count++] = *piece;
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct blob_piece *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

// The first piece that does not start before `from`.
static size_t lower_bound(const struct found *found, uint64_t from)
{
    size_t low = 0, high = found->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (found->pieces[middle].from < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The piece at `from` that leads furthest; ends[] says how far each piece leads.
static size_t best_at(const struct found *found, const uint64_t *ends, uint64_t from)
{
    size_t best = found->count;
    for (size_t i = lower_bound(found, from); i < found->count && found->pieces[i].from == from;
         i++)
        if (ends[i] && (best == found->count || ends[i] > ends[best]))
            best = i;
    return best;
}

// Pieces that were stored but not recorded, as by a service that died, may lead nowhere.
static void find_ends(const struct found *found, uint64_t flushed, uint64_t *ends)
{
    for (size_t i = found->count; i-- > 0;) {
        uint64_t end = found->pieces[i].from + found->pieces[i].bytes;
        ends[i] = end <= flushed ? end : 0;
        size_t next = ends[i] ? best_at(found, ends, end) : found->count;
        if (next < found->count)
            ends[i] = ends[next];
    }
}

// --- bringing it --------------------------------------------------------------------------------

static bool append(struct pieces *pieces, int fd, uint64_t bytes, struct err *err)
{
    char *block = malloc(PIECES_BLOCK_BYTES);
    uint64_t done = 0;
    bool ok = block || err_set(err, ERR_MEMORY, "out of memory for an upload");
    while (ok && done < bytes) {
        uint64_t left = bytes - done;
        size_t size = left < PIECES_BLOCK_BYTES ? (size_t)left : PIECES_BLOCK_BYTES;
        ok = pread(fd, block, size, (off_t)done) == (ssize_t)size
                 ? pieces_write(pieces, block, size, false, err)
                 : err_set_errno(err, "reading a piece of an upload");
        done += size;
    }
    free(block);
    return ok;
}

static bool bring_one(struct pieces *pieces, const struct blob_piece *piece, struct err *err)
{
    int fd = blob_scratch(pieces->blobs, err);
    if (fd < 0)
        return false;
    bool ok = blob_store_get_piece(pieces->blobs->store, piece, fd, err) &&
              append(pieces, fd, piece->bytes, err);
    close(fd);
    if (!ok && err->code == ERR_NOT_FOUND) // it is being removed: another service ended the upload
        err->code = ERR_BUSY;
    return ok;
}

static bool bring_from(struct pieces *pieces, const struct found *found, const uint64_t *ends,
                       struct err *err)
{
    size_t next = best_at(found, ends, pieces->shared);
    if (next == found->count)
        return true;
    // What was received here beyond the shared bytes is not what the others went on from.
    if (!pieces_rewind(pieces, pieces->shared, err) || ftruncate(pieces->sums_fd, 0) != 0)
        return err_set_errno(err, "checksums of a resumable upload");
    for (; next < found->count; next = best_at(found, ends, pieces->offset))
        if (!bring_one(pieces, &found->pieces[next], err))
            return false;
    return pieces_flush(pieces, err) && note(pieces, pieces->offset, err);
}

bool pieces_bring(struct pieces *pieces, uint64_t flushed, struct err *err)
{
    struct found found = {0};
    struct blob_piece_visitor visitor = {add, &found};
    pieces->shared = read_note(pieces);
    if (pieces->shared >= flushed)
        return true;
    bool ok = blob_store_each_piece(pieces->blobs->store, pieces->id, &visitor, err);
    uint64_t *ends = ok && found.count ? calloc(found.count, sizeof *ends) : NULL;
    if (ok && found.count && !ends)
        ok = err_set(err, ERR_MEMORY, "out of memory for an upload");
    if (ok && ends) {
        qsort(found.pieces, found.count, sizeof *found.pieces, by_start);
        find_ends(&found, flushed, ends);
        ok = bring_from(pieces, &found, ends, err);
    }
    free(ends);
    free(found.pieces);
    return ok;
}

// --- sharing it ---------------------------------------------------------------------------------

uint64_t pieces_unshared(const struct pieces *pieces)
{
    bool shares = pieces->blobs->node[0] && pieces->offset > pieces->shared;
    return shares ? pieces->offset - pieces->shared : 0;
}

bool pieces_publish(const struct pieces *pieces, struct err *err)
{
    struct blob_piece piece = {.from = pieces->shared};
    snprintf(piece.id, sizeof piece.id, "%s", pieces->id);
    snprintf(piece.node, sizeof piece.node, "%s", pieces->blobs->node);
    bool ok = true;
    for (; ok && pieces_unshared(pieces) && piece.from < pieces->offset;
         piece.from += piece.bytes) {
        uint64_t left = pieces->offset - piece.from;
        piece.bytes = left < PIECES_SHARED_BYTES ? left : PIECES_SHARED_BYTES;
        ok = blob_store_put_piece(pieces->blobs->store, &piece, pieces->fd, err);
    }
    return ok;
}

bool pieces_note_published(struct pieces *pieces, struct err *err)
{
    return pieces_unshared(pieces) == 0 || note(pieces, pieces->offset, err);
}

// --- removing it --------------------------------------------------------------------------------

static bool remove_one(void *ctx, const struct blob_piece *piece, struct err *err)
{
    return blob_store_remove_piece(ctx, piece, err);
}

bool pieces_remove_shared(struct blobs *blobs, const char *id, struct err *err)
{
    struct blob_piece_visitor visitor = {remove_one, blobs->store};
    return blob_store_each_piece(blobs->store, id, &visitor, err);
}

// Pieces of an upload follow one another.
struct ids {
    const struct pieces_visitor *visitor;
    char last[BLOB_PIECE_NAME];
};

static bool visit_id(void *ctx, const struct blob_piece *piece, struct err *err)
{
    struct ids *ids = ctx;
    if (strcmp(ids->last, piece->id) == 0)
        return true;
    snprintf(ids->last, sizeof ids->last, "%s", piece->id);
    return ids->visitor->visit(ids->visitor->ctx, piece->id, err);
}

bool pieces_each_shared(const struct blobs *blobs, const struct pieces_visitor *visitor,
                        struct err *err)
{
    struct ids ids = {.visitor = visitor};
    struct blob_piece_visitor each = {visit_id, &ids};
    return !blobs->node[0] || blob_store_each_piece(blobs->store, NULL, &each, err);
}
