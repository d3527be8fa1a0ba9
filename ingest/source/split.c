// SPDX-License-Identifier: Apache-2.0
// Pieces of a stream, the threads that read them, and the reader that takes them over in order.
#include "ingest/source/split.h"
#include "ingest/base/simd.h"

#include <pthread.h>
#include <string.h>

#define MAX_HELPERS 31u
#define MAX_SLOTS   (MAX_HELPERS + 2)
#define TEXT_SLACK  (1 + SIMD_SLACK)

enum slot_state {
    SLOT_FREE,
    SLOT_FILLING,
    SLOT_READY, // holds text
    SLOT_READING,
    SLOT_READ,
};

// Owned by the thread that fills or reads it, otherwise guarded by the lock. Ready text never
// changes, so the reader may look at it at any time.
struct slot {
    enum slot_state state;
    bool aligned; // starts where an item seems to start, and was not taken over yet
    bool failed;
    struct split_piece piece;
    uint64_t stop; // where reading stopped
    void *part;    // NULL until used
};

struct split {
    struct source source;
    struct source *below; // used by whichever thread fills
    struct split_plan plan;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t threads[MAX_HELPERS];
    unsigned started; // threads so far; used by the reader only
    // The rest is guarded by lock.
    unsigned helpers; // threads still running
    struct slot slots[MAX_SLOTS];
    uint64_t at;       // the reader's next position
    uint64_t filled;   // start of the next piece
    char *carry;       // its first bytes, already read from below
    size_t carry_len;  // used by whichever thread fills
    bool next_aligned; // used by whichever thread fills
    bool filling, ended, closing;
    bool failed; // with error, after the last piece
    struct err error;
    uint64_t consumed;
};

static uint64_t end_of(const struct slot *slot)
{
    return slot->piece.base + slot->piece.len;
}

// --- slots ---------------------------------------------------------------------------------------

// Anything a part read that was not taken over is dropped with it.
static void drop_part(struct split *split, struct slot *slot)
{
    split->plan.ops->close(slot->part);
    slot->part = NULL;
}

// Frees the slots the reader has passed.
static void drop_passed(struct split *split)
{
    for (unsigned i = 0; i < MAX_SLOTS; i++) {
        struct slot *slot = &split->slots[i];
        if ((slot->state != SLOT_READY && slot->state != SLOT_READ) || end_of(slot) > split->at)
            continue;
        if (slot->state == SLOT_READ && slot->aligned)
            drop_part(split, slot);
        slot->state = SLOT_FREE;
    }
}

// The slot that holds the byte at an offset, NULL if none does.
static struct slot *slot_at(struct split *split, uint64_t at)
{
    for (unsigned i = 0; i < MAX_SLOTS; i++) {
        struct slot *slot = &split->slots[i];
        if (slot->state >= SLOT_READY && slot->piece.base <= at && at < end_of(slot))
            return slot;
    }
    return NULL;
}

// The first piece that can be read but has not been, NULL if none.
static struct slot *next_ready(struct split *split)
{
    struct slot *first = NULL;
    for (unsigned i = 0; i < MAX_SLOTS; i++) {
        struct slot *slot = &split->slots[i];
        if (slot->state == SLOT_READY && slot->aligned && slot->piece.base >= split->at &&
            (!first || slot->piece.base < first->piece.base))
            first = slot;
    }
    return first;
}

// A slot to fill; used slots are recycled first. NULL if enough are in use.
static struct slot *next_free(struct split *split)
{
    struct slot *best = NULL;
    unsigned used = 0;
    for (unsigned i = 0; i < MAX_SLOTS; i++) {
        struct slot *slot = &split->slots[i];
        used += slot->state != SLOT_FREE;
        if (slot->state == SLOT_FREE && (!best || (slot->part && !best->part)))
            best = slot;
    }
    return used < split->helpers + 2 ? best : NULL;
}

// --- filling -------------------------------------------------------------------------------------

// Cuts the piece; what follows the cut is carried over to the next one.
static void cut(struct split *split, struct slot *slot, bool more)
{
    struct split_piece *piece = &slot->piece;
    size_t len = more ? split->plan.ops->cut((struct str){piece->text, piece->len}) : 0;
    split->next_aligned = len > 0;
    len = len ? len : piece->len;
    split->carry_len = piece->len - len;
    memcpy(split->carry, piece->text + len, split->carry_len);
    piece->len = len;
    memset(piece->text + len, 0, TEXT_SLACK);
}

// Called without the lock. False with *err if the source failed after the text.
static bool fill_text(struct split *split, struct slot *slot, bool *more, struct err *err)
{
    struct split_piece *piece = &slot->piece;
    size_t got;
    slot->aligned = split->next_aligned;
    memcpy(piece->text, split->carry, split->carry_len);
    piece->len = split->carry_len;
    bool ok = true;
    for (got = 1; ok && got > 0 && piece->len < split->plan.piece_bytes; piece->len += got) {
        got = 0;
        ok = source_read(split->below, piece->text + piece->len,
                         split->plan.piece_bytes - piece->len, &got, err);
    }
    *more = ok && piece->len == split->plan.piece_bytes;
    cut(split, slot, *more);
    return ok;
}

static bool reserve_text(struct split *split, struct slot *slot, struct err *err)
{
    if (!slot->piece.text)
        slot->piece.text =
            budget_alloc(split->plan.budget, split->plan.piece_bytes + TEXT_SLACK, err);
    return slot->piece.text != NULL;
}

// Called with the lock, which is released in between.
static void fill(struct split *split, struct slot *slot)
{
    struct err err = {.code = ERR_NONE};
    bool more = false;
    split->filling = true;
    slot->state = SLOT_FILLING;
    slot->piece.base = split->filled;
    slot->piece.len = 0;
    pthread_mutex_unlock(&split->lock);
    bool ok = reserve_text(split, slot, &err) && fill_text(split, slot, &more, &err);
    uint64_t consumed = source_consumed(split->below);
    pthread_mutex_lock(&split->lock);
    split->filling = false;
    split->ended = !more;
    split->failed = !ok;
    if (!ok)
        split->error = err;
    split->consumed = consumed;
    split->filled += slot->piece.len;
    slot->state = slot->piece.len ? SLOT_READY : SLOT_FREE;
    pthread_cond_broadcast(&split->changed);
}

// --- reading pieces ------------------------------------------------------------------------------

static bool read_piece(struct split *split, struct slot *slot)
{
    struct err err;
    if (!slot->part)
        slot->part = split->plan.ops->open(split->plan.budget, &err);
    return slot->part && split->plan.ops->read(slot->part, &slot->piece, &slot->stop, &err);
}

// Called with the lock, which is released in between.
static void read_slot(struct split *split, struct slot *slot)
{
    slot->state = SLOT_READING;
    pthread_mutex_unlock(&split->lock);
    bool ok = read_piece(split, slot);
    pthread_mutex_lock(&split->lock);
    slot->failed = !ok; // out of memory: the reader may still have enough for itself
    slot->state = SLOT_READ;
    drop_passed(split);
    pthread_cond_broadcast(&split->changed);
}

// Fills or reads a piece; false if there is none to fill or read now.
static bool work(struct split *split)
{
    struct slot *slot = next_ready(split);
    if (slot) {
        read_slot(split, slot);
        return true;
    }
    slot = split->filling || split->ended ? NULL : next_free(split);
    if (slot)
        fill(split, slot);
    return slot != NULL;
}

static void *help(void *context)
{
    struct split *split = context;
    pthread_mutex_lock(&split->lock);
    while (!split->closing && !cores_short(split->plan.cores))
        if (!work(split))
            pthread_cond_wait(&split->changed, &split->lock);
    split->helpers--;
    pthread_cond_broadcast(&split->changed); // now it may be another thread's turn to fill
    pthread_mutex_unlock(&split->lock);
    cores_give(split->plan.cores, 1);
    return NULL;
}

// Starts a helper if a core is free. Called with the lock.
static void call_helper(struct split *split)
{
    if (split->started == MAX_HELPERS || split->ended || cores_take(split->plan.cores, 1) == 0)
        return;
    if (pthread_create(&split->threads[split->started], NULL, help, split) == 0) {
        split->started++;
        split->helpers++;
    } else {
        cores_give(split->plan.cores, 1);
    }
}

// --- the reader's side ---------------------------------------------------------------------------

static bool split_read(struct source *source, void *bytes, size_t cap, size_t *got, struct err *err)
{
    struct split *split = (struct split *)source;
    struct slot *slot;
    *got = 0;
    pthread_mutex_lock(&split->lock);
    while (!(slot = slot_at(split, split->at)) && (split->filling || !split->ended)) {
        struct slot *empty = split->filling ? NULL : next_free(split);
        if (empty)
            fill(split, empty);
        else
            pthread_cond_wait(&split->changed, &split->lock);
    }
    bool ok = slot || !split->failed;
    if (slot) {
        uint64_t left = end_of(slot) - split->at;
        *got = left < cap ? (size_t)left : cap;
        memcpy(bytes, slot->piece.text + (split->at - slot->piece.base), *got);
        split->at += *got;
        drop_passed(split);
        pthread_cond_broadcast(&split->changed);
    } else if (!ok && err) {
        *err = split->error;
    }
    pthread_mutex_unlock(&split->lock);
    return ok;
}

static uint64_t split_consumed(const struct source *source)
{
    // Only the lock is modified despite the const view.
    union {
        const struct source *borrowed;
        struct split *split;
    } view = {source};
    pthread_mutex_lock(&view.split->lock);
    uint64_t consumed = view.split->consumed;
    pthread_mutex_unlock(&view.split->lock);
    return consumed;
}

static void leave_open(struct source *source)
{
    (void)source; // split_close ends it
}

struct source *split_source(struct split *split)
{
    return &split->source;
}

// Waits until the piece that starts at the reader's position is read; NULL if none starts there.
static struct slot *wait_for_piece(struct split *split)
{
    for (;;) {
        struct slot *slot = slot_at(split, split->at);
        if (slot && (!slot->aligned || slot->piece.base != split->at))
            return NULL;
        if (slot && slot->state == SLOT_READ)
            return slot;
        if (!slot && split->ended && !split->filling)
            return NULL;
        if (!work(split))
            pthread_cond_wait(&split->changed, &split->lock);
    }
}

bool split_take(struct split *split, void *whole, uint64_t *at, struct err *err)
{
    pthread_mutex_lock(&split->lock);
    call_helper(split);
    struct slot *slot = wait_for_piece(split);
    bool ok = true;
    if (slot && slot->failed) {
        drop_part(split, slot);
        slot->aligned = false;
    } else if (slot) {
        pthread_mutex_unlock(&split->lock);
        ok = split->plan.ops->absorb(whole, slot->part, err);
        pthread_mutex_lock(&split->lock);
        slot->aligned = false;
        split->at = slot->stop;
        drop_passed(split);
        pthread_cond_broadcast(&split->changed);
    }
    *at = split->at;
    pthread_mutex_unlock(&split->lock);
    return ok;
}

// --- open and close ------------------------------------------------------------------------------

static const struct source_ops split_source_ops = {
    .read = split_read, .close = leave_open, .consumed = split_consumed};

static bool start(struct split *split, struct err *err)
{
    split->carry = budget_alloc(split->plan.budget, split->plan.piece_bytes, err);
    if (!split->carry)
        return false;
    if (pthread_mutex_init(&split->lock, NULL) != 0)
        return err_set(err, ERR_LIMIT, "cannot make a lock");
    if (pthread_cond_init(&split->changed, NULL) == 0)
        return true;
    pthread_mutex_destroy(&split->lock);
    return err_set(err, ERR_LIMIT, "cannot make a condition");
}

static void release(struct split *split)
{
    struct budget *budget = split->plan.budget;
    for (unsigned i = 0; i < MAX_SLOTS; i++) {
        drop_part(split, &split->slots[i]);
        budget_free(budget, split->slots[i].piece.text, split->plan.piece_bytes + TEXT_SLACK);
    }
    budget_free(budget, split->carry, split->plan.piece_bytes);
    budget_free(budget, split, sizeof *split);
}

bool split_open(struct split **split, const struct split_plan *plan, struct source *below,
                uint64_t at, struct err *err)
{
    *split = NULL;
    if (cores_free(plan->cores) == 0)
        return true;
    struct split *made = budget_zalloc(plan->budget, sizeof *made, err);
    if (!made)
        return false;
    made->source.ops = &split_source_ops;
    made->below = below;
    made->plan = *plan;
    made->at = made->filled = at;
    if (!start(made, err)) {
        release(made);
        return false;
    }
    pthread_mutex_lock(&made->lock);
    call_helper(made);
    pthread_mutex_unlock(&made->lock);
    *split = made;
    return true;
}

void split_close(struct split *split)
{
    if (!split)
        return;
    pthread_mutex_lock(&split->lock);
    split->closing = true;
    pthread_cond_broadcast(&split->changed);
    pthread_mutex_unlock(&split->lock);
    for (unsigned i = 0; i < split->started; i++)
        pthread_join(split->threads[i], NULL);
    pthread_cond_destroy(&split->changed);
    pthread_mutex_destroy(&split->lock);
    release(split);
}
