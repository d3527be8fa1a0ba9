// SPDX-License-Identifier: Apache-2.0
// What is plausible, and the median without sorting: each stream is already in order.
#include "ingest/trace/plausible.h"

#include "ingest/base/search.h"

// How many events of a track start at or before the time, not counting those at 0: profilers write
// 0 for times they do not know, for most events of some files.
static uint32_t begun_on(const struct trace *trace, const struct track *track, int64_t time_ns)
{
    const int64_t *begin_ns = trace->begin_ns + track->first;
    uint32_t count = track->count;
    uint32_t unknown = count_upto_i64(begin_ns, count, sizeof *begin_ns, 0) -
                       count_below_i64(begin_ns, count, sizeof *begin_ns, 0);
    return count_upto_i64(begin_ns, count, sizeof *begin_ns, time_ns) -
           (time_ns >= 0 ? unknown : 0);
}

static uint64_t begun_at(const struct trace *trace, int64_t time_ns)
{
    uint64_t begun = 0;
    for (uint32_t t = 0; t < trace->track_count; t++)
        if (trace->tracks[t].family == TRACK_DEVICE)
            begun += begun_on(trace, &trace->tracks[t], time_ns);
    return begun;
}

// The start of the median device event; 0 if none starts at another time.
static int64_t median_begin(const struct trace *trace)
{
    uint64_t half = begun_at(trace, TRACE_MAX_NS) / 2;
    int64_t low = -TRACE_MAX_NS, high = TRACE_MAX_NS;
    if (begun_at(trace, TRACE_MAX_NS) == 0)
        return 0;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (begun_at(trace, middle) > half)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

struct plausible plausible_of(const struct trace *trace)
{
    return (struct plausible){trace, median_begin(trace), 1, 0, false};
}

// Narrows the times around time_ns between which no host event of the track starts.
static void narrow(const struct trace *trace, const struct track *track, int64_t time_ns,
                   int64_t *before_ns, int64_t *after_ns)
{
    const int64_t *begin_ns = trace->begin_ns + track->first;
    uint32_t next = count_upto_i64(begin_ns, track->count, sizeof *begin_ns, time_ns), last = next;
    while (last > 0 && begin_ns[last - 1] == 0)
        last--;
    while (next < track->count && begin_ns[next] == 0)
        next++;
    if (last > 0 && begin_ns[last - 1] > *before_ns)
        *before_ns = begin_ns[last - 1];
    if (next < track->count && begin_ns[next] < *after_ns)
        *after_ns = begin_ns[next];
}

// Whether the host was at work within reach of a time that is within the span of the median.
static bool host_near(struct plausible *plausible, int64_t time_ns)
{
    const struct trace *trace = plausible->trace;
    // Neither end of the search is within reach.
    int64_t before_ns = time_ns - 2 * PLAUSIBLE_SPAN_NS, after_ns = time_ns + 2 * PLAUSIBLE_SPAN_NS;
    if (time_ns >= plausible->from_ns && time_ns <= plausible->upto_ns)
        return plausible->host;
    for (uint32_t t = 0; t < trace->track_count; t++)
        if (trace->tracks[t].family == TRACK_HOST)
            narrow(trace, &trace->tracks[t], time_ns, &before_ns, &after_ns);
    bool behind = time_ns - before_ns <= PLAUSIBLE_REACH_NS;
    bool ahead = after_ns - time_ns <= PLAUSIBLE_REACH_NS;
    plausible->host = behind || ahead;
    plausible->from_ns = behind  ? before_ns
                         : ahead ? after_ns - PLAUSIBLE_REACH_NS
                                 : before_ns + PLAUSIBLE_REACH_NS + 1;
    plausible->upto_ns = ahead    ? after_ns
                         : behind ? before_ns + PLAUSIBLE_REACH_NS
                                  : after_ns - PLAUSIBLE_REACH_NS - 1;
    return plausible->host;
}

static bool is_within(int64_t distance_ns, int64_t reach_ns)
{
    return distance_ns >= -reach_ns && distance_ns <= reach_ns;
}

bool plausible_event(struct plausible *plausible, uint32_t event)
{
    const struct trace *trace = plausible->trace;
    int64_t begin_ns = trace->begin_ns[event], dur_ns = trace->dur_ns[event], distance_ns, end_ns;
    if (dur_ns < 0 || dur_ns > PLAUSIBLE_REACH_NS ||
        __builtin_sub_overflow(begin_ns, plausible->median_ns, &distance_ns) ||
        __builtin_add_overflow(begin_ns, dur_ns, &end_ns))
        return false;
    return is_within(distance_ns, PLAUSIBLE_REACH_NS) ||
           (begin_ns != 0 && is_within(distance_ns, PLAUSIBLE_SPAN_NS) &&
            host_near(plausible, begin_ns));
}

int64_t plausible_device_begin(const struct trace *trace, int64_t otherwise_ns)
{
    struct plausible plausible = plausible_of(trace);
    int64_t first_ns = INT64_MAX;
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        uint32_t event = track->first, end = track->first + track->count;
        if (track->family != TRACK_DEVICE)
            continue;
        while (event < end && !plausible_event(&plausible, event))
            event++;
        if (event < end && trace->begin_ns[event] < first_ns)
            first_ns = trace->begin_ns[event];
    }
    return first_ns == INT64_MAX ? otherwise_ns : first_ns;
}
