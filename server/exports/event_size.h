// SPDX-License-Identifier: Apache-2.0
// How large exports of events become, without writing all of them.
#ifndef SERVER_EVENT_SIZE_H
#define SERVER_EVENT_SIZE_H

#include "server/exports/event_source.h"

struct event_size {
    uint64_t bytes;
    bool is_exact; // it was written to its end; else taken from a part of the events
};

// What the sizes of several formats are taken from.
struct event_sample {
    const struct event_source *of;
    struct event_source source; // that part
    struct event_rank rank;
    size_t index;      // of the rank
    uint64_t events;   // in that part
    uint64_t expected; // of the source in its window
    bool is_all;
};

// The sample must not move. Few events are taken as they are, else some from the middle of the
// longest rank. The source was measured.
MUST_CHECK bool event_sample_choose(struct event_sample *sample, const struct event_source *source,
                                    struct err *err);

MUST_CHECK bool event_sample_size(const struct event_sample *sample,
                                  const struct event_export *format, struct event_size *size,
                                  struct err *err);

#endif
