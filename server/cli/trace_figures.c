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

struct kernel_sums {
    int64_t count, total_ns, distinct, collectives, collectives_ns;
};

static bool add_kernel(struct trace_figures *totals, const struct trace *trace, uint32_t event,
                       struct kernel_sums *sums, struct err *err)
{
    uint32_t number, before = totals->kernels.count;
    struct str name = trace_text(trace, trace->name[event]);
    uint32_t args = trace->args[event];
    bool collective = args != ARGS_NONE && trace->device_args[args].collective != ARGS_NONE;
    if (!groups_index(&totals->kernels, hash_bytes(name.at, name.len), name.len, &number, err))
        return false;
    sums->count++;
    figures_sum(&sums->total_ns, trace->dur_ns[event]);
    sums->distinct += number == before;
    if (event_device_class(EVENT_KERNEL, name, collective) == CLASS_COMMUNICATION) {
        sums->collectives++;
        figures_sum(&sums->collectives_ns, trace->dur_ns[event]);
    }
    return true;
}

static bool add_kernels(struct trace_figures *totals, const struct trace *trace, struct err *err)
{
    struct kernel_sums sums = {0};
    for (uint32_t i = 0; i < trace->event_count; i++)
        if (trace->kind[i] == EVENT_KERNEL && !add_kernel(totals, trace, i, &sums, err))
            return false;
    figures_add(totals->figures, sums.count, "kernels");
    figures_add(totals->figures, sums.total_ns, "kernel_total_ns");
    figures_add(totals->figures, sums.distinct, "distinct_kernels");
    figures_add(totals->figures, sums.collectives, "nccl_kernels" IN "count");
    figures_add(totals->figures, sums.collectives_ns, "nccl_kernels" IN "total_ns");
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

// Tracks of the same device next to each other.
static int by_device(const void *left, const void *right)
{
    const struct track *a = *(const struct track *const *)left;
    const struct track *b = *(const struct track *const *)right;
    if (a->pid.number != b->pid.number)
        return a->pid.number < b->pid.number ? -1 : 1;
    if (a->pid.text != b->pid.text)
        return a->pid.text < b->pid.text ? -1 : 1;
    return (a > b) - (a < b);
}

static uint32_t device_tracks(const struct trace *trace, const struct track **tracks)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < trace->track_count; t++)
        if (trace->tracks[t].family == TRACK_DEVICE)
            tracks[count++] = &trace->tracks[t];
    qsort(tracks, count, sizeof *tracks, by_device);
    return count;
}

static size_t add_spans(const struct trace *trace, const struct track *track, struct span *spans)
{
    for (uint32_t i = 0; i < track->count; i++) {
        uint32_t event = track->first + i;
        spans[i] =
            (struct span){trace->begin_ns[event], trace->begin_ns[event] + trace->dur_ns[event]};
    }
    return track->count;
}

static void add_device(struct trace_figures *totals, int64_t number, struct span *spans,
                       size_t count)
{
    long long index = totals->devices++;
    figures_add(totals->figures, number, "devices" IN "%lld" IN "deviceId", index);
    figures_add(totals->figures, union_of(spans, count), "devices" IN "%lld" IN "busy_union_ns",
                index);
    figures_add(totals->figures, (int64_t)count, "devices" IN "%lld" IN "activities", index);
}

static void add_all_devices(struct trace_figures *totals, const struct trace *trace,
                            const struct track **tracks, struct span *spans)
{
    size_t spanned = 0;
    uint32_t count = device_tracks(trace, tracks);
    for (uint32_t t = 0; t < count; t++) {
        const struct label *pid = &tracks[t]->pid;
        spanned += add_spans(trace, tracks[t], spans + spanned);
        bool more = t + 1 < count && tracks[t + 1]->pid.number == pid->number &&
                    tracks[t + 1]->pid.text == pid->text;
        if (more)
            continue;
        add_device(totals, pid->number, spans, spanned);
        spanned = 0;
    }
}

static bool add_devices(struct trace_figures *totals, const struct trace *trace, struct err *err)
{
    struct span *spans = malloc((trace->event_count + 1) * sizeof *spans);
    const struct track **tracks = malloc((trace->track_count + 1) * sizeof *tracks);
    bool ok = (spans && tracks) || err_set(err, ERR_MEMORY, "out of memory");
    if (ok)
        add_all_devices(totals, trace, tracks, spans);
    free(spans);
    free(tracks);
    return ok;
}

bool trace_figures_add(struct trace_figures *totals, const struct trace *trace, struct err *err)
{
    int64_t repairs = repairs_of(trace);
    figures_add(totals->figures, trace->event_count, "events");
    if (repairs)
        figures_add(totals->figures, repairs, "repairs");
    return add_kernels(totals, trace, err) && add_devices(totals, trace, err);
}
