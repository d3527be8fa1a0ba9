// SPDX-License-Identifier: Apache-2.0
#include "server/cli/trace_figures.h"

#include "ingest/base/budget.h"
#include "ingest/trace/plausible.h"

#include <stdlib.h>

static int64_t repairs_of(const struct trace *trace)
{
    uint64_t count = 0;
    for (int i = 0; i < REPAIR_COUNT; i++)
        count += trace->repairs[i].count;
    return (int64_t)count;
}

// --- kernels ------------------------------------------------------------------------------------

// Kernels are many, their names few.
struct kernel_walk {
    struct trace_figures *totals;
    const struct trace *trace;
    struct plausible plausible;
    unsigned char *classes; // by name, without a collective: 0 not seen yet, else class + 1
    int64_t count, total_ns, distinct, collectives, collectives_ns;
};

static bool see_name(struct kernel_walk *walk, str_id name, struct err *err)
{
    struct str text = trace_text(walk->trace, name);
    uint32_t number, before = walk->totals->kernels.count;
    walk->classes[name] = (unsigned char)(1 + event_device_class(EVENT_KERNEL, text, false));
    if (!groups_index(&walk->totals->kernels, hash_bytes(text.at, text.len), text.len, &number,
                      err))
        return false;
    walk->distinct += number == before;
    return true;
}

// The time of an event; 0 if analyses leave it out, as no recording takes that long.
static int64_t credible_ns(struct plausible *plausible, uint32_t event)
{
    return plausible_event(plausible, event) ? plausible->trace->dur_ns[event] : 0;
}

static bool add_kernel(struct kernel_walk *walk, uint32_t event, struct err *err)
{
    const struct trace *trace = walk->trace;
    str_id name = trace->name[event];
    uint32_t args = trace->args[event];
    bool collective = args != ARGS_NONE && trace->device_args[args].collective != ARGS_NONE;
    if (!walk->classes[name] && !see_name(walk, name, err))
        return false;
    enum device_class class = (enum device_class)(walk->classes[name] - 1);
    int64_t dur_ns = credible_ns(&walk->plausible, event);
    walk->count++;
    figures_sum(&walk->total_ns, dur_ns);
    if (class == CLASS_COMMUNICATION || (class == CLASS_COMPUTE && collective)) {
        walk->collectives++;
        figures_sum(&walk->collectives_ns, dur_ns);
    }
    return true;
}

static bool walk_kernels(struct kernel_walk *walk, struct err *err)
{
    const struct trace *trace = walk->trace;
    struct figures *figures = walk->totals->figures;
    for (uint32_t i = 0; i < trace->event_count; i++)
        if (trace->kind[i] == EVENT_KERNEL && !add_kernel(walk, i, err))
            return false;
    figures_add(figures, walk->count, "kernels");
    figures_add(figures, walk->total_ns, "kernel_total_ns");
    figures_add(figures, walk->distinct, "distinct_kernels");
    figures_add(figures, walk->collectives, "nccl_kernels" IN "count");
    figures_add(figures, walk->collectives_ns, "nccl_kernels" IN "total_ns");
    return true;
}

static bool add_kernels(struct trace_figures *totals, const struct trace *trace, struct err *err)
{
    struct kernel_walk walk = {.totals = totals,
                               .trace = trace,
                               .plausible = plausible_of(trace),
                               .classes = calloc(trace->strings.count + 1, 1)};
    bool ok = walk.classes || err_set(err, ERR_MEMORY, "out of memory");
    ok = ok && walk_kernels(&walk, err);
    free(walk.classes);
    return ok;
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

// As the millions of a device with one stream are.
static bool are_in_order(const struct span *spans, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (by_begin(&spans[i - 1], &spans[i]) > 0)
            return false;
    return true;
}

static int64_t union_of(struct span *spans, size_t count)
{
    int64_t busy_ns = 0, until_ns = INT64_MIN;
    if (!are_in_order(spans, count))
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

static bool is_same_device(const struct track *a, const struct track *b)
{
    return a->pid.number == b->pid.number && a->pid.text == b->pid.text;
}

// Of the device that has most.
static size_t most_events(const struct track **tracks, uint32_t count)
{
    size_t most = 0, events = 0;
    for (uint32_t t = 0; t < count; t++) {
        events = t && is_same_device(tracks[t - 1], tracks[t]) ? events : 0;
        events += tracks[t]->count;
        most = events > most ? events : most;
    }
    return most;
}

static size_t add_spans(struct plausible *plausible, const struct track *track, struct span *spans)
{
    for (uint32_t i = 0; i < track->count; i++) {
        int64_t begin_ns = plausible->trace->begin_ns[track->first + i];
        spans[i] = (struct span){begin_ns, begin_ns + credible_ns(plausible, track->first + i)};
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
                            const struct track **tracks, uint32_t count, struct span *spans)
{
    size_t spanned = 0;
    struct plausible plausible = plausible_of(trace);
    for (uint32_t t = 0; t < count; t++) {
        spanned += add_spans(&plausible, tracks[t], spans + spanned);
        if (t + 1 < count && is_same_device(tracks[t], tracks[t + 1]))
            continue;
        add_device(totals, tracks[t]->pid.number, spans, spanned);
        spanned = 0;
    }
}

static bool add_devices(struct trace_figures *totals, const struct trace *trace, struct err *err)
{
    const struct track **tracks = budget_alloc(NULL, trace->track_count * sizeof *tracks, err);
    uint32_t count = tracks ? device_tracks(trace, tracks) : 0;
    struct span *spans =
        tracks ? budget_alloc(NULL, most_events(tracks, count) * sizeof *spans, err) : NULL;
    if (spans)
        add_all_devices(totals, trace, tracks, count, spans);
    free(spans);
    free(tracks);
    return spans;
}

bool trace_figures_add(struct trace_figures *totals, const struct trace *trace, struct err *err)
{
    int64_t repairs = repairs_of(trace);
    figures_add(totals->figures, trace->event_count, "events");
    if (repairs)
        figures_add(totals->figures, repairs, "repairs");
    return add_kernels(totals, trace, err) && add_devices(totals, trace, err);
}
