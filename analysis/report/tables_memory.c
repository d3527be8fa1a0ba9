// SPDX-License-Identifier: Apache-2.0
// The tables of memory and copies.
#include "analysis/report/table_columns.h"
#include "analysis/report/tables.h"

static const struct column columns_memory[] = {
    TEXT("device", "The device, or cpu."),
    I64("events", "count", "Allocations and releases recorded."),
    I64("peak_allocated_bytes", "bytes", "Most that tensors held at once."),
    I64("peak_reserved_bytes", "bytes", "Most that the allocator held at once."),
    I64("peak_ns", "ns",
        "First moment at which the most was allocated, since the begin of the trace's window."),
    I64("peak_step", "",
        "Number of the step whose mark covers the moment of the peak; empty outside steps."),
    TEXT("peak_op", "Innermost operator that allocated at the peak."),
    TEXT("peak_module", "Path of the module that ran at the peak."),
    I64("fragmentation_bytes", "bytes",
        "Reserved minus allocated at the peak; empty for the host, which reserves nothing."),
    F64("fragmentation_share", "share",
        "Reserved minus allocated at the peak, divided by reserved."),
    I64("begin_bytes", "bytes", "Allocated before the first event."),
    I64("end_bytes", "bytes", "Allocated after the last event."),
    F64("leak_bytes_per_step", "bytes",
        "Slope of the least allocated bytes of each steady step (Theil-Sen: median of the slopes "
        "of all pairs of steps)."),
    F64("leak_low", "bytes",
        "Lower end of the 95 % interval of the growth per step (Sen 1968, from Kendall's tau)."),
    F64("leak_high", "bytes", "Upper end of the 95 % interval of the growth per step."),
    BOOLEAN(
        "leak",
        "Whether the interval of the growth lies above 0 and more than 1 MB was gained from the "
        "first to the last steady step; empty without an interval."),
    I64("capacity_bytes", "bytes", "Memory of the device, as the trace says."),
    TEXT("note", "Why a figure is missing or uncertain."),
    I64("leak_growth_bytes", "bytes",
        "Least allocated in the last steady step minus that in the first."),
    I64("leak_steps", "count", "Steady steps that the growth per step stands on, 300 at most."),
    I64("end_reserved_bytes", "bytes", "Held by the allocator after the last event."),
};
const struct table_desc table_memory = TABLE("memory", memory, "Memory by device.");

static const struct column columns_memory_timeline[] = {
    TEXT("device", "The device, or cpu."),
    I64("time_ns", "ns",
        "Time since the begin of the trace's window, since the first allocation when there is no "
        "device work; rows of one time follow each other as recorded."),
    I64("allocated_bytes", "bytes", "Bytes that tensors held from this time on."),
    I64("reserved_bytes", "bytes",
        "Bytes that the allocator held from this time on; empty when not recorded, as in a "
        "device's "
        "first row, the level before the recording."),
};
const struct table_desc table_memory_timeline =
    TABLE("memory_timeline", memory_timeline,
          "Memory over time; thinned out to 2,000 points a device that keep every extreme.");

static const struct column columns_memory_peak[] = {
    TEXT("device", "The device, or cpu."),
    TEXT("op", "Innermost operator that allocated; empty outside of all operators."),
    TEXT("module", "Path of the module that ran when it was allocated."),
    I64("allocations", "count", "Allocations alive at the peak; empty when not recorded."),
    I64("bytes", "bytes", "Size of the allocations; the rows of a device sum to its peak exactly."),
    F64("peak_share", "share", "Size of the allocations divided by the peak."),
    TEXT("origin", "recorded, or before: what no recorded allocation explains, so allocated before "
                   "the recording; below 0 when releases are missing from the trace."),
};
const struct table_desc table_memory_peak =
    TABLE("memory_peak", memory_peak, "What was alive when the most was allocated.");

static const struct column columns_copies[] = {
    TEXT("direction", "HtoD, DtoH, DtoD, PtoP, HtoH, memset."),
    TEXT("host_memory", "pageable or pinned; empty when not recorded or no host is involved."),
    BOOLEAN("blocking", "Whether the launching call waits for the copy; empty when not known."),
    I64("calls", "count", "Copies."),
    I64("bytes", "bytes", "Bytes copied by those that give them; empty when none does."),
    I64("sized_calls", "count", "Copies that give their bytes."),
    I64("total_ns", "ns", "Sum of the durations of the copies."),
    F64("gbps", "GB/s", "Bytes divided by the time of the copies that give them; 1e9 bytes."),
    I64("median_ns", "ns", "Median duration."),
    I64("p95_ns", "ns", "95th percentile of the durations by nearest rank."),
    I64("max_ns", "ns", "Longest duration."),
    I64("exposed_ns", "ns", "Owned time: neither compute nor communication hid it."),
    I64("host_ns", "ns", "Time of the launching calls on the host."),
};
const struct table_desc table_copies =
    TABLE("copies", copies, "Copies and memsets by direction and kind of memory.");
