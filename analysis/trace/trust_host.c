// SPDX-License-Identifier: Apache-2.0
// The host's part of the trust report: the profiler's own cost, what was launched before recording
// started, and clocks that disagree.
#include "analysis/trace/trust_host.h"

#include "analysis/facts/overheads.h"
#include "analysis/stats/sort.h"

#define OVERHEAD_WARN_SHARE 0.05 // of the window
#define UNLINKED_WARN_SHARE 0.5  // of the device events

// --- profiler overhead --------------------------------------------------------------------------

static bool lies_within(const struct facts *facts, uint32_t event)
{
    const struct trace *trace = facts->trace;
    return trace->begin_ns[event] < facts->end_ns &&
           facts_event_end(trace, event) > facts->begin_ns;
}

// The next such event from `event` on; event_count if there is none.
static uint32_t next_overhead(const struct facts *facts, uint32_t event)
{
    const struct trace *trace = facts->trace;
    for (; event < trace->event_count; event++) {
        const uint8_t *at = memchr(trace->kind + event, EVENT_OVERHEAD, trace->event_count - event);
        if (!at)
            return trace->event_count;
        event = (uint32_t)(at - trace->kind);
        if (lies_within(facts, event) && overhead_kind_of(trace, event) == OVERHEAD_PROFILER)
            break;
    }
    return event;
}

static uint32_t count_overhead(const struct facts *facts)
{
    uint32_t count = 0;
    for (uint32_t e = 0; (e = next_overhead(facts, e)) < facts->trace->event_count; e++)
        count++;
    return count;
}

// Union of the overhead inside the window. items has room for twice the events.
static int64_t overhead_ns(const struct facts *facts, struct keyed *items, uint32_t count)
{
    const struct trace *trace = facts->trace;
    uint32_t n = 0;
    int64_t total_ns = 0, until_ns = facts->begin_ns;
    for (uint32_t e = 0; (e = next_overhead(facts, e)) < trace->event_count; e++)
        items[n++] = (struct keyed){trace->begin_ns[e], e, 0};
    sort_keyed(items, items + count, n);
    for (uint32_t i = 0; i < n; i++) {
        int64_t end_ns = facts_event_end(trace, items[i].a);
        end_ns = end_ns < facts->end_ns ? end_ns : facts->end_ns;
        int64_t begin_ns = items[i].key > until_ns ? items[i].key : until_ns;
        total_ns += end_ns > begin_ns ? end_ns - begin_ns : 0;
        until_ns = end_ns > until_ns ? end_ns : until_ns;
    }
    return total_ns;
}

static bool add_overhead(const struct facts *facts, struct report *report, struct err *err)
{
    uint32_t count = count_overhead(facts);
    struct doubt overhead = {
        .item = "profiler_overhead",
        .count = count,
        .timed = true,
        .detail = "host time of the profiler itself within the window, as it recorded it",
        .effect = "idle time around it may be caused by the profiler",
    };
    size_t size = 2 * (size_t)count * sizeof(struct keyed);
    if (count == 0)
        return true;
    struct keyed *items = budget_alloc(facts->budget, size, err);
    if (!items)
        return false;
    overhead.time_ns = overhead_ns(facts, items, count);
    budget_free(facts->budget, items, size);
    double window_ns = (double)(facts->end_ns - facts->begin_ns);
    bool much = (double)overhead.time_ns > OVERHEAD_WARN_SHARE * window_ns;
    overhead.severity = much ? "warning" : "info";
    return doubt_add(report, &overhead, err);
}

// --- options that slow the host down ------------------------------------------------------------

static bool add_cost_of_options(const struct facts *facts, struct report *report, struct err *err)
{
    struct doubt stacks = {
        .item = "stacks_recorded",
        .severity = "info",
        .detail = "Python frames were recorded (with_stack), which slows Python down",
        .effect = "idle time waiting for the host may be longer than without the profiler",
    };
    struct doubt memory = {
        .item = "memory_recorded",
        .severity = "info",
        .detail = facts->trace->job.recorder == RECORDER_PYTORCH
                      ? "allocations were recorded (profile_memory), which slows operators down"
                      : "allocations were recorded, which slows down the calls that make them",
        .effect = "idle time waiting for the host may be longer than without the profiler",
    };
    for (uint32_t e = 0; e < facts->trace->event_count; e++) {
        stacks.count += facts->trace->kind[e] == EVENT_PYTHON;
        memory.count += facts->trace->kind[e] == EVENT_ALLOCATION;
    }
    return (!stacks.count || doubt_add(report, &stacks, err)) &&
           (!memory.count || doubt_add(report, &memory, err));
}

// --- launches -----------------------------------------------------------------------------------

// Device events without a launch that come before the first one with a launch on their stream were
// launched before recording started; the others have lost theirs. begun has one entry per track.
static void sort_unlinked(const struct facts *facts, bool *begun, struct doubt *before,
                          struct doubt *lost)
{
    for (uint32_t i = 0; i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        if (device->launch != FACTS_NONE) {
            begun[device->track] = true;
            continue;
        }
        bool is_early = facts->linked && !begun[device->track];
        struct doubt *doubt = is_early ? before : lost;
        doubt->count++;
        doubt->time_ns += device->owned_ns;
    }
}

static bool add_unlinked(const struct facts *facts, struct report *report, struct err *err)
{
    struct doubt before = {
        .item = "launched_before",
        .timed = true,
        .detail = "device events before the first one with a launch on their stream: they were "
                  "launched before the recording started",
        .effect = "they count in all sums, but have no operator, module or cause of idle time",
    };
    struct doubt lost = {
        .item = "unlinked",
        .timed = true,
        .detail = "device events without a launch in the trace",
        .effect = "they count in all sums, but have no operator, module or cause of idle time",
    };
    bool much = facts->device_count - facts->linked > UNLINKED_WARN_SHARE * facts->device_count;
    before.severity = lost.severity = much ? "warning" : "info";
    size_t size = facts->trace->track_count * sizeof(bool);
    bool *begun = budget_alloc(facts->budget, size, err);
    if (!begun)
        return false;
    memset(begun, 0, size);
    sort_unlinked(facts, begun, &before, &lost);
    budget_free(facts->budget, begun, size);
    return (!before.count || doubt_add(report, &before, err)) &&
           (!lost.count || doubt_add(report, &lost, err));
}

static bool add_dropped(const struct facts *facts, struct report *report, struct err *err)
{
    struct doubt dropped = {
        .item = "dropped",
        .severity = "info",
        .count = (int64_t)facts->launches_without_events,
        .detail = "kernel launches without a device event in the trace",
        .effect =
            "device time may be missing at the end of the recording or because of lost events",
    };
    return !dropped.count || doubt_add(report, &dropped, err);
}

// --- clocks -------------------------------------------------------------------------------------

static bool add_clocks(const struct facts *facts, struct report *report, struct err *err)
{
    struct doubt early = {
        .item = "clock_skew",
        .severity = "info",
        .timed = true,
        .detail = "device events that start before the call that launched them: host and device "
                  "clocks differ by this time or more",
        .effect = "their launch delays count as 0; queues and causes of idle time are off by as "
                  "much; device times are not affected",
    };
    for (uint32_t i = 0; i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        if (device->launch == FACTS_NONE)
            continue;
        uint32_t event = facts->launches[device->launch].event;
        int64_t lead_ns = facts->trace->begin_ns[event] - device->begin_ns;
        early.count += lead_ns > 0;
        early.time_ns = lead_ns > early.time_ns ? lead_ns : early.time_ns;
    }
    return !early.count || doubt_add(report, &early, err);
}

// --- what the format does not have --------------------------------------------------------------

static bool has_kind(const struct trace *trace, const bool *wanted)
{
    for (uint32_t i = 0; i < trace->event_count; i++)
        if (wanted[trace->kind[i]])
            return true;
    return false;
}

static bool add_no_clock(const struct trace *trace, struct report *report, struct err *err)
{
    static const struct doubt none = {
        .item = "no_common_clock",
        .severity = "info",
        .count = 1,
        .detail = "times relative to an unknown start: the file does not say when it was",
        .effect =
            "logs, monitors and ranks on other hosts cannot be aligned with it by time; ranks "
            "are aligned by their collectives if they have any",
    };
    return trace->job.base_ns != VALUE_ABSENT || doubt_add(report, &none, err);
}

// PyTorch's own recordings may lack any of these by their options; the table of recordings says so.
static bool add_absent(const struct facts *facts, struct report *report, struct err *err)
{
    static const bool host[EVENT_KIND_COUNT] = {
        [EVENT_CPU_OP] = true, [EVENT_ANNOTATION] = true, [EVENT_RUNTIME] = true,
        [EVENT_DRIVER] = true, [EVENT_PYTHON] = true,     [EVENT_OS_CALL] = true};
    static const bool operators[EVENT_KIND_COUNT] = {[EVENT_CPU_OP] = true};
    const struct doubt no_host = {
        .item = "no_host_side",
        .severity = "info",
        .count = 1,
        .detail = "a recording of devices without the host: no calls, ranges or operators",
        .effect =
            facts->marked
                ? "causes of idle time and launch delays are unknown, and findings about the "
                  "host are silent; figures of kernels, copies and idle time do not need it"
                : "causes of idle time, launch delays and steps are unknown, and findings "
                  "about the host are silent; figures of kernels, copies and idle time do not "
                  "need it",
    };
    static const struct doubt no_operators = {
        .item = "no_operators",
        .severity = "info",
        .count = 1,
        .detail = "a recording without the operators of a framework",
        .effect = "kernels have no operator, module or shapes of tensors, and findings that need "
                  "them are silent; comparisons match kernels by name, and all work by category",
    };
    const struct trace *trace = facts->trace;
    if (trace->job.recorder == RECORDER_PYTORCH || !facts->device_count)
        return true;
    bool is_alone = !has_kind(trace, host);
    return (!is_alone || doubt_add(report, &no_host, err)) &&
           (is_alone || has_kind(trace, operators) || doubt_add(report, &no_operators, err)) &&
           add_no_clock(trace, report, err);
}

// Of operators recorded by Nsight Systems.
static bool add_untyped(const struct facts *facts, struct report *report, struct err *err)
{
    const struct trace *trace = facts->trace;
    struct doubt untyped = {
        .item = "untyped_shapes",
        .severity = "info",
        .detail = "distinct inputs of operators whose shapes were recorded without the types",
        .effect = "FLOPs of matrix products are known; bytes, bounds, utilization and attention, "
                  "which need the types, are not",
    };
    for (uint32_t i = 0; i < trace->op_inputs_count; i++)
        untyped.count += trace->op_inputs[i].dims && !trace->op_inputs[i].types;
    return !untyped.count || doubt_add(report, &untyped, err);
}

static bool add_unnumbered(const struct facts *facts, struct report *report, struct err *err)
{
    const struct doubt unnumbered = {
        .item = "rank_by_order",
        .severity = "info",
        .count = 1,
        .detail = "a process of a file with several, which does not say its rank: ranks are in the "
                  "order of the files' names and, in a file, of devices",
        .effect = facts->trace->job.recorder == RECORDER_NSYS
                      ? "the job's rank may be another one, and differ between recordings: export "
                        "with --include-blobs=true, or record each rank by itself"
                      : "the job's rank may be another one, and differ between recordings: record "
                        "each rank by itself",
    };
    bool shares_file = facts->options && facts->options->shares_file;
    return !shares_file || facts->identity.rank >= 0 || doubt_add(report, &unnumbered, err);
}

bool doubts_add_host(const struct facts *facts, struct report *report, struct err *err)
{
    return add_unlinked(facts, report, err) && add_dropped(facts, report, err) &&
           add_clocks(facts, report, err) && add_overhead(facts, report, err) &&
           add_cost_of_options(facts, report, err) && add_absent(facts, report, err) &&
           add_untyped(facts, report, err) && add_unnumbered(facts, report, err);
}
