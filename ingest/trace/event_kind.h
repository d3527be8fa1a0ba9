// SPDX-License-Identifier: Apache-2.0
// What an event is, by its category, and what class a device event belongs to.
#ifndef INGEST_TRACE_EVENT_KIND_H
#define INGEST_TRACE_EVENT_KIND_H

#include "ingest/base/str.h"

// Stored in trace files: append only.
enum event_kind {
    EVENT_OTHER,          // a category no analysis uses
    EVENT_CPU_OP,         // cpu_op, Operator
    EVENT_ANNOTATION,     // user_annotation: record_function, ProfilerStep#N, ...
    EVENT_PYTHON,         // python_function
    EVENT_RUNTIME,        // cuda_runtime (HIP calls too), xpu_runtime, ..., Runtime
    EVENT_DRIVER,         // cuda_driver, xpu_driver, ...
    EVENT_KERNEL,         // kernel
    EVENT_MEMCPY,         // gpu_memcpy
    EVENT_MEMSET,         // gpu_memset
    EVENT_GPU_ANNOTATION, // gpu_user_annotation: not device work
    EVENT_SYNC,           // cuda_sync: waiting, not device work
    EVENT_CUDA_EVENT,     // cuda_event
    EVENT_OVERHEAD,       // profiler overhead
    EVENT_ALLOCATION,     // cpu_instant_event [memory]: an allocation or release
    EVENT_GRAPH,          // all that a launch of a graph did on a device, recorded as one
    EVENT_OS_CALL,        // a call of the operating system's libraries that took long
    EVENT_KIND_COUNT
};

// Rows within which events nest. Host calls and Python frames overlap each other, so each thread
// has one row for each.
enum track_family {
    TRACK_HOST,        // cpu_op, annotations, runtime and driver calls, allocations of one thread
    TRACK_PYTHON,      // Python frames of one thread
    TRACK_DEVICE,      // kernels, copies and memsets of one stream
    TRACK_DEVICE_NOTE, // gpu annotations, syncs, events on one stream
    TRACK_OTHER,
};

// From where to where a copy goes; also used for memset. Stored in trace files: append only.
enum copy_direction {
    COPY_UNKNOWN,
    COPY_HTOD,
    COPY_DTOH,
    COPY_DTOD,
    COPY_HTOH,
    COPY_PTOP,
    COPY_MEMSET,
    COPY_DIRECTION_COUNT
};

enum device_class { CLASS_COMPUTE, CLASS_COMMUNICATION, CLASS_MEMORY, DEVICE_CLASS_COUNT };

// The kind of a Chrome/Kineto category in either case; EVENT_OTHER if unknown.
enum event_kind event_kind_of_category(struct str category);

// "cpu_op", "kernel", "memcpy", ...: as in the API.
const char *event_kind_word(enum event_kind kind);

enum track_family event_kind_family(enum event_kind kind);

static inline bool event_kind_is_device(enum event_kind kind)
{
    return kind == EVENT_KERNEL || kind == EVENT_MEMCPY || kind == EVENT_MEMSET ||
           kind == EVENT_GRAPH;
}

static inline bool event_kind_is_launch(enum event_kind kind)
{
    return kind == EVENT_RUNTIME || kind == EVENT_DRIVER;
}

// Kinds whose durations are summed; such an event is left out if it has no duration.
static inline bool event_kind_is_timed(enum event_kind kind)
{
    return event_kind_is_device(kind) || event_kind_is_launch(kind) || kind == EVENT_CPU_OP;
}

// The class of a device event, by the first rule that applies: copies, memsets and kernels named
// like them are memory; kernels with collective metadata or named like collectives are
// communication; the rest is compute, as is a graph recorded as a whole.
enum device_class event_device_class(enum event_kind kind, struct str name, bool has_collective);

// Whether the class of a device event is memory. Only the start of its name is read.
bool event_is_copy(enum event_kind kind, struct str name);

// "compute", "communication", "memory".
const char *event_device_class_word(enum device_class c);

#endif
