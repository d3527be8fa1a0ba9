// SPDX-License-Identifier: Apache-2.0
// Why a device has nothing to do: the causes of idle gaps.
#ifndef ANALYSIS_GAP_CAUSE_H
#define ANALYSIS_GAP_CAUSE_H

#include "analysis/names/category.h"

// If causes held a gap equally long, the first one counts.
enum idle_cause {
    IDLE_SYNC,
    IDLE_DATA_LOADING,
    IDLE_ALLOCATOR,
    IDLE_HOST_COMPUTE,
    IDLE_LAUNCH_OVERHEAD, // up to here the device waits for the host
    IDLE_EVENT_WAIT,
    IDLE_GRAPH_REPLAY,
    IDLE_DISPATCH,
    IDLE_PROFILER,
    IDLE_COLD_START,
    IDLE_UNKNOWN,
    IDLE_UNRECORDED, // the device was busy with work that the recording lacks
    IDLE_CAUSE_COUNT
};

// The most that starting a device event takes if nothing holds it up.
#define IDLE_START_NS 30000
// A graph takes longer, by what is set up for each further node.
#define IDLE_NODE_NS 100

// "sync", "data_loading", ...: stable.
const char *idle_cause_word(enum idle_cause cause);

// Its definition in one sentence.
const char *idle_cause_help(enum idle_cause cause);

enum bar idle_cause_bar(enum idle_cause cause);

#endif
