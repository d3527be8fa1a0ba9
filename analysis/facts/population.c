// SPDX-License-Identifier: Apache-2.0
// Collects device events in order of time.
#include "analysis/facts/population.h"

#include "analysis/facts/only_device.h"
#include "analysis/stats/groups.h"
#include "analysis/stats/sort.h"
#include "ingest/trace/plausible.h"

static uint32_t count_device_events(const struct trace *trace)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < trace->track_count; t++)
        if (trace->tracks[t].family == TRACK_DEVICE)
            count += trace->tracks[t].count;
    return count;
}

static uint32_t file_order(const struct trace *trace, uint32_t event)
{
    uint32_t args = trace->args[event];
    return args == ARGS_NONE ? event : trace->device_args[args].order;
}

// All device events by (begin, file order): a is the event, b its track.
static void collect(const struct trace *trace, struct keyed *items, struct keyed *scratch,
                    uint32_t count)
{
    uint32_t n = 0;
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        for (uint32_t i = 0; track->family == TRACK_DEVICE && i < track->count; i++) {
            uint32_t event = track->first + i;
            items[n++] = (struct keyed){file_order(trace, event), event, t};
        }
    }
    sort_keyed(items, scratch, count);
    for (uint32_t i = 0; i < count; i++)
        items[i].key = trace->begin_ns[items[i].a];
    sort_keyed(items, scratch, count);
}

static void quarantine(struct facts *facts, uint32_t event)
{
    int64_t dur_ns = facts->trace->dur_ns[event];
    facts->quarantine.implausible++;
    if (dur_ns >= 0 && dur_ns <= PLAUSIBLE_REACH_NS)
        facts->quarantine.implausible_ns += dur_ns;
}

static bool keep_plausible(struct facts *facts, const struct keyed *items, uint32_t count,
                           struct err *err)
{
    struct plausible plausible = plausible_of(facts->trace);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        kept += plausible_event(&plausible, items[i].a);
    facts->devices = arena_array(facts->arena, kept, sizeof *facts->devices, err);
    if (!facts->devices)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t event = items[i].a;
        if (!plausible_event(&plausible, event)) {
            quarantine(facts, event);
            continue;
        }
        facts->devices[facts->device_count++] = (struct device_event){
            .begin_ns = items[i].key,
            .end_ns = items[i].key + facts->trace->dur_ns[event],
            .event = event,
            .launch = FACTS_NONE,
            .track = items[i].b,
            .step = FACTS_NONE,
            .next = FACTS_NONE,
        };
    }
    return true;
}

// A copy may run beside the next one of its row: PyTorch on ROCm (rocprofiler-sdk) writes those of
// all streams on one.
static bool may_overlap(const struct trace *trace, uint32_t event)
{
    return event_is_copy((enum event_kind)trace->kind[event],
                         trace_text(trace, trace->name[event]));
}

// Clips overruns of kernels. Events of a track are in column order, (begin, end); so is the sort
// here.
static void clip(struct facts *facts, struct keyed *items, struct keyed *scratch)
{
    uint32_t count = facts->device_count;
    for (uint32_t i = 0; i < count; i++)
        items[i] = (struct keyed){facts->devices[i].event, i, 0};
    sort_keyed(items, scratch, count);
    for (uint32_t i = 0; i + 1 < count; i++) {
        struct device_event *device = &facts->devices[items[i].a];
        const struct device_event *next = &facts->devices[items[i + 1].a];
        int64_t overrun_ns = device->end_ns - next->begin_ns;
        if (device->track != next->track || overrun_ns <= POPULATION_CLIP_NS ||
            may_overlap(facts->trace, device->event))
            continue;
        device->end_ns = next->begin_ns;
        facts->quarantine.clipped++;
        facts->quarantine.clipped_ns += overrun_ns;
    }
}

static void find_window(struct facts *facts)
{
    if (facts->device_count == 0)
        return;
    facts->begin_ns = facts->devices[0].begin_ns;
    facts->end_ns = facts->devices[0].end_ns;
    for (uint32_t i = 1; i < facts->device_count; i++)
        if (facts->devices[i].end_ns > facts->end_ns)
            facts->end_ns = facts->devices[i].end_ns;
}

static bool find_gpus(struct facts *facts, struct groups *gpus, struct err *err)
{
    const struct trace *trace = facts->trace;
    for (uint32_t i = 0; i < facts->device_count; i++) {
        uint32_t track = facts->devices[i].track;
        if (facts->track_gpu[track] != FACTS_NONE)
            continue;
        struct label gpu = trace->tracks[track].pid;
        if (!groups_index(gpus, (uint64_t)gpu.number, gpu.text, &facts->track_gpu[track], err))
            return false;
        facts->stream_count++;
    }
    facts->gpu_count = gpus->count;
    facts->gpus = arena_array(facts->arena, gpus->count, sizeof *facts->gpus, err);
    for (uint32_t g = 0; facts->gpus && g < gpus->count; g++)
        facts->gpus[g] = (struct label){(int64_t)gpus->keys[g].a, (str_id)gpus->keys[g].b};
    return facts->gpus != NULL;
}

// What has only copies is no device of the job if one device has all other work: its time is that
// one's.
static void join_copies(struct facts *facts)
{
    const struct track *only = facts->gpu_count > 1 ? only_device(facts->trace) : NULL;
    uint32_t gpu = only ? facts->track_gpu[only - facts->trace->tracks] : FACTS_NONE;
    if (gpu == FACTS_NONE)
        return;
    for (uint32_t t = 0; t < facts->trace->track_count; t++)
        if (facts->track_gpu[t] != FACTS_NONE)
            facts->track_gpu[t] = 0;
    facts->gpus[0] = facts->gpus[gpu];
    facts->gpu_count = 1;
}

static bool name_gpus(struct facts *facts, struct err *err)
{
    uint32_t tracks = facts->trace->track_count;
    facts->track_gpu = arena_array(facts->arena, tracks, sizeof *facts->track_gpu, err);
    if (!facts->track_gpu)
        return false;
    for (uint32_t t = 0; t < tracks; t++)
        facts->track_gpu[t] = FACTS_NONE;
    struct groups gpus;
    groups_init(&gpus, facts->budget);
    bool ok = find_gpus(facts, &gpus, err);
    groups_free(&gpus);
    if (ok)
        join_copies(facts);
    return ok;
}

bool population_make(struct facts *facts, struct err *err)
{
    uint32_t count = count_device_events(facts->trace);
    size_t size = 2 * (size_t)count * sizeof(struct keyed);
    struct keyed *items = budget_alloc(facts->budget, size, err);
    if (!items)
        return false;
    bool ok = true;
    if (count) {
        collect(facts->trace, items, items + count, count);
        ok = keep_plausible(facts, items, count, err);
    }
    if (ok)
        clip(facts, items, items + count);
    budget_free(facts->budget, items, size);
    find_window(facts);
    return ok && name_gpus(facts, err);
}
