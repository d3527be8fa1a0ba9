// SPDX-License-Identifier: Apache-2.0
// Words and definitions of the causes of idle gaps.
#include "analysis/gap_cause.h"

static const struct {
    const char *word, *help;
} causes[IDLE_CAUSE_COUNT] = {
    [IDLE_SYNC] = {"sync",
                   "A synchronizing call that began before the gap kept the host from launching; "
                   "what the host did after it counts too, as far as it would have been done "
                   "during the wait."},
    [IDLE_DATA_LOADING] = {"data_loading",
                           "The launching thread was inside a data loader or pinned memory."},
    [IDLE_ALLOCATOR] = {"allocator",
                        "The launching thread was in a call that allocates or frees memory of the "
                        "device, or pinned memory."},
    [IDLE_HOST_COMPUTE] = {"host_compute",
                           "The launching thread ran operators, Python or something that was not "
                           "recorded before it launched."},
    [IDLE_LAUNCH_OVERHEAD] = {"launch_overhead",
                              "The launching call itself and the delay after it; also when the "
                              "call had returned before the gap, but the event began less than 30 "
                              "us later and most of that lies in the gap."},
    [IDLE_EVENT_WAIT] = {"event_wait",
                         "The event was queued behind a wait for another stream, or stood first in "
                         "its stream until the work of another one ended."},
    [IDLE_GRAPH_REPLAY] = {"graph_replay",
                           "The launch of the event had begun to run: a gap inside a replayed "
                           "graph."},
    [IDLE_DISPATCH] = {"dispatch",
                       "The event was queued and nothing held it: what the device takes from one "
                       "event to the next, under 30 us."},
    [IDLE_PROFILER] = {"profiler", "The profiler's own work, as far as it was recorded."},
    [IDLE_UNKNOWN] = {"unknown",
                      "No launch of the event is in the trace, no event follows, or it was queued "
                      "and began 30 us or more after the device was free for no reason that the "
                      "trace shows."},
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
    return cause <= IDLE_LAUNCH_OVERHEAD ? BAR_IDLE_HOST_WAIT : BAR_IDLE_OTHER;
}
