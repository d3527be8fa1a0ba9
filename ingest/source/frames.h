// SPDX-License-Identifier: Apache-2.0
// Pieces of a compressed stream that stand alone (frames of zstd, blocks of bgzip), decompressed
// on several cores. A decompressor tries this between two pieces; those that are incomplete, too
// large or damaged are left to it.
#ifndef INGEST_SOURCE_FRAMES_H
#define INGEST_SOURCE_FRAMES_H

#include "ingest/base/cores.h"
#include "ingest/source/source.h"

// Read ahead; a larger piece is not taken.
#define FRAMES_PACKED ((size_t)4 << 20)
#define FRAMES_TEXT   ((size_t)32 << 20)

struct frame_ops {
    // Length of the whole piece that `packed` starts with, and the most text it can have. 0:
    // unknown.
    size_t (*measure)(struct str packed, size_t *most);
    // Returns the length of the text, SIZE_MAX if the piece is damaged. Any thread.
    size_t (*unpack)(struct str packed, char *text, size_t most);
};

// All zero: nothing is done ahead.
struct frames {
    const struct frame_ops *ops;
    struct cores *lender;
    unsigned reserved; // of the lender's cores: others would take them all
    struct cores own;
    char *packed; // FRAMES_PACKED, NULL: none
    char *text;
    size_t text_cap;
    struct frame *pieces; // the last that were unpacked
    size_t count, piece;  // piece: the one being read
    size_t at;            // of its text
};

// Reads ahead so that *unread, which is moved, is FRAMES_PACKED long or all there is; it stays
// valid until the next call. An error is left to whoever reads the source next. False: nothing was
// done.
bool frames_fill(struct frames *frames, struct source *below, struct str *unread);

// Reserves some free cores, if there are any to spare and `unread` has several pieces.
void frames_begin(struct frames *frames, const struct frame_ops *ops, struct cores *cores,
                  struct str unread);

// Decompresses the pieces that `unread` starts with; returns their length. 0: none, or without any
// text; then nothing is done ahead any more, so that a hostile file cannot cause one attempt after
// another.
size_t frames_unpack(struct frames *frames, struct str unread);

// The rest of their text, up to cap bytes; 0 at its end.
size_t frames_read(struct frames *frames, void *bytes, size_t cap);

void frames_close(struct frames *frames);

#endif
