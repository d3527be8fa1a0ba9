// SPDX-License-Identifier: Apache-2.0
// One thread: locks are free, and nobody else can be started or waited for.
#ifndef WASM_PTHREAD_H
#define WASM_PTHREAD_H

#include <errno.h>
#include <stddef.h>
#include <time.h>

typedef int pthread_t, pthread_attr_t, pthread_mutexattr_t, pthread_condattr_t, pthread_once_t;
typedef int pthread_mutex_t, pthread_cond_t;

#define PTHREAD_MUTEX_INITIALIZER 0
#define PTHREAD_COND_INITIALIZER  0
#define PTHREAD_ONCE_INIT         0

#define WASM_PTHREAD_NOTHING(name, type) \
    static inline int name(type *what)   \
    {                                    \
        (void)what;                      \
        return 0;                        \
    }
WASM_PTHREAD_NOTHING(pthread_mutex_lock, pthread_mutex_t)
WASM_PTHREAD_NOTHING(pthread_mutex_trylock, pthread_mutex_t)
WASM_PTHREAD_NOTHING(pthread_mutex_unlock, pthread_mutex_t)
WASM_PTHREAD_NOTHING(pthread_mutex_destroy, pthread_mutex_t)
WASM_PTHREAD_NOTHING(pthread_cond_signal, pthread_cond_t)
WASM_PTHREAD_NOTHING(pthread_cond_broadcast, pthread_cond_t)
WASM_PTHREAD_NOTHING(pthread_cond_destroy, pthread_cond_t)
WASM_PTHREAD_NOTHING(pthread_condattr_init, pthread_condattr_t)
WASM_PTHREAD_NOTHING(pthread_condattr_destroy, pthread_condattr_t)
#undef WASM_PTHREAD_NOTHING

static inline int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    (void)attributes;
    *mutex = 0;
    return 0;
}

static inline int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attributes)
{
    (void)attributes;
    *cond = 0;
    return 0;
}

static inline int pthread_condattr_setclock(pthread_condattr_t *attributes, clockid_t clock)
{
    (void)attributes;
    (void)clock;
    return 0;
}

// Nobody could ever signal.
static inline int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    (void)cond;
    (void)mutex;
    __builtin_trap();
}

static inline int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                         const struct timespec *until)
{
    (void)cond;
    (void)mutex;
    (void)until;
    return ETIMEDOUT;
}

static inline int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                 void *(*run)(void *), void *context)
{
    (void)thread;
    (void)attributes;
    (void)run;
    (void)context;
    return EAGAIN;
}

static inline int pthread_join(pthread_t thread, void **result)
{
    (void)thread;
    (void)result;
    return EINVAL;
}

static inline pthread_t pthread_self(void)
{
    return 0;
}

static inline int pthread_once(pthread_once_t *once, void (*run)(void))
{
    if (!*once) {
        *once = 1;
        run();
    }
    return 0;
}

#endif
