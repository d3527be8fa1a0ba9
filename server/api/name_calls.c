// SPDX-License-Identifier: Apache-2.0
#include "server/api/name_calls.h"

#include "analysis/facts/population.h"
#include "ingest/trace/plausible.h"
#include "ingest/trace/trace_blocks.h"
#include "ingest/base/orders.h"

#include <math.h>
#include <stdlib.h>

#define LOG_FROM 8 // times the shortest

// A launch within an outermost call of the operator.
struct launch_of {
    int64_t correlation;
    size_t call;
};

struct reader {
    const struct trace_file *file;
    struct trace_events events;
    struct trace_blocks device_args, launch_args;
    struct trace_texts texts;
    struct name_calls *calls;
    enum call_kind kind;
    str_id name;
    int64_t first_ns; // of the device
    struct launch_of *launches;
    size_t launch_count, launch_room;
};

// --- what is gathered ---------------------------------------------------------------------------

static void *grow(void *items, size_t *room, size_t count, size_t size, struct err *err)
{
    if (count < NAME_CALLS_MOST)
        return budget_room(NULL, items, room, count + 1, size, err);
    err_set(err, ERR_LIMIT, "found more than %zu calls of that name, too many to list",
            NAME_CALLS_MOST);
    return NULL;
}

static bool add_time(struct call_times *times, int64_t ns, struct err *err)
{
    int64_t *grown = grow(times->ns, &times->room, times->count, sizeof *grown, err);
    if (!grown)
        return false;
    times->ns = grown;
    times->ns[times->count++] = ns;
    times->total_ns += ns;
    return true;
}

static void note_longest(struct name_calls *calls, int64_t begin_ns, int64_t dur_ns)
{
    unsigned at = calls->longest_count;
    while (at > 0 &&
           (calls->longest[at - 1].dur_ns < dur_ns || (calls->longest[at - 1].dur_ns == dur_ns &&
                                                       calls->longest[at - 1].begin_ns > begin_ns)))
        at--;
    if (at == NAME_CALLS_LONGEST)
        return;
    if (calls->longest_count < NAME_CALLS_LONGEST)
        calls->longest_count++;
    for (unsigned i = calls->longest_count - 1; i > at; i--)
        calls->longest[i] = calls->longest[i - 1];
    calls->longest[at].begin_ns = begin_ns;
    calls->longest[at].dur_ns = dur_ns;
}

static void note_step(struct name_calls *calls, int64_t begin_ns, int64_t dur_ns)
{
    size_t low = 0, high = calls->step_count; // the first step that starts later
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (calls->steps[middle].begin_ns <= begin_ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || begin_ns >= calls->steps[low - 1].end_ns)
        return;
    struct call_step *step = &calls->steps[low - 1];
    step->calls++;
    step->total_ns += dur_ns;
    step->max_ns = dur_ns > step->max_ns ? dur_ns : step->max_ns;
}

static bool add_call(struct name_calls *calls, const struct trace_event *event, struct err *err)
{
    int64_t dur_ns = event->end_ns - event->begin_ns;
    note_longest(calls, event->begin_ns, dur_ns);
    note_step(calls, event->begin_ns, dur_ns);
    return add_time(&calls->calls, dur_ns, err);
}

// --- the device ---------------------------------------------------------------------------------

static int by_correlation(const void *a, const void *b)
{
    const struct launch_of *left = a, *right = b;
    return (left->correlation > right->correlation) - (left->correlation < right->correlation);
}

static bool correlation_of(struct trace_blocks *blocks, uint32_t index, int64_t *correlation,
                           struct err *err)
{
    *correlation = VALUE_ABSENT;
    if (index == ARGS_NONE)
        return true;
    const void *args = trace_blocks_element(blocks, index, err);
    if (!args)
        return false;
    *correlation = blocks->id == SECTION_DEVICE_ARGS
                       ? ((const struct device_args *)args)->correlation
                       : ((const struct launch_args *)args)->correlation;
    return true;
}

// Adds an event to the operator's call that launched it.
static bool add_launched(struct reader *reader, const struct trace_event *event, struct err *err)
{
    struct launch_of key;
    if (!correlation_of(&reader->device_args, event->args, &key.correlation, err))
        return false;
    const struct launch_of *found =
        bsearch(&key, reader->launches, reader->launch_count, sizeof key, by_correlation);
    if (found)
        reader->calls->device.ns[found->call] += event->end_ns - event->begin_ns;
    return true;
}

static bool visit_device(struct reader *reader, const struct trace_event *event, struct err *err)
{
    if (reader->kind == CALLS_OF_OPERATOR)
        return add_launched(reader, event, err);
    return event->name != reader->name || add_call(reader->calls, event, err);
}

// The rules of the analysis's population, without its median start and its host: the first
// plausible event lies within a recording's span of the median.
static bool is_plausible(const struct reader *reader, const struct trace_event *event)
{
    return event->begin_ns >= reader->first_ns &&
           event->begin_ns - reader->first_ns <= 2 * PLAUSIBLE_SPAN_NS &&
           event->end_ns - event->begin_ns <= PLAUSIBLE_REACH_NS;
}

static const struct trace_window everything = {INT64_MIN, INT64_MAX};

// Cuts a kernel that overruns the next event's start there, also as in the population.
static bool cut_overrun(struct reader *reader, struct trace_event *event,
                        const struct trace_event *next, struct err *err)
{
    struct str name;
    if (event->end_ns - next->begin_ns <= POPULATION_CLIP_NS)
        return true;
    if (!trace_texts_get(&reader->texts, event->name, &name, err))
        return false;
    if (!event_is_copy(event->kind, name))
        event->end_ns = next->begin_ns;
    return true;
}

static bool read_stream(struct reader *reader, size_t track, struct err *err)
{
    struct trace_cursor cursor = trace_events_start(&reader->events, track);
    struct trace_event event, next;
    for (bool held = false, found = true; found;) {
        if (!trace_events_next(&reader->events, &cursor, everything, &next, &found, err))
            return false;
        if (found && !is_plausible(reader, &next))
            continue;
        if (held && found && !cut_overrun(reader, &event, &next, err))
            return false;
        if (held && !visit_device(reader, &event, err))
            return false;
        event = next;
        held = true;
    }
    return true;
}

// --- the host -----------------------------------------------------------------------------------

static bool add_launch(struct reader *reader, const struct trace_event *event, struct err *err)
{
    int64_t correlation;
    if (!correlation_of(&reader->launch_args, event->args, &correlation, err))
        return false;
    if (correlation == VALUE_ABSENT)
        return true;
    struct launch_of *grown =
        grow(reader->launches, &reader->launch_room, reader->launch_count, sizeof *grown, err);
    if (!grown)
        return false;
    reader->launches = grown;
    reader->launches[reader->launch_count++] =
        (struct launch_of){correlation, reader->calls->device.count - 1};
    return true;
}

// Calls nested in one of the same name count as calls, but launch for the outermost.
static bool read_thread(struct reader *reader, size_t track, struct err *err)
{
    struct trace_cursor cursor = trace_events_start(&reader->events, track);
    struct trace_event event;
    bool found = true;
    for (int64_t open_until_ns = INT64_MIN;;) {
        if (!trace_events_next(&reader->events, &cursor, everything, &event, &found, err) || !found)
            return !found;
        bool within = event.begin_ns < open_until_ns;
        if (within && event_kind_is_launch(event.kind) && !add_launch(reader, &event, err))
            return false;
        if (event.kind != EVENT_CPU_OP || event.name != reader->name)
            continue;
        if (!add_call(reader->calls, &event, err) ||
            (!within && !add_time(&reader->calls->device, 0, err)))
            return false;
        open_until_ns = within ? open_until_ns : event.end_ns;
    }
}

// --- all together -------------------------------------------------------------------------------

static bool find_name(struct reader *reader, struct str name, bool *found, struct err *err)
{
    uint64_t count = trace_file_count(reader->file, SECTION_SPANS);
    bool ok = true;
    *found = false;
    for (uint64_t id = 0; ok && !*found && id < count; id++) {
        struct str text;
        ok = trace_texts_get(&reader->texts, (str_id)id, &text, err);
        *found = ok && str_equal(text, name);
        reader->name = (str_id)id;
    }
    return ok;
}

static bool read_tracks(struct reader *reader, enum track_family family, struct err *err)
{
    for (size_t track = 0; track < reader->events.track_count; track++) {
        if (reader->events.tracks[track].family != family)
            continue;
        if (!(family == TRACK_DEVICE ? read_stream : read_thread)(reader, track, err))
            return false;
    }
    return true;
}

static void order(struct call_times *times)
{
    times->total_ns = 0;
    for (size_t i = 0; i < times->count; i++)
        times->total_ns += times->ns[i];
    if (times->count)
        qsort(times->ns, times->count, sizeof *times->ns, order_i64);
}

static bool read_all(struct reader *reader, struct err *err)
{
    if (reader->kind == CALLS_OF_OPERATOR && !read_tracks(reader, TRACK_HOST, err))
        return false;
    if (reader->launch_count)
        qsort(reader->launches, reader->launch_count, sizeof *reader->launches, by_correlation);
    bool launches = reader->kind == CALLS_OF_KERNEL || reader->launch_count;
    if (launches && !read_tracks(reader, TRACK_DEVICE, err))
        return false;
    order(&reader->calls->calls);
    order(&reader->calls->device);
    return true;
}

bool name_calls_read(const struct trace_file *file, enum call_kind kind, struct str name,
                     struct name_calls *calls, struct err *err)
{
    bool found = false;
    struct reader reader = {.file = file,
                            .calls = calls,
                            .kind = kind,
                            .first_ns = trace_file_header(file)->device_begin_ns,
                            .texts = trace_texts_of(file),
                            .device_args = trace_blocks_of(file, SECTION_DEVICE_ARGS),
                            .launch_args = trace_blocks_of(file, SECTION_LAUNCH_ARGS)};
    bool ok = find_name(&reader, name, &found, err);
    if (ok && found) {
        ok = trace_events_open(&reader.events, file, 2, err) && read_all(&reader, err);
        trace_events_close(&reader.events);
    }
    trace_texts_close(&reader.texts);
    trace_blocks_close(&reader.device_args);
    trace_blocks_close(&reader.launch_args);
    free(reader.launches);
    return ok;
}

void name_calls_free(struct name_calls *calls)
{
    free(calls->calls.ns);
    free(calls->device.ns);
}

// --- the histogram ------------------------------------------------------------------------------

static int64_t edge_at(int64_t least, int64_t most, unsigned i)
{
    if (i == NAME_CALLS_BINS)
        return most + 1;
    double share = (double)i / NAME_CALLS_BINS;
    if (least > 0 && most / LOG_FROM >= least)
        return (int64_t)((double)least * pow((double)most / (double)least, share));
    return least + (int64_t)((double)(most + 1 - least) * share);
}

struct call_bins call_bins_of(const struct call_times *times)
{
    struct call_bins bins = {.count = 0};
    if (!times->count)
        return bins;
    int64_t least = times->ns[0], most = times->ns[times->count - 1];
    bins.edges[0] = least;
    for (unsigned i = 1; i <= NAME_CALLS_BINS; i++) {
        int64_t edge = edge_at(least, most, i);
        if (edge > bins.edges[bins.count])
            bins.edges[++bins.count] = edge;
    }
    for (size_t i = 0, bin = 0; i < times->count; i++) {
        while (times->ns[i] >= bins.edges[bin + 1])
            bin++;
        bins.counts[bin]++;
    }
    return bins;
}
