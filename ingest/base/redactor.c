// SPDX-License-Identifier: Apache-2.0
// Holds the last bytes back until what follows them is known, and cuts only between secrets.
#include "ingest/base/redactor.h"

#define BLOCK_BYTES (8 * REDACTOR_REACH)
#define NAME_REACH  ((size_t)256) // how far before a secret its name may start

// The last place up to `most` that is not within a secret or between it and its name.
static size_t find_cut(struct str text, size_t most)
{
    size_t cut = most, at = 0;
    struct secret secret;
    while (at < most && secrets_find(text, at, &secret)) {
        size_t name = secret.at > NAME_REACH ? secret.at - NAME_REACH : 0;
        size_t end = secret.at + secret.len;
        if (name >= most)
            break;
        cut = end <= most ? most : name > at ? name : at;
        at = end;
    }
    return cut;
}

static void write_some(struct redactor *redactor, struct buf *out)
{
    struct buf *held = &redactor->held;
    struct str text = {held->at, held->len};
    size_t cut = find_cut(text, held->len - REDACTOR_REACH);
    if (cut == 0) // longer than any secret
        cut = held->len - REDACTOR_REACH;
    secrets_redact((struct str){held->at, cut}, NULL, out);
    held->len -= cut;
    memmove(held->at, held->at + cut, held->len);
}

void redactor_add(struct redactor *redactor, struct str piece, struct buf *out)
{
    while (piece.len && !redactor->held.failed) {
        size_t room = BLOCK_BYTES - redactor->held.len;
        size_t taken = piece.len < room ? piece.len : room;
        buf_add(&redactor->held, piece.at, taken);
        piece = (struct str){piece.at + taken, piece.len - taken};
        if (!redactor->held.failed && redactor->held.len == BLOCK_BYTES)
            write_some(redactor, out);
    }
}

bool redactor_end(struct redactor *redactor, struct buf *out, struct err *err)
{
    if (redactor->held.len)
        secrets_redact((struct str){redactor->held.at, redactor->held.len}, NULL, out);
    return buf_ok(&redactor->held, err) && buf_ok(out, err);
}

void redactor_free(struct redactor *redactor)
{
    buf_free(&redactor->held);
}
