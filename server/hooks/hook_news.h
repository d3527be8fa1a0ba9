// SPDX-License-Identifier: Apache-2.0
// What is in the store and not announced yet: finished runs and alerts.
#ifndef SERVER_HOOK_NEWS_H
#define SERVER_HOOK_NEWS_H

#include "server/hooks/hook_queue.h"
#include "server/store/store.h"

#include <pthread.h>

// Runs whose ranks may still be coming, and since when nothing has.
struct hook_quiet_run {
    char id[STORE_ID_SIZE];
    int64_t revision, since_ns;
};
enum { HOOK_QUIET_RUNS = 64 };

struct hook_news {
    struct store *store;
    pthread_mutex_t *lock; // guards the queue; taken while it is used, not while the store is
    const char *base_url;
    struct hook_quiet_run quiet[HOOK_QUIET_RUNS];
    size_t quiet_count;
};

// Queues what is new. *again: a run is not quiet yet, look again soon.
MUST_CHECK bool hook_news_look(struct hook_news *news, struct hook_queue *queue, bool *again,
                               struct err *err);

#endif
