// SPDX-License-Identifier: Apache-2.0
// Hashing takes about as long as receiving and writing. The thread works on copies, so that all
// three overlap: on two cores a gigabyte is received a fifth faster than when each block waits for
// its hash. Small files are hashed in place.
#include "server/hasher.h"

#include "ingest/base/str.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define THREAD_AFTER_BYTES ((uint64_t)4 << 20) // of the stream; below, a thread is not worth it
#define SLOT_BYTES         ((size_t)256 << 10)
#define SLOTS              3u

struct slot {
    size_t size;
    char bytes[SLOT_BYTES];
};

struct hasher {
    EVP_MD_CTX *context;
    uint64_t bytes;     // taken so far
    struct slot *slots; // SLOTS of them, once there is a thread
    bool has_thread;
    pthread_t thread;
    pthread_mutex_t lock; // of all below
    pthread_cond_t changed;
    unsigned filled, hashed; // counters; filled - hashed slots wait
    bool failed;
    bool stop;
};

static bool update(struct hasher *hasher, const void *bytes, size_t size)
{
    return EVP_DigestUpdate(hasher->context, bytes, size) == 1;
}

static void *work(void *arg)
{
    struct hasher *hasher = arg;
    pthread_mutex_lock(&hasher->lock);
    for (;;) {
        while (hasher->filled == hasher->hashed && !hasher->stop)
            pthread_cond_wait(&hasher->changed, &hasher->lock);
        if (hasher->filled == hasher->hashed)
            break;
        const struct slot *slot = &hasher->slots[hasher->hashed % SLOTS];
        pthread_mutex_unlock(&hasher->lock);
        bool ok = update(hasher, slot->bytes, slot->size);
        pthread_mutex_lock(&hasher->lock);
        hasher->failed |= !ok;
        hasher->hashed++;
        pthread_cond_broadcast(&hasher->changed);
    }
    pthread_mutex_unlock(&hasher->lock);
    return NULL;
}

struct hasher *hasher_new(struct err *err)
{
    struct hasher *hasher = calloc(1, sizeof(*hasher));
    if (!hasher) {
        err_set(err, ERR_MEMORY, "out of memory for a hash");
        return NULL;
    }
    pthread_mutex_init(&hasher->lock, NULL);
    pthread_cond_init(&hasher->changed, NULL);
    hasher->context = EVP_MD_CTX_new();
    if (hasher->context && EVP_DigestInit_ex(hasher->context, EVP_sha256(), NULL) == 1)
        return hasher;
    hasher_free(hasher);
    err_set(err, ERR_INTERNAL, "cannot begin a hash");
    return NULL;
}

// Ends the thread once all slots are hashed.
static void stop_thread(struct hasher *hasher)
{
    if (!hasher->has_thread)
        return;
    pthread_mutex_lock(&hasher->lock);
    hasher->stop = true;
    pthread_cond_broadcast(&hasher->changed);
    pthread_mutex_unlock(&hasher->lock);
    pthread_join(hasher->thread, NULL);
    hasher->has_thread = false;
}

void hasher_free(struct hasher *hasher)
{
    if (!hasher)
        return;
    stop_thread(hasher);
    EVP_MD_CTX_free(hasher->context);
    pthread_cond_destroy(&hasher->changed);
    pthread_mutex_destroy(&hasher->lock);
    free(hasher->slots);
    free(hasher);
}

// Without a thread the work is done in place: slower, nothing else.
static bool has_thread(struct hasher *hasher)
{
    if (hasher->has_thread || hasher->bytes < THREAD_AFTER_BYTES)
        return hasher->has_thread;
    if (!hasher->slots)
        hasher->slots = malloc(SLOTS * sizeof(*hasher->slots));
    hasher->has_thread = hasher->slots && pthread_create(&hasher->thread, NULL, work, hasher) == 0;
    return hasher->has_thread;
}

static void fill_slot(struct hasher *hasher, const char *bytes, size_t size)
{
    pthread_mutex_lock(&hasher->lock);
    while (hasher->filled - hasher->hashed == SLOTS)
        pthread_cond_wait(&hasher->changed, &hasher->lock);
    struct slot *slot = &hasher->slots[hasher->filled % SLOTS];
    pthread_mutex_unlock(&hasher->lock);
    memcpy(slot->bytes, bytes, size); // the thread keeps off until it is counted
    slot->size = size;
    pthread_mutex_lock(&hasher->lock);
    hasher->filled++;
    pthread_cond_broadcast(&hasher->changed);
    pthread_mutex_unlock(&hasher->lock);
}

static bool is_sound(struct hasher *hasher, struct err *err)
{
    pthread_mutex_lock(&hasher->lock);
    bool failed = hasher->failed;
    pthread_mutex_unlock(&hasher->lock);
    return !failed || err_set(err, ERR_INTERNAL, "cannot hash an uploaded file");
}

bool hasher_add(struct hasher *hasher, const void *bytes, size_t size, struct err *err)
{
    hasher->bytes += size;
    if (!has_thread(hasher)) {
        hasher->failed |= !update(hasher, bytes, size);
        return is_sound(hasher, err);
    }
    for (const char *at = bytes; size > 0;) {
        size_t part = size < SLOT_BYTES ? size : SLOT_BYTES;
        fill_slot(hasher, at, part);
        at += part;
        size -= part;
    }
    return is_sound(hasher, err);
}

bool hasher_end(struct hasher *hasher, char sha256[HASHER_TEXT_SIZE], struct err *err)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    stop_thread(hasher);
    if (!is_sound(hasher, err))
        return false;
    if (EVP_DigestFinal_ex(hasher->context, digest, &size) != 1 || size != HASHER_TEXT_SIZE / 2)
        return err_set(err, ERR_INTERNAL, "cannot finish a hash");
    str_hex(sha256, digest, size);
    return true;
}
