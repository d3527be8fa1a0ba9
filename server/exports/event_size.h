// SPDX-License-Identifier: Apache-2.0
// How large exports of events become, without writing all of them.
#ifndef SERVER_EVENT_SIZE_H
#define SERVER_EVENT_SIZE_H

#include "server/exports/event_source.h"

struct event_size {
    uint64_t bytes;
    bool is_exact; // all of it was written; otherwise extrapolated from part of the events
};

// The events from which the sizes of several formats are estimated.
struct event_sample {
    const struct event_source *of;
    struct event_source source; // that part
    struct event_rank rank;
    size_t index;      // of the rank
    uint64_t events;   // in that part
    uint64_t expected; // of the source in its window
    bool is_all;
};

// The sample must not move. If there are few events, all are taken, otherwise some from the middle
// of the longest rank. The source must have been measured.
MUST_CHECK bool event_sample_choose(struct event_sample *sample, const struct event_source *source,
                                    struct err *err);

MUST_CHECK bool event_sample_size(const struct event_sample *sample,
                                  const struct event_export *format, struct event_size *size,
                                  struct err *err);

#endif
