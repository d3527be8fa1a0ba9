// SPDX-License-Identifier: Apache-2.0
// The part of libuv that readers use, with one thread.
#ifndef WASM_UV_H
#define WASM_UV_H

#include <pthread.h>

typedef pthread_mutex_t uv_mutex_t;
typedef pthread_cond_t uv_cond_t;
typedef pthread_t uv_thread_t;
typedef void (*uv_thread_cb)(void *context);

static inline int uv_mutex_init(uv_mutex_t *mutex)
{
    return pthread_mutex_init(mutex, NULL);
}

static inline void uv_mutex_destroy(uv_mutex_t *mutex)
{
    (void)mutex;
}

static inline void uv_mutex_lock(uv_mutex_t *mutex)
{
    (void)mutex;
}

static inline void uv_mutex_unlock(uv_mutex_t *mutex)
{
    (void)mutex;
}

static inline int uv_cond_init(uv_cond_t *cond)
{
    return pthread_cond_init(cond, NULL);
}

static inline void uv_cond_destroy(uv_cond_t *cond)
{
    (void)cond;
}

static inline void uv_cond_signal(uv_cond_t *cond)
{
    (void)cond;
}

static inline void uv_cond_wait(uv_cond_t *cond, uv_mutex_t *mutex)
{
    (void)pthread_cond_wait(cond, mutex);
}

static inline int uv_thread_create(uv_thread_t *thread, uv_thread_cb run, void *context)
{
    (void)thread;
    (void)run;
    (void)context;
    return -EAGAIN;
}

static inline int uv_thread_join(uv_thread_t *thread)
{
    (void)thread;
    return -EINVAL;
}

static inline unsigned uv_available_parallelism(void)
{
    return 1;
}

#endif
