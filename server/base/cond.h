// SPDX-License-Identifier: Apache-2.0
// Condition variables whose waits end at a time of clock_mono_ns().
#ifndef SERVER_COND_H
#define SERVER_COND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

void cond_init(pthread_cond_t *cond);

// Waits until it is signalled, or for no reason; false once that time has come.
bool cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t mono_ns);

#endif
