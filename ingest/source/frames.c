// SPDX-License-Identifier: Apache-2.0
// Measures what was read ahead, gives each piece its place in the text, and unpacks all at once.
#include "ingest/source/frames.h"

#include "ingest/base/crew.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_PIECES = 1024, // at a time
    SPARE = 3,          // one in so many free cores decompresses: scanning takes more
};

struct frame {
    struct str packed;
    size_t at, most, len; // of its text
};

bool frames_fill(struct frames *frames, struct source *below, struct str *unread)
{
    struct err ignored;
    size_t got = 0;
    if (!frames->packed)
        frames->packed = malloc(FRAMES_PACKED);
    if (!frames->packed || unread->len > FRAMES_PACKED)
        return false;
    if (unread->len)
        memmove(frames->packed, unread->at, unread->len);
    (void)!source_fill(below, frames->packed + unread->len, FRAMES_PACKED - unread->len, &got,
                       &ignored);
    *unread = (struct str){frames->packed, unread->len + got};
    return true;
}

void frames_begin(struct frames *frames, const struct frame_ops *ops, struct cores *cores,
                  struct str unread)
{
    size_t most, first = ops->measure(unread, &most);
    if (first == 0 || first >= unread.len || most > FRAMES_TEXT)
        return;
    frames->pieces = malloc(MOST_PIECES * sizeof *frames->pieces);
    frames->reserved = frames->pieces ? cores_take(cores, cores_free(cores) / SPARE) : 0;
    frames->lender = cores;
    frames->ops = ops;
    cores_init(&frames->own, frames->reserved + 1);
    cores_hold(&frames->own);
}

// Lists the pieces to unpack; returns the most text they can have.
static size_t measure(struct frames *frames, struct str unread)
{
    size_t most = 0;
    frames->count = frames->piece = frames->at = 0;
    while (frames->count < MOST_PIECES && unread.len) {
        size_t text, len = frames->ops->measure(unread, &text);
        if (len == 0 || text > FRAMES_TEXT - most)
            break;
        frames->pieces[frames->count++] = (struct frame){{unread.at, len}, most, text, 0};
        most += text;
        unread = (struct str){unread.at + len, unread.len - len};
    }
    return most;
}

static bool unpack(void *context, size_t from, size_t to, struct err *err)
{
    struct frames *frames = context;
    (void)err;
    for (size_t i = from; i < to; i++) {
        struct frame *piece = &frames->pieces[i];
        piece->len = frames->ops->unpack(piece->packed, frames->text + piece->at, piece->most);
    }
    return true;
}

static bool make_room(struct frames *frames, size_t most)
{
    if (most <= frames->text_cap)
        return true;
    free(frames->text);
    frames->text = malloc(most);
    frames->text_cap = frames->text ? most : 0;
    return frames->text;
}

static void give_back(struct frames *frames)
{
    cores_give(frames->lender, frames->reserved);
    frames->reserved = 0;
}

// Keeps the pieces before the first damaged one; returns their length.
static size_t keep_good(struct frames *frames)
{
    size_t good = 0, packed = 0, text = 0;
    for (; good < frames->count && frames->pieces[good].len != SIZE_MAX; good++) {
        packed += frames->pieces[good].packed.len;
        text += frames->pieces[good].len;
    }
    frames->count = text ? good : 0;
    if (!text)
        give_back(frames);
    return text ? packed : 0;
}

size_t frames_unpack(struct frames *frames, struct str unread)
{
    struct err ignored;
    size_t most = measure(frames, unread);
    if (most == 0 || !make_room(frames, most) ||
        !crew_each(&frames->own, frames->count, 1, unpack, frames, &ignored))
        frames->count = 0;
    return keep_good(frames);
}

size_t frames_read(struct frames *frames, void *bytes, size_t cap)
{
    while (frames->piece < frames->count) {
        const struct frame *piece = &frames->pieces[frames->piece];
        size_t left = piece->len - frames->at, got = left < cap ? left : cap;
        if (got) {
            memcpy(bytes, frames->text + piece->at + frames->at, got);
            frames->at += got;
            return got;
        }
        frames->piece++;
        frames->at = 0;
    }
    return 0;
}

void frames_close(struct frames *frames)
{
    free(frames->packed);
    free(frames->text);
    free(frames->pieces);
    give_back(frames);
}
