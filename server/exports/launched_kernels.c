// SPDX-License-Identifier: Apache-2.0
#include "server/exports/launched_kernels.h"

#include <stdlib.h>

static bool add(struct launched_kernels *kernels, int64_t correlation, struct err *err)
{
    if (kernels->count == kernels->room) {
        size_t room = kernels->room ? 2 * kernels->room : 1024;
        int64_t *grown = realloc(kernels->correlations, room * sizeof *grown);
        if (!grown)
            return err_set(err, ERR_MEMORY, "out of memory for launches");
        kernels->correlations = grown;
        kernels->room = room;
    }
    kernels->correlations[kernels->count++] = correlation;
    return true;
}

static bool read_track(struct launched_kernels *kernels, struct trace_events *events, size_t track,
                       struct trace_blocks *device_args, struct trace_window window,
                       struct err *err)
{
    struct trace_cursor cursor = trace_events_start(events, track);
    struct trace_event event;
    for (bool found = true; kernels->count <= LAUNCHED_KERNELS_MOST;) {
        if (!trace_events_next(events, &cursor, window, &event, &found, err))
            return false;
        if (!found)
            return true;
        if (event.kind != EVENT_KERNEL || event.args == ARGS_NONE)
            continue;
        const struct device_args *args = trace_blocks_element(device_args, event.args, err);
        if (!args || (args->correlation > 0 && !add(kernels, args->correlation, err)))
            return false;
    }
    return true;
}

static int compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

bool launched_kernels_read(struct launched_kernels *kernels, struct trace_events *events,
                           struct trace_blocks *device_args, struct trace_window window,
                           struct err *err)
{
    *kernels = (struct launched_kernels){.count = 0};
    for (size_t i = 0; i < events->track_count; i++)
        if (events->tracks[i].family == TRACK_DEVICE &&
            !read_track(kernels, events, i, device_args, window, err))
            return false;
    if (kernels->count > LAUNCHED_KERNELS_MOST)
        kernels->count = 0;
    if (kernels->count)
        qsort(kernels->correlations, kernels->count, sizeof *kernels->correlations, compare);
    kernels->begun = calloc(kernels->count / 8 + 1, 1);
    return kernels->begun || err_set(err, ERR_MEMORY, "out of memory for launches");
}

void launched_kernels_free(struct launched_kernels *kernels)
{
    free(kernels->correlations);
    free(kernels->begun);
    *kernels = (struct launched_kernels){.count = 0};
}

// The first of that correlation, or where it would be.
static size_t find(const struct launched_kernels *kernels, int64_t correlation)
{
    size_t low = 0, high = kernels->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (kernels->correlations[middle] < correlation)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t launched_kernels_begin(struct launched_kernels *kernels, int64_t correlation)
{
    uint32_t launched = 0;
    for (size_t i = find(kernels, correlation);
         i < kernels->count && kernels->correlations[i] == correlation; i++) {
        uint8_t bit = (uint8_t)(1u << i % 8);
        launched += !(kernels->begun[i / 8] & bit);
        kernels->begun[i / 8] |= bit;
    }
    return launched;
}

bool launched_kernels_has(const struct launched_kernels *kernels, int64_t correlation)
{
    size_t i = find(kernels, correlation);
    return i < kernels->count && kernels->correlations[i] == correlation &&
           kernels->begun[i / 8] & 1u << i % 8;
}
