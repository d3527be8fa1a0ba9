// SPDX-License-Identifier: Apache-2.0
// What a recording may have, and how each profiler records it.
#ifndef ANALYSIS_RECORDING_TEXTS_H
#define ANALYSIS_RECORDING_TEXTS_H

#include "ingest/trace/trace.h"

enum recording_item {
    ITEM_DEVICE_EVENTS,
    ITEM_OPERATORS,
    ITEM_LAUNCHES,
    ITEM_STEPS,
    ITEM_REPEATS,
    ITEM_SHAPES,
    ITEM_STACKS,
    ITEM_MODULES,
    ITEM_MEMORY,
    ITEM_COLLECTIVES,
    ITEM_LAUNCH_SHAPES,
    ITEM_OCCUPANCY,
    ITEM_SYNC_EVENTS,
    ITEM_DISTRIBUTED,
    ITEM_DEVICE,
    ITEM_COUNT
};

struct recording_text {
    const char *item, *shows;
    const char *how[RECORDER_COUNT]; // NULL: this profiler cannot
    const char *cost;                // with PyTorch
    const char *silent;              // findings that need it, NULL: none
};

extern const struct recording_text recording_texts[ITEM_COUNT];

#endif
