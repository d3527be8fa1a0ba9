// SPDX-License-Identifier: Apache-2.0
// The tables of idle time, queues and launches.
#include "analysis/report/table_columns.h"
#include "analysis/report/tables.h"

static const struct column columns_idle_causes[] = {
    TEXT("device", "The device; empty for all devices merged."),
    TEXT("cause", "What delayed the next device event: sync, data_loading, allocator, "
                  "host_compute, launch_overhead, event_wait, graph_replay, dispatch, profiler, "
                  "cold_start, unknown or unrecorded."),
    TEXT("bar", "idle_host_wait, idle_other or unrecorded."),
    I64("gaps", "count", "Gaps with this cause."),
    I64("total_ns", "ns", "Time of the gaps; the rows of a device sum exactly to its idle time."),
    F64("window_share", "share", "Time of the gaps divided by the time of the whole trace."),
    I64("steady_ns", "ns", "Time of the gaps inside the steady steps, for all devices merged."),
    I64("median_ns", "ns", "Median gap."),
    I64("p95_ns", "ns", "95th percentile of the gaps by nearest rank."),
    I64("max_ns", "ns", "Longest gap."),
    TEXT("host_event", "Host event that explains most of the time."),
    TEXT("help", "What the cause means."),
};
const struct table_desc table_idle_causes =
    TABLE("idle_causes", idle_causes, "Causes of device idle time.");

static const struct column columns_idle_gaps[] = {
    TEXT("device", "The device; empty for all devices merged."),
    I64("begin_ns", "ns", "Start of the gap since the start of the trace's window."),
    I64("dur_ns", "ns", "Length of the gap."),
    TEXT("cause", "What delayed the next device event."),
    I64("step", "", "Number of the step in which the gap started; empty outside steps."),
    TEXT("host_event", "Operator, call or frame on the host that explains the gap."),
    TEXT("host_kind", "op, call, annotation, frame or overhead (of the profiler)."),
    TEXT("thread", "Thread that launched the next device event."),
    TEXT("before", "Device event that ended last before the gap."),
    TEXT("after", "Device event that ended the gap."),
    TEXT("after_op", "Innermost operator that launched the event after the gap."),
    I64("launch_delay_ns", "ns",
        "From the end of the next event's launch to its start, 0 when they overlap."),
    TEXT("host_op", "Innermost operator around the host event, when that is a call."),
    TEXT("host_frame", "Innermost Python frame around the host event, when that is no frame."),
    TEXT("host_range", "Innermost annotation around the host event, such as a user-defined range."),
};
const struct table_desc table_idle_gaps =
    TABLE("idle_gaps", idle_gaps, "The longest gaps, longest first.");

static const struct column columns_stream_idle[] = {
    TEXT("device", "The device."),
    TEXT("stream", "The stream."),
    TEXT("category", "host_wait: launched after the previous event ended; kernel_wait: launched "
                     "earlier and the gap is under 30 us; other."),
    I64("gaps", "count", "Gaps between the events of the stream, each from the latest end so far."),
    I64("idle_ns", "ns", "Time of the gaps; overlaps count as 0."),
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
    I64("launches", "count",
        "Launches queued on the stream; a graph counts once, until it starts."),
    F64("mean", "count", "Time-weighted mean queue length."),
    I64("median", "count", "Time-weighted median queue length."),
    I64("p95", "count", "Time-weighted 95th percentile of the queue length."),
    I64("max", "count", "Largest queue length."),
    F64("empty_share", "share", "Share of the time with an empty queue."),
    I64("full_ns", "ns", "Time with 1,000 or more queued launches, when further launches block."),
};
const struct table_desc table_queues =
    TABLE("queues", queues,
          "Launches queued and not yet started by the device, by stream, over the window.");

static const struct column columns_launch_delays[] = {
    TEXT("call", "Launching call of the runtime or driver."),
    I64("launches", "count", "Calls with at least one device event."),
    I64("call_median_ns", "ns", "Median duration of the call."),
    I64("call_p95_ns", "ns", "95th percentile of the duration of the call."),
    I64("delay_median_ns", "ns",
        "Median time from the end of the call to the start of its first device event, 0 if that "
        "started earlier."),
    I64("delay_p95_ns", "ns",
        "95th percentile of the time from the end of the call to the start of its first device "
        "event."),
    I64("start_median_ns", "ns",
        "Median time from the start of the call to the start of its first device event."),
    I64("short_kernels", "count", "Calls whose device event was shorter than the call."),
    I64("slow_calls", "count", "Calls of more than 50 us."),
    I64("long_delays", "count", "Calls with a delay of more than 100 us."),
};
const struct table_desc table_launch_delays =
    TABLE("launch_delays", launch_delays, "Host cost of launching, by call.");
