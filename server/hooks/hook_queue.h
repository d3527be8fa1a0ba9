// SPDX-License-Identifier: Apache-2.0
// Waiting deliveries, one file each, and the keys of events that were queued before. A queue has
// one user at a time.
#ifndef SERVER_HOOK_QUEUE_H
#define SERVER_HOOK_QUEUE_H

#include "server/hooks/hook_body.h"

struct hook_delivery {
    struct hook_delivery *next;
    const struct hook_target *target;
    char *key, *type, *body;
    int64_t at_ns;  // when the event happened, wall clock
    int64_t due_ns; // of the next try, monotonic
    int attempts;
};

struct hook_queue {
    const struct hook_targets *targets;
    char folder[512];
    struct hook_delivery *first;
    size_t count;
    void *seen; // keys, a tree
    size_t seen_count;
    int seen_fd;
    int64_t since_ns; // wall clock: when webhooks were first used with this folder
};

// Opens a folder, made if missing. Deliveries to targets that are gone are dropped. Free it in any
// case.
MUST_CHECK bool hook_queue_open(struct hook_queue *queue, const char *folder,
                                const struct hook_targets *targets, struct err *err);
void hook_queue_free(struct hook_queue *queue);

bool hook_queue_has_seen(const struct hook_queue *queue, const char *key);

// Marks an event as queued, because another service has queued it.
MUST_CHECK bool hook_queue_mark(struct hook_queue *queue, const char *key, struct err *err);

// Whether the event still waits for a target.
bool hook_queue_waits(const struct hook_queue *queue, const char *key);

// Queues the event for each target that wants it, durably, unless that was done before.
MUST_CHECK bool hook_queue_add(struct hook_queue *queue, const struct hook_event *event,
                               struct err *err);

// The delivery that is due first; NULL: none waits.
struct hook_delivery *hook_queue_next(const struct hook_queue *queue);

// Removes a delivery, whatever became of it.
void hook_queue_remove(struct hook_queue *queue, struct hook_delivery *delivery);

#endif
