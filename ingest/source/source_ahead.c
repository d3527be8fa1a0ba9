// SPDX-License-Identifier: Apache-2.0
// Reads a source on a separate thread, a few blocks ahead, so that decompression and scan overlap.
// Secrets in the blocks are counted by the thread that would otherwise wait for the other.
#include "ingest/base/fuzzed.h"
#include "ingest/source/source.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

// All blocks fit the shared cache, and waking the other side once per block costs little compared
// with filling it: with 256 KiB zstd took 8 % longer where the reader waits for it; 1 MiB was no
// faster.
#define BLOCK_BYTES ((size_t)FUZZED_SIZE(512 << 10, 4 << 10))
#define BLOCKS      4u

struct block {
    char *bytes;
    size_t len;
};

struct ahead {
    struct source source;
    struct source *below;
    struct cores *cores;
    unsigned taken_cores; // by the thread
    struct block blocks[BLOCKS];
    uv_mutex_t lock;
    uv_cond_t changed;
    uv_thread_t thread;
    bool has_thread;        // else the reader fills the blocks
    unsigned filled, taken; // counters; filled - taken blocks are ready. Guarded by lock
    unsigned searched;      // counter of blocks whose secrets are in the tally. Guarded by lock
    bool searching;         // one thread is searching the next block. Guarded by lock
    bool ended;             // the thread adds no more blocks. Guarded by lock
    bool closing;           // the reader is done. Guarded by lock
    bool failed;            // with error, once the ready blocks are read. Guarded by lock
    struct err error;
    uint64_t consumed;          // guarded by lock
    size_t at;                  // position in the block being read; used by the reader only
    struct secret_tally *tally; // used by the thread that is searching
};

// Searches a block, if there is one and the other thread is not searching. Called with the lock,
// which is released in between.
static bool search_next(struct ahead *ahead)
{
    if (ahead->searching || ahead->searched == ahead->filled)
        return false;
    const struct block *block = &ahead->blocks[ahead->searched % BLOCKS];
    ahead->searching = true;
    uv_mutex_unlock(&ahead->lock);
    secret_tally_add(ahead->tally, (struct str){block->bytes, block->len});
    uv_mutex_lock(&ahead->lock);
    ahead->searching = false;
    ahead->searched++;
    uv_cond_signal(&ahead->changed);
    return true;
}

static void search_or_wait(struct ahead *ahead)
{
    if (!search_next(ahead))
        uv_cond_wait(&ahead->changed, &ahead->lock);
}

static void search_rest(struct ahead *ahead)
{
    uv_mutex_lock(&ahead->lock);
    while (search_next(ahead)) {
    }
    uv_mutex_unlock(&ahead->lock);
}

static bool is_full(const struct ahead *ahead)
{
    return ahead->filled - ahead->taken == BLOCKS || ahead->filled - ahead->searched == BLOCKS;
}

// Waits for a free block; NULL once the reader is done.
static struct block *free_block(struct ahead *ahead)
{
    uv_mutex_lock(&ahead->lock);
    while (is_full(ahead) && !ahead->closing)
        search_or_wait(ahead);
    bool closing = ahead->closing;
    uv_mutex_unlock(&ahead->lock);
    return closing ? NULL : &ahead->blocks[ahead->filled % BLOCKS];
}

// A short last block still counts if the stream fails after it.
static bool fill(struct ahead *ahead, struct block *block, struct err *err)
{
    block->len = 0;
    while (block->len < BLOCK_BYTES) {
        size_t got;
        if (!source_read(ahead->below, block->bytes + block->len, BLOCK_BYTES - block->len, &got,
                         err))
            return false;
        if (got == 0)
            break;
        block->len += got;
    }
    return true;
}

static void publish(struct ahead *ahead, const struct block *block, bool ok, const struct err *err)
{
    uv_mutex_lock(&ahead->lock);
    ahead->filled += block->len > 0;
    ahead->ended = !ok || block->len < BLOCK_BYTES;
    ahead->failed = !ok;
    if (!ok)
        ahead->error = *err;
    ahead->consumed = source_consumed(ahead->below);
    uv_cond_signal(&ahead->changed);
    uv_mutex_unlock(&ahead->lock);
}

// False once there are no more blocks.
static bool fill_next(struct ahead *ahead)
{
    struct block *block = free_block(ahead);
    struct err err = {0};
    if (!block)
        return false;
    bool ok = fill(ahead, block, &err);
    bool more = ok && block->len == BLOCK_BYTES;
    publish(ahead, block, ok, &err);
    return more;
}

static void run(void *arg)
{
    struct ahead *ahead = arg;
    while (fill_next(ahead)) {
    }
    search_rest(ahead);
    cores_give(ahead->cores, ahead->taken_cores);
}

// Waits for a block with bytes left; NULL at the end or on failure.
static struct block *ready_block(struct ahead *ahead)
{
    if (!ahead->has_thread && ahead->filled == ahead->taken && !ahead->ended)
        (void)fill_next(ahead);
    uv_mutex_lock(&ahead->lock);
    while (ahead->filled == ahead->taken && !ahead->ended)
        search_or_wait(ahead);
    bool ready = ahead->filled != ahead->taken;
    uv_mutex_unlock(&ahead->lock);
    return ready ? &ahead->blocks[ahead->taken % BLOCKS] : NULL;
}

static void release_block(struct ahead *ahead)
{
    uv_mutex_lock(&ahead->lock);
    ahead->taken++;
    uv_cond_signal(&ahead->changed);
    uv_mutex_unlock(&ahead->lock);
    ahead->at = 0;
}

static bool ahead_read(struct source *source, void *bytes, size_t cap, size_t *got, struct err *err)
{
    struct ahead *ahead = (struct ahead *)source;
    *got = 0;
    struct block *block = ready_block(ahead);
    if (!block) {
        if (ahead->failed && err)
            *err = ahead->error;
        return !ahead->failed;
    }
    size_t left = block->len - ahead->at;
    *got = left < cap ? left : cap;
    memcpy(bytes, block->bytes + ahead->at, *got);
    ahead->at += *got;
    if (ahead->at == block->len)
        release_block(ahead);
    return true;
}

static void release(struct ahead *ahead)
{
    for (unsigned i = 0; i < BLOCKS; i++)
        free(ahead->blocks[i].bytes);
    free(ahead);
}

static void ahead_close(struct source *source)
{
    struct ahead *ahead = (struct ahead *)source;
    uv_mutex_lock(&ahead->lock);
    ahead->closing = true;
    uv_cond_signal(&ahead->changed);
    uv_mutex_unlock(&ahead->lock);
    if (ahead->has_thread)
        uv_thread_join(&ahead->thread);
    search_rest(ahead);
    secret_tally_end(ahead->tally);
    uv_cond_destroy(&ahead->changed);
    uv_mutex_destroy(&ahead->lock);
    source_close(ahead->below);
    release(ahead);
}

static uint64_t ahead_consumed(const struct source *source)
{
    // Only the lock is modified despite the const view.
    union {
        const struct source *borrowed;
        struct ahead *ahead;
    } view = {source};
    uv_mutex_lock(&view.ahead->lock);
    uint64_t consumed = view.ahead->consumed;
    uv_mutex_unlock(&view.ahead->lock);
    return consumed;
}

static const struct source_ops ahead_ops = {
    .read = ahead_read, .close = ahead_close, .consumed = ahead_consumed};

static bool prepare(struct ahead *ahead)
{
    for (unsigned i = 0; i < BLOCKS; i++) {
        ahead->blocks[i].bytes = malloc(BLOCK_BYTES);
        if (!ahead->blocks[i].bytes)
            return false;
    }
    if (uv_mutex_init(&ahead->lock) != 0)
        return false;
    if (uv_cond_init(&ahead->changed) == 0)
        return true;
    uv_mutex_destroy(&ahead->lock);
    return false;
}

// Without a thread it only takes longer.
static void start(struct ahead *ahead)
{
    ahead->taken_cores = cores_take(ahead->cores, 1);
    ahead->has_thread = uv_thread_create(&ahead->thread, run, ahead) == 0;
    if (!ahead->has_thread)
        cores_give(ahead->cores, ahead->taken_cores);
}

struct source *source_ahead_open(struct source *below, struct cores *cores,
                                 struct secret_tally *tally, struct err *err)
{
    struct ahead *ahead = calloc(1, sizeof *ahead);
    if (!ahead || !prepare(ahead)) {
        if (ahead)
            release(ahead);
        source_close(below);
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    ahead->source.ops = &ahead_ops;
    ahead->below = below;
    ahead->cores = cores;
    ahead->tally = tally;
    if (fill_next(ahead)) // most files are no longer than a block and need no thread
        start(ahead);
    return &ahead->source;
}
