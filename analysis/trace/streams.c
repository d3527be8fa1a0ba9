// SPDX-License-Identifier: Apache-2.0
// Sorts device events by stream, by counting.
#include "analysis/trace/streams.h"

bool streams_make(const struct facts *facts, struct arena *arena, struct streams *streams,
                  struct err *err)
{
    uint32_t tracks = facts->trace->track_count;
    streams->devices = arena_room(arena, facts->device_count, sizeof(uint32_t), err);
    streams->first = arena_array(arena, (size_t)tracks + 2, sizeof(uint32_t), err);
    if (!streams->devices || !streams->first)
        return false;
    uint32_t *ends = streams->first + 1; // count up from each row's start to its end
    for (uint32_t i = 0; i < facts->device_count; i++)
        ends[facts->devices[i].track + 1]++;
    for (uint32_t t = 0; t < tracks; t++)
        ends[t + 1] += ends[t];
    for (uint32_t i = 0; i < facts->device_count; i++)
        streams->devices[ends[facts->devices[i].track]++] = i;
    return true;
}

const int64_t *streams_free(const struct facts *facts, const struct streams *streams,
                            struct arena *arena, struct err *err)
{
    int64_t *free_ns = arena_room(arena, facts->device_count, sizeof *free_ns, err);
    for (uint32_t t = 0; free_ns && t < facts->trace->track_count; t++) {
        int64_t latest_ns = INT64_MIN;
        for (uint32_t i = streams->first[t]; i < streams->first[t + 1]; i++) {
            const struct device_event *device = &facts->devices[streams->devices[i]];
            free_ns[streams->devices[i]] = latest_ns == INT64_MIN ? device->begin_ns : latest_ns;
            latest_ns = device->end_ns > latest_ns ? device->end_ns : latest_ns;
        }
    }
    return free_ns;
}
