// SPDX-License-Identifier: Apache-2.0
// What kind of work a device event does, and which bar of the breakdown that belongs to.
#ifndef ANALYSIS_CATEGORY_H
#define ANALYSIS_CATEGORY_H

#include "ingest/trace/event_kind.h"

enum category {
    CATEGORY_NONE, // undecided
    CATEGORY_GEMM,
    CATEGORY_ATTENTION,
    CATEGORY_CONVOLUTION,
    CATEGORY_NORMALIZATION,
    CATEGORY_ELEMENTWISE,
    CATEGORY_REDUCTION,
    CATEGORY_EMBEDDING,
    CATEGORY_OPTIMIZER,
    CATEGORY_MOE,
    CATEGORY_TRITON,
    CATEGORY_OTHER,
    CATEGORY_COMMUNICATION,
    CATEGORY_COPY,
    CATEGORY_FILL,
    CATEGORY_COUNT
};

// The eight exclusive parts of a stretch of time, in order of precedence: if several device events
// run at once, the time belongs to the first of these bars.
enum bar {
    BAR_GEMM,
    BAR_ATTENTION,
    BAR_OTHER_COMPUTE,
    BAR_EXPOSED_COMM,
    BAR_EXPOSED_MEMORY,
    BAR_IDLE_HOST_WAIT,
    BAR_IDLE_OTHER,
    BAR_UNRECORDED, // neither idle nor busy: work that the recording lacks
    BAR_COUNT
};

#define BAR_DEVICE_COUNT BAR_IDLE_HOST_WAIT // the bars owned by device events

// Category of compute by the launching operator alone, and by the kernel's name alone; either may
// be CATEGORY_NONE.
enum category category_of_op(struct str op);
enum category category_of_kernel(struct str kernel);

// "GEMM", "attention", ...
const char *category_word(enum category category);

// "gemm", "attention", "other_compute", ...
const char *category_bar_word(enum bar bar);

enum bar category_bar_of_word(struct str word); // or BAR_COUNT

enum bar category_bar(enum device_class class, enum category category);

#endif
