// SPDX-License-Identifier: Apache-2.0
// The tables of memory and copies.
#include "analysis/report/table_columns.h"
#include "analysis/report/tables.h"

static const struct column columns_memory[] = {
    TEXT("device", "The device, or cpu."),
    I64("events", "count", "Allocations and releases recorded."),
    I64("peak_allocated_bytes", "bytes", "Peak of memory allocated by tensors."),
    I64("peak_reserved_bytes", "bytes", "Peak of memory reserved by the allocator."),
    I64("peak_ns", "ns",
        "Time of the first allocation peak since the start of the trace's window."),
    I64("peak_step", "", "Number of the step during the peak; empty outside steps."),
    TEXT("peak_op", "Innermost operator that allocated at the peak."),
    TEXT("peak_module", "Path of the module that ran at the peak."),
    I64("fragmentation_bytes", "bytes",
        "Reserved minus allocated at the peak; empty for the host, which does not reserve memory."),
    F64("fragmentation_share", "share",
        "Reserved minus allocated at the peak, divided by reserved."),
    I64("begin_bytes", "bytes", "Allocated before the first event."),
    I64("end_bytes", "bytes", "Allocated after the last event."),
    F64("leak_bytes_per_step", "bytes",
        "Slope of each steady step's minimum of allocated bytes (Theil-Sen: median of the slopes "
        "of all pairs of steps)."),
    F64("leak_low", "bytes",
        "Lower bound of the 95 % interval of the growth per step (Sen 1968, from Kendall's tau)."),
    F64("leak_high", "bytes", "Upper bound of the 95 % interval of the growth per step."),
    BOOLEAN("leak", "True when the interval of the growth is above 0 and memory grew by more than "
                    "1 MB from the first to the last steady step; empty without an interval."),
    I64("capacity_bytes", "bytes", "Memory of the device, as recorded in the trace."),
    TEXT("note", "Why a figure is missing or uncertain."),
    I64("leak_growth_bytes", "bytes",
        "Minimum of allocated bytes in the last steady step minus that in the first."),
    I64("leak_steps", "count", "Steady steps used for the growth per step, 300 at most."),
    I64("end_reserved_bytes", "bytes", "Reserved by the allocator after the last event."),
};
const struct table_desc table_memory = TABLE("memory", memory, "Memory by device.");

static const struct column columns_memory_timeline[] = {
    TEXT("device", "The device, or cpu."),
    I64("time_ns", "ns",
        "Time since the start of the trace's window, or since the first allocation when there is "
        "no device work; rows of the same time are in recorded order."),
    I64("allocated_bytes", "bytes", "Bytes allocated by tensors from this time on."),
    I64("reserved_bytes", "bytes",
        "Bytes reserved by the allocator from this time on; empty when not recorded, as in a "
        "device's first row, the level before the recording."),
};
const struct table_desc table_memory_timeline =
    TABLE("memory_timeline", memory_timeline,
          "Memory over time, reduced to 2,000 points per device that keep every extreme.");

static const struct column columns_memory_peak[] = {
    TEXT("device", "The device, or cpu."),
    TEXT("op", "Innermost operator that allocated; empty outside operators."),
    TEXT("module", "Path of the module that ran when it was allocated."),
    I64("allocations", "count", "Allocations alive at the peak; empty when not recorded."),
    I64("bytes", "bytes", "Size of the allocations; the rows of a device sum to its peak exactly."),
    F64("peak_share", "share", "Size of the allocations divided by the peak."),
    TEXT("origin", "recorded, or before: not explained by a recorded allocation, so allocated "
                   "before the recording; negative when releases are missing from the trace."),
};
const struct table_desc table_memory_peak =
    TABLE("memory_peak", memory_peak, "Allocations alive at the memory peak.");

static const struct column columns_copies[] = {
    TEXT("direction", "HtoD, DtoH, DtoD, PtoP, HtoH, memset."),
    TEXT("host_memory", "pageable or pinned; empty when not recorded or no host is involved."),
    BOOLEAN("blocking", "True when the launching call waits for the copy; empty when unknown."),
    I64("calls", "count", "Copies."),
    I64("bytes", "bytes", "Bytes copied, over the copies that record them; empty when none does."),
    I64("sized_calls", "count", "Copies that record their bytes."),
    I64("total_ns", "ns", "Sum of the durations of the copies."),
    F64("gbps", "GB/s",
        "Bytes divided by the time of the copies that record them; 1 GB = 1e9 bytes."),
    I64("median_ns", "ns", "Median duration."),
    I64("p95_ns", "ns", "95th percentile of the durations by nearest rank."),
    I64("max_ns", "ns", "Longest duration."),
    I64("exposed_ns", "ns", "Owned time: time not hidden by compute or communication."),
    I64("host_ns", "ns", "Time of the launching calls on the host."),
};
const struct table_desc table_copies =
    TABLE("copies", copies, "Copies and memsets by direction and kind of memory.");
