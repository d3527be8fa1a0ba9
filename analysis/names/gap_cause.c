// SPDX-License-Identifier: Apache-2.0
// Words and definitions of the causes of idle gaps.
#include "analysis/names/gap_cause.h"

static const struct {
    const char *word, *help;
} causes[IDLE_CAUSE_COUNT] = {
    [IDLE_SYNC] =
        {"sync",
         "A synchronizing call that started before the gap kept the host from launching; host work "
         "after it counts too, as far as it could have been done during the wait."},
    [IDLE_DATA_LOADING] = {"data_loading",
                           "The launching thread was inside a data loader or pinned memory: a "
                           "frame of a known loader, or an annotation named so."},
    [IDLE_ALLOCATOR] = {"allocator", "The launching thread was in a call that allocates or frees "
                                     "device memory or pinned memory."},
    [IDLE_HOST_COMPUTE] =
        {"host_compute",
         "The launching thread ran operators, Python or unrecorded code before it launched."},
    [IDLE_LAUNCH_OVERHEAD] = {"launch_overhead",
                              "The launching call itself and a delay of at most 30 us after it; "
                              "also when the call returned before the gap, but the event started "
                              "less than 30 us later and most of that delay is in the gap."},
    [IDLE_EVENT_WAIT] =
        {"event_wait", "The event was queued after a wait for another stream, device, process or "
                       "the host, or was first in its stream until work on another stream ended."},
    [IDLE_GRAPH_REPLAY] =
        {"graph_replay",
         "The launch of the event was already running: a gap inside a replayed graph."},
    [IDLE_DISPATCH] = {"dispatch", "The event was queued and ready: the time the device takes from "
                                   "one event to the next, under 30 us."},
    [IDLE_PROFILER] = {"profiler", "The profiler's own work, as far as it was recorded."},
    [IDLE_COLD_START] = {"cold_start",
                         "One-time costs: compiling or loading code, creating contexts and "
                         "streams, a first call of "
                         "its kind that took 1 ms and ten times as long as later ones."},
    [IDLE_UNKNOWN] = {"unknown", "The launch of the event is not in the trace, or no event "
                                 "follows, and nothing else was waiting."},
    [IDLE_UNRECORDED] =
        {"unrecorded",
         "For more than 30 us a launch was pending although nothing recorded blocked it: the "
         "device ran work missing from the recording. Neither idle nor busy."},
};

const char *idle_cause_word(enum idle_cause cause)
{
    return causes[cause].word;
}

const char *idle_cause_help(enum idle_cause cause)
{
    return causes[cause].help;
}

enum bar idle_cause_bar(enum idle_cause cause)
{
    if (cause == IDLE_UNRECORDED)
        return BAR_UNRECORDED;
    return cause <= IDLE_LAUNCH_OVERHEAD ? BAR_IDLE_HOST_WAIT : BAR_IDLE_OTHER;
}
