// SPDX-License-Identifier: Apache-2.0
// What the name of a host event says about waiting: synchronizing, allocating, loading data.
#ifndef ANALYSIS_HOST_TRAITS_H
#define ANALYSIS_HOST_TRAITS_H

#include "ingest/trace/trace.h"

enum host_trait {
    HOST_SYNC,        // a call that returns when the device has done its work
    HOST_ALLOCATOR,   // a call that allocates or frees memory of the device or pinned memory
    HOST_LOADING,     // an operator, annotation or frame of a data loader
    HOST_STREAM_WAIT, // a call that lets a stream wait for an event of another
    HOST_TRAIT_COUNT
};

struct host_traits {
    const struct trace *trace;
    struct budget *budget;
    uint8_t *memo; // per string, so that no event costs a comparison of texts
    size_t size;
};

MUST_CHECK bool host_traits_make(struct host_traits *traits, const struct trace *trace,
                                 struct budget *budget, struct err *err);
void host_traits_free(struct host_traits *traits);

// Bit set of 1 << enum host_trait of a host event.
unsigned host_traits_of(struct host_traits *traits, uint32_t event);

#endif
