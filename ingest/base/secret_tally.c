// SPDX-License-Identifier: Apache-2.0
// Pieces are searched in place. Secrets that start near a cut are searched in a copy of the bytes
// on both sides of it.
#include "ingest/base/secret_tally.h"

#define NAME_REACH ((size_t)256) // how far before a secret the search must start to see its name

// Counts the secrets that start in text[from..to); text is at `pos` in the stream.
static void count(struct secret_tally *tally, struct str text, uint64_t pos, size_t from, size_t to)
{
    struct secret secret;
    if (tally->last_end > pos + from)
        from = (size_t)(tally->last_end - pos);
    size_t at = from > NAME_REACH ? from - NAME_REACH : 0;
    for (; at < to && secrets_find(text, at, &secret) && secret.at < to;
         at = secret.at + secret.len) {
        if (secret.at < from)
            continue;
        struct secret_count *found = &tally->found[secret.kind];
        found->first_pos = found->count ? found->first_pos : pos + secret.at;
        found->count++;
        tally->last_end = pos + secret.at + secret.len;
    }
}

// Keeps the last bytes of what was kept plus a piece.
static void keep(struct secret_tally *tally, struct str piece)
{
    size_t room = sizeof tally->end;
    size_t taken = piece.len < room ? piece.len : room;
    size_t stays = tally->kept < room - taken ? tally->kept : room - taken;
    memmove(tally->end, tally->end + tally->kept - stays, stays);
    if (taken)
        memcpy(tally->end + stays, piece.at + piece.len - taken, taken);
    tally->kept = stays + taken;
}

// All kept bytes but the last SECRET_REACH were already searched.
static void count_cut(struct secret_tally *tally, struct str piece)
{
    char both[4 * SECRET_REACH];
    size_t head = piece.len < 2 * SECRET_REACH ? piece.len : 2 * SECRET_REACH;
    if (tally->kept)
        memcpy(both, tally->end, tally->kept);
    if (head)
        memcpy(both + tally->kept, piece.at, head);
    size_t len = tally->kept + head;
    size_t from = tally->kept > SECRET_REACH ? tally->kept - SECRET_REACH : 0;
    size_t to = head < 2 * SECRET_REACH ? len - (len < SECRET_REACH ? len : SECRET_REACH)
                                        : tally->kept + SECRET_REACH;
    count(tally, (struct str){both, len}, tally->pos - tally->kept, from, to);
}

void secret_tally_add(struct secret_tally *tally, struct str piece)
{
    count_cut(tally, piece);
    if (piece.len > 2 * SECRET_REACH)
        count(tally, piece, tally->pos, SECRET_REACH, piece.len - SECRET_REACH);
    keep(tally, piece);
    tally->pos += piece.len;
}

void secret_tally_end(struct secret_tally *tally)
{
    size_t from = tally->kept > SECRET_REACH ? tally->kept - SECRET_REACH : 0;
    count(tally, (struct str){tally->end, tally->kept}, tally->pos - tally->kept, from,
          tally->kept);
}
