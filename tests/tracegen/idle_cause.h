// SPDX-License-Identifier: Apache-2.0
// Why a device has nothing to do.
#pragma once

enum idle_cause {
    IDLE_UNTOLD, // not planted: the truth does not give the cause
    IDLE_SYNC,
    IDLE_DATA_LOADING,
    IDLE_ALLOCATOR,
    IDLE_HOST_COMPUTE,
    IDLE_LAUNCH_OVERHEAD,
    IDLE_EVENT_WAIT,
    IDLE_GRAPH_REPLAY,
    IDLE_PROFILER,
    IDLE_COLD_START,
    IDLE_UNKNOWN,
    IDLE_UNRECORDED,
    IDLE_COUNT
};

// "sync", "data_loading", ...
const char *idle_cause_name(enum idle_cause cause);
