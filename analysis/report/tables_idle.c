// SPDX-License-Identifier: Apache-2.0
// The tables of idle time, queues and launches.
#include "analysis/report/table_columns.h"
#include "analysis/report/tables.h"

static const struct column columns_idle_causes[] = {
    TEXT("device", "The device; empty for all devices merged."),
    TEXT("cause", "What held the next device event back: sync, data_loading, allocator, "
                  "host_compute, launch_overhead, event_wait, graph_replay, dispatch, profiler, "
                  "cold_start, unknown or unrecorded."),
    TEXT("bar", "idle_host_wait, idle_other or unrecorded."),
    I64("gaps", "count", "Gaps with this cause."),
    I64("total_ns", "ns", "Time of the gaps; the rows of a device sum to its idle time exactly."),
    F64("window_share", "share", "Time of the gaps divided by the time of the whole trace."),
    I64("steady_ns", "ns", "Time of the gaps inside the steady steps, for all devices merged."),
    I64("median_ns", "ns", "Median gap."),
    I64("p95_ns", "ns", "95th percentile of the gaps by nearest rank."),
    I64("max_ns", "ns", "Longest gap."),
    TEXT("host_event", "Host event that explains most of the time."),
    TEXT("help", "What the cause means."),
};
const struct table_desc table_idle_causes =
    TABLE("idle_causes", idle_causes, "Why the device had nothing to do.");

static const struct column columns_idle_gaps[] = {
    TEXT("device", "The device; empty for all devices merged."),
    I64("begin_ns", "ns", "Begin of the gap since the begin of the trace's window."),
    I64("dur_ns", "ns", "Length of the gap."),
    TEXT("cause", "What held the next device event back."),
    I64("step", "", "Number of the step in which the gap began; empty outside steps."),
    TEXT("host_event", "Operator, call or frame on the host that explains the gap."),
    TEXT("host_kind", "op, call, annotation, frame or overhead (of the profiler)."),
    TEXT("thread", "Thread that launched the next device event."),
    TEXT("before", "Device event that ended last before the gap."),
    TEXT("after", "Device event that ended the gap."),
    TEXT("after_op", "Innermost operator that launched the event after the gap."),
    I64("launch_delay_ns", "ns",
        "From the end of the next event's launch to its begin, 0 when they overlap."),
    TEXT("host_op", "Innermost operator around the host event, when that is a call."),
    TEXT("host_frame", "Innermost Python frame around the host event, when that is no frame."),
    TEXT("host_range",
         "Innermost annotation around the host event, such as a range of the user's."),
};
const struct table_desc table_idle_gaps =
    TABLE("idle_gaps", idle_gaps, "The longest gaps, the longest first.");

static const struct column columns_stream_idle[] = {
    TEXT("device", "The device."),
    TEXT("stream", "The stream."),
    TEXT("category", "host_wait: launched after the one before had ended; kernel_wait: else, and "
                     "the gap is under 30 us; other."),
    I64("gaps", "count",
        "Gaps between the events of the stream, each after the latest end so far."),
    I64("idle_ns", "ns", "Time of the gaps; overlaps count as none."),
    F64("idle_share", "share", "Time of the gaps divided by all idle time of the stream."),
    I64("median_ns", "ns", "Median gap."),
    I64("max_ns", "ns", "Longest gap."),
};
const struct table_desc table_stream_idle =
    TABLE("stream_idle", stream_idle,
          "Idle time of each stream in three categories, as Holistic Trace Analysis defines them.");

static const struct column columns_queues[] = {
    TEXT("device", "The device."),
    TEXT("stream", "The stream."),
    I64("launches", "count", "Launches that queued there; a graph counts once, until it begins."),
    F64("mean", "count", "Mean number launched and not begun, weighted by time."),
    I64("median", "count", "Median number launched and not begun, weighted by time."),
    I64("p95", "count", "95th percentile of the number launched and not begun, weighted by time."),
    I64("max", "count", "Largest number launched and not begun."),
    F64("empty_share", "share", "Share of the time with an empty queue."),
    I64("full_ns", "ns", "Time with 1,000 or more launched and not begun: further launches block."),
};
const struct table_desc table_queues = TABLE(
    "queues", queues, "Launches made and not yet begun by the device, by stream, over the window.");

static const struct column columns_launch_delays[] = {
    TEXT("call", "Launching call of the runtime or driver."),
    I64("launches", "count", "Calls with at least one device event."),
    I64("call_median_ns", "ns", "Median duration of the call."),
    I64("call_p95_ns", "ns", "95th percentile of the duration of the call."),
    I64("delay_median_ns", "ns",
        "Median from the end of the call to the begin of its first device event, 0 if it began "
        "before."),
    I64("delay_p95_ns", "ns",
        "95th percentile of the time from the end of the call to the begin of its first device "
        "event."),
    I64("start_median_ns", "ns",
        "Median from the begin of the call to the begin of its first device event."),
    I64("short_kernels", "count", "Calls whose device event was shorter than the call."),
    I64("slow_calls", "count", "Calls of more than 50 us."),
    I64("long_delays", "count", "Calls with a delay of more than 100 us."),
};
const struct table_desc table_launch_delays =
    TABLE("launch_delays", launch_delays, "What launching cost on the host, by call.");
