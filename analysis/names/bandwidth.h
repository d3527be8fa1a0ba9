// SPDX-License-Identifier: Apache-2.0
// What a collective transfers: its kind, message size and bus bandwidth factor.
#ifndef ANALYSIS_BANDWIDTH_H
#define ANALYSIS_BANDWIDTH_H

#include "ingest/trace/trace.h"

enum collective_kind {
    KIND_UNKNOWN,
    KIND_ALL_REDUCE,
    KIND_ALL_GATHER,
    KIND_REDUCE_SCATTER,
    KIND_ALL_TO_ALL,
    KIND_BROADCAST,
    KIND_REDUCE,
    KIND_GATHER,
    KIND_SCATTER,
    KIND_SEND_RECV,
    KIND_SEND,
    KIND_RECV,
    KIND_BARRIER,
    COLLECTIVE_KIND_COUNT
};

// From a collective's name ("_allgather_base") or a kernel's ("ncclDevKernel_AllGather_RING_LL").
enum collective_kind bandwidth_kind(struct str name);

// "all_reduce", ...; NULL if unknown.
const char *bandwidth_kind_word(enum collective_kind kind);

// Bytes of one element of a recorded dtype ("BFloat16", "float32"), 0 if unknown.
int bandwidth_element_bytes(struct str dtype);

// Message size S in bytes as defined by nccl-tests: output of all_gather, total over all ranks in
// gather and scatter, else the input. -1 if unknown, and for barriers.
int64_t bandwidth_bytes(enum collective_kind kind, const struct collective *c, int element_bytes);

// Bus bandwidth over algorithm bandwidth for a group of `ranks` (below 1: unknown); NaN if unknown.
double bandwidth_bus_factor(enum collective_kind kind, int64_t ranks);

#endif
