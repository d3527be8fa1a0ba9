// SPDX-License-Identifier: Apache-2.0
// What one host thread was doing at a moment: both its rows together, moving forward in time.
#ifndef ANALYSIS_HOST_VIEW_H
#define ANALYSIS_HOST_VIEW_H

#include "analysis/facts/host_stack.h"
#include "analysis/names/host_traits.h"

// The longest open event of each trait.
struct host_open {
    uint32_t event;
    int64_t end_ns;
};

struct host_row {
    struct host_stack stack;
    uint32_t seen; // events of the row before it are already in open
    struct host_open open[HOST_TRAIT_COUNT];
};

struct host_view {
    struct host_traits *traits;
    struct host_row calls;  // operators, calls and annotations
    struct host_row frames; // Python
    struct host_stack system;
};

// Those of a thread; NULL if it has none.
struct host_tracks {
    const struct track *calls, *frames;
    const struct track *system; // calls of the operating system, among others
};

struct host_moment {
    uint32_t event; // innermost operator, call, annotation, frame or call of the operating system,
                    // or FACTS_NONE
    bool bare;      // nothing else is open than annotations without a trait, calls of the system
    uint32_t open[HOST_TRAIT_COUNT]; // outermost open event with the trait, or FACTS_NONE
    int64_t until_ns;                // nothing changes at least until then
};

// A view of a thread from the start of its rows. Pair with host_view_free.
void host_view_init(struct host_view *view, struct host_traits *traits, struct host_tracks tracks);
void host_view_free(struct host_view *view);

// Moments must ascend. Linear over the rows.
MUST_CHECK bool host_view_at(struct host_view *view, int64_t now_ns, struct host_moment *moment,
                             struct err *err);

#endif
