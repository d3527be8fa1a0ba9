// SPDX-License-Identifier: Apache-2.0
#include "server/cli/trace_figures.h"

#include <stdlib.h>

static int64_t repairs_of(const struct trace *trace)
{
    uint64_t count = 0;
    for (int i = 0; i < REPAIR_COUNT; i++)
        count += trace->repairs[i].count;
    return (int64_t)count;
}

// --- kernels ------------------------------------------------------------------------------------

static bool add_kernel(struct trace_figures *totals, const struct trace *trace, uint32_t event,
                       struct err *err)
{
    uint32_t number, before = totals->kernels.count;
    struct str name = trace_text(trace, trace->name[event]);
    uint32_t args = trace->args[event];
    bool collective = args != ARGS_NONE && trace->device_args[args].collective != ARGS_NONE;
    if (!groups_index(&totals->kernels, hash_bytes(name.at, name.len), name.len, &number, err))
        return false;
    figures_add(totals->figures, 1, "kernels");
    figures_add(totals->figures, trace->dur_ns[event], "kernel_total_ns");
    figures_add(totals->figures, number == before, "distinct_kernels");
    if (event_device_class(EVENT_KERNEL, name, collective) == CLASS_COMMUNICATION) {
        figures_add(totals->figures, 1, "nccl_kernels" IN "count");
        figures_add(totals->figures, trace->dur_ns[event], "nccl_kernels" IN "total_ns");
    }
    return true;
}

static bool add_kernels(struct trace_figures *totals, const struct trace *trace, struct err *err)
{
    for (uint32_t i = 0; i < trace->event_count; i++)
        if (trace->kind[i] == EVENT_KERNEL && !add_kernel(totals, trace, i, err))
            return false;
    return true;
}

// --- devices ------------------------------------------------------------------------------------

struct span {
    int64_t begin_ns, end_ns;
};

static int by_begin(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

static bool is_of(const struct track *track, const struct label *device)
{
    return track->family == TRACK_DEVICE && track->pid.number == device->number &&
           track->pid.text == device->text;
}

static size_t spans_of(const struct trace *trace, const struct label *device, struct span *spans)
{
    size_t count = 0;
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        for (uint32_t i = track->first; is_of(track, device) && i < track->first + track->count;
             i++)
            spans[count++] =
                (struct span){trace->begin_ns[i], trace->begin_ns[i] + trace->dur_ns[i]};
    }
    return count;
}

static int64_t union_of(struct span *spans, size_t count)
{
    int64_t busy_ns = 0, until_ns = INT64_MIN;
    qsort(spans, count, sizeof *spans, by_begin);
    for (size_t i = 0; i < count; i++) {
        int64_t from_ns = spans[i].begin_ns > until_ns ? spans[i].begin_ns : until_ns;
        if (spans[i].end_ns > from_ns)
            busy_ns += spans[i].end_ns - from_ns;
        until_ns = spans[i].end_ns > until_ns ? spans[i].end_ns : until_ns;
    }
    return busy_ns;
}

static void add_device(struct trace_figures *totals, const struct trace *trace,
                       const struct label *device, struct span *spans)
{
    long long index = totals->devices++;
    size_t count = spans_of(trace, device, spans);
    figures_add(totals->figures, device->number, "devices" IN "%lld" IN "deviceId", index);
    figures_add(totals->figures, union_of(spans, count), "devices" IN "%lld" IN "busy_union_ns",
                index);
    figures_add(totals->figures, (int64_t)count, "devices" IN "%lld" IN "activities", index);
}

static bool is_first(const struct trace *trace, uint32_t index)
{
    const struct track *track = &trace->tracks[index];
    for (uint32_t i = 0; i < index; i++)
        if (is_of(&trace->tracks[i], &track->pid))
            return false;
    return track->family == TRACK_DEVICE;
}

static bool add_devices(struct trace_figures *totals, const struct trace *trace, struct err *err)
{
    struct span *spans = malloc((trace->event_count + 1) * sizeof *spans);
    if (!spans)
        return err_set(err, ERR_MEMORY, "out of memory");
    for (uint32_t t = 0; t < trace->track_count; t++)
        if (is_first(trace, t))
            add_device(totals, trace, &trace->tracks[t].pid, spans);
    free(spans);
    return true;
}

bool trace_figures_add(struct trace_figures *totals, const struct trace *trace, struct err *err)
{
    int64_t repairs = repairs_of(trace);
    figures_add(totals->figures, trace->event_count, "events");
    if (repairs)
        figures_add(totals->figures, repairs, "repairs");
    figures_add(totals->figures, 0, "kernels");
    figures_add(totals->figures, 0, "kernel_total_ns");
    figures_add(totals->figures, 0, "distinct_kernels");
    figures_add(totals->figures, 0, "nccl_kernels" IN "count");
    figures_add(totals->figures, 0, "nccl_kernels" IN "total_ns");
    return add_kernels(totals, trace, err) && add_devices(totals, trace, err);
}
