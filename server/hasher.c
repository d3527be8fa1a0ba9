// SPDX-License-Identifier: Apache-2.0
// Hashing takes about as long as writing; side by side, an upload of a gigabyte is half a second
// shorter on two cores. Small files and small blocks are hashed in place.
#include "server/hasher.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>

#define THREAD_AFTER_BYTES ((uint64_t)4 << 20) // of the stream; below, a thread is not worth it
#define THREAD_BLOCK_BYTES ((size_t)32 * 1024) // handing over a block takes some microseconds

struct hasher {
    EVP_MD_CTX *context;
    uint64_t bytes; // taken so far
    bool failed;
    bool has_thread;
    pthread_t thread;
    pthread_mutex_t lock; // of all below
    pthread_cond_t changed;
    const void *block; // to be hashed; NULL: none
    size_t block_size;
    bool stop;
};

static void update(struct hasher *hasher, const void *bytes, size_t size)
{
    if (EVP_DigestUpdate(hasher->context, bytes, size) != 1)
        hasher->failed = true;
}

static void *work(void *arg)
{
    struct hasher *hasher = arg;
    pthread_mutex_lock(&hasher->lock);
    for (;;) {
        while (!hasher->block && !hasher->stop)
            pthread_cond_wait(&hasher->changed, &hasher->lock);
        if (!hasher->block)
            break;
        pthread_mutex_unlock(&hasher->lock);
        update(hasher, hasher->block, hasher->block_size); // the caller keeps off until it is done
        pthread_mutex_lock(&hasher->lock);
        hasher->block = NULL;
        pthread_cond_broadcast(&hasher->changed);
    }
    pthread_mutex_unlock(&hasher->lock);
    return NULL;
}

struct hasher *hasher_new(struct err *err)
{
    struct hasher *hasher = calloc(1, sizeof(*hasher));
    if (!hasher) {
        err_set(err, ERR_LIMIT, "out of memory for a hash");
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

static void wait_idle(struct hasher *hasher)
{
    pthread_mutex_lock(&hasher->lock);
    while (hasher->block)
        pthread_cond_wait(&hasher->changed, &hasher->lock);
    pthread_mutex_unlock(&hasher->lock);
}

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
    free(hasher);
}

// Without a thread the work is done in place: slower, nothing else.
static bool has_thread(struct hasher *hasher)
{
    if (!hasher->has_thread && hasher->bytes >= THREAD_AFTER_BYTES)
        hasher->has_thread = pthread_create(&hasher->thread, NULL, work, hasher) == 0;
    return hasher->has_thread;
}

void hasher_begin(struct hasher *hasher, const void *bytes, size_t size)
{
    hasher->bytes += size;
    if (size < THREAD_BLOCK_BYTES || !has_thread(hasher)) {
        update(hasher, bytes, size);
        return;
    }
    pthread_mutex_lock(&hasher->lock);
    hasher->block = bytes;
    hasher->block_size = size;
    pthread_cond_broadcast(&hasher->changed);
    pthread_mutex_unlock(&hasher->lock);
}

bool hasher_wait(struct hasher *hasher, struct err *err)
{
    if (hasher->has_thread)
        wait_idle(hasher);
    return !hasher->failed || err_set(err, ERR_INTERNAL, "cannot hash an uploaded file");
}

bool hasher_end(struct hasher *hasher, char sha256[HASHER_TEXT_SIZE], struct err *err)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (!hasher_wait(hasher, err))
        return false;
    stop_thread(hasher);
    if (EVP_DigestFinal_ex(hasher->context, digest, &size) != 1 || size != HASHER_TEXT_SIZE / 2)
        return err_set(err, ERR_INTERNAL, "cannot finish a hash");
    for (unsigned i = 0; i < size; i++) {
        sha256[2 * i] = digits[digest[i] >> 4];
        sha256[2 * i + 1] = digits[digest[i] & 15];
    }
    sha256[2 * size] = '\0';
    return true;
}
