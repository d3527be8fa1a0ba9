// SPDX-License-Identifier: Apache-2.0
// What the name of a host event says about waiting: synchronizing, allocating, loading data.
#ifndef ANALYSIS_HOST_TRAITS_H
#define ANALYSIS_HOST_TRAITS_H

#include "analysis/stats/sort.h"
#include "ingest/trace/trace.h"

enum host_trait {
    HOST_SYNC,        // a call that returns when the device has finished, by name or by what it did
    HOST_SYNC_ALL,    // such a call that waits for all of its streams
    HOST_ALLOCATOR,   // a call that allocates or frees device or pinned memory
    HOST_LOADING,     // an operator, annotation or frame of a data loader
    HOST_STREAM_WAIT, // a call that makes a stream wait for an event on another
    HOST_HOLD,        // a call that makes a stream wait for the host, a value in memory or another
                      // process: nothing on a device shows how long
    HOST_COLD,        // a call that loads code or creates a context or stream
    HOST_OPERATOR,    // an operator of a library, "aten::mm"
    HOST_MODULE,      // a Python frame of an nn.Module
    HOST_COMPILE,     // a range in which torch.compile compiles
    HOST_TRAIT_COUNT
};

struct host_traits {
    const struct trace *trace;
    struct budget *budget;
    uint16_t *memo; // per string, so that no event costs a text comparison
    size_t size;
    const struct keyed *cold; // calls that are cold starts (cold_starts.h): key is the event
    uint32_t cold_count;
    const uint32_t *waiting; // calls that wait whatever their name (awaited_copies.h), ascending
    uint32_t waiting_count;
    bool compiles_once; // compilations are cold starts (cold_starts.h)
};

MUST_CHECK bool host_traits_make(struct host_traits *traits, const struct trace *trace,
                                 struct budget *budget, struct err *err);
void host_traits_free(struct host_traits *traits);

// Whether a range is of a compilation, by its name.
bool host_name_compiles(struct str name);

// Bit set of 1 << enum host_trait of a host event.
unsigned host_traits_of(struct host_traits *traits, uint32_t event);

#endif
