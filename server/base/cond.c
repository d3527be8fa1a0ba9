// SPDX-License-Identifier: Apache-2.0
// Waits by the monotonic clock.
#include "server/base/cond.h"

#include <time.h>

#define SECOND_NS 1000000000

void cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

bool cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t mono_ns)
{
    const struct timespec end = {mono_ns / SECOND_NS, mono_ns % SECOND_NS};
    return pthread_cond_timedwait(cond, lock, &end) == 0;
}
