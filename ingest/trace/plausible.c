// SPDX-License-Identifier: Apache-2.0
// What is plausible, and the median without sorting: each stream is already in order.
#include "ingest/trace/plausible.h"

#include "ingest/base/search.h"

bool plausible_event(const struct trace *trace, uint32_t event, int64_t median_begin_ns)
{
    int64_t begin_ns = trace->begin_ns[event], dur_ns = trace->dur_ns[event], distance_ns, end_ns;
    return dur_ns >= 0 && dur_ns <= PLAUSIBLE_REACH_NS &&
           !__builtin_sub_overflow(begin_ns, median_begin_ns, &distance_ns) &&
           distance_ns >= -PLAUSIBLE_REACH_NS && distance_ns <= PLAUSIBLE_REACH_NS &&
           !__builtin_add_overflow(begin_ns, dur_ns, &end_ns);
}

// How many events of a track start at or before the time.
static uint32_t begun_on(const struct trace *trace, const struct track *track, int64_t time_ns)
{
    const int64_t *begin_ns = trace->begin_ns + track->first;
    return count_upto_i64(begin_ns, track->count, sizeof *begin_ns, time_ns);
}

static uint64_t begun_at(const struct trace *trace, int64_t time_ns)
{
    uint64_t begun = 0;
    for (uint32_t t = 0; t < trace->track_count; t++)
        if (trace->tracks[t].family == TRACK_DEVICE)
            begun += begun_on(trace, &trace->tracks[t], time_ns);
    return begun;
}

// The start time of the median device event.
static int64_t median_begin(const struct trace *trace)
{
    uint64_t half = begun_at(trace, TRACE_MAX_NS) / 2;
    int64_t low = -TRACE_MAX_NS, high = TRACE_MAX_NS;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (begun_at(trace, middle) > half)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

int64_t plausible_device_begin(const struct trace *trace, int64_t otherwise_ns)
{
    int64_t median_ns = median_begin(trace), first_ns = INT64_MAX;
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        uint32_t event = track->first, end = track->first + track->count;
        if (track->family != TRACK_DEVICE)
            continue;
        while (event < end && !plausible_event(trace, event, median_ns))
            event++;
        if (event < end && trace->begin_ns[event] < first_ns)
            first_ns = trace->begin_ns[event];
    }
    return first_ns == INT64_MAX ? otherwise_ns : first_ns;
}
