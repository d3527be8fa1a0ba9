// SPDX-License-Identifier: Apache-2.0
// Seals what a builder collected: one stable sort per row, then column by column.
#include "ingest/base/crew.h"
#include "ingest/trace/row_sort.h"
#include "ingest/trace/trace_builder_inner.h"

#include <assert.h>
#include <stdlib.h>

// Sorting is split into at most this many parts; small inputs are not worth a thread.
#define SHARES     16u
#define FEW_EVENTS 65536u

static str_id thread_name_of(const struct trace_builder *builder, const struct track_key *key)
{
    struct thread_key thread = {key->pid, key->tid, key->pid_text, key->tid_text};
    uint32_t at;
    if (!record_set_find(&builder->threads, &thread, &at))
        return 0;
    return ((const str_id *)(void *)builder->thread_names.at)[at];
}

// How many events of a chunk there are from event `from` on.
static uint32_t events_from(const struct trace_builder *builder, uint32_t from)
{
    uint32_t left = builder->event_count - from;
    return left < CHUNK_EVENTS ? left : CHUNK_EVENTS;
}

static void count_tracks(const struct trace_builder *builder, struct track *tracks, uint32_t count)
{
    for (uint32_t from = 0; from < builder->event_count; from += CHUNK_EVENTS) {
        const uint32_t *track = column_at(builder, COL_TRACK, from);
        for (uint32_t i = 0, n = events_from(builder, from); i < n; i++)
            tracks[track[i]].count++;
    }
    for (uint32_t i = 1; i < count; i++)
        tracks[i].first = tracks[i - 1].first + tracks[i - 1].count;
    assert(tracks[count - 1].first + tracks[count - 1].count == builder->event_count);
}

static bool make_tracks(struct trace_builder *builder, struct trace *trace, struct err *err)
{
    uint32_t count = builder->tracks.count;
    if (count == 0)
        return true;
    struct track *tracks = budget_alloc(builder->budget, count * sizeof *tracks, err);
    if (!tracks)
        return false;
    const struct track_key *keys = (const struct track_key *)(void *)builder->tracks.items;
    for (uint32_t i = 0; i < count; i++)
        tracks[i] = (struct track){.family = (enum track_family)keys[i].family,
                                   .pid = {keys[i].pid, keys[i].pid_text},
                                   .tid = {keys[i].tid, keys[i].tid_text},
                                   .name = thread_name_of(builder, &keys[i])};
    trace->tracks = tracks;
    trace->track_count = count;
    count_tracks(builder, tracks, count);
    return true;
}

// order[k] becomes the event at place k: by track, and in file order within each.
static bool group_by_track(struct trace_builder *builder, const struct trace *trace,
                           uint32_t *order, struct err *err)
{
    size_t size = trace->track_count * sizeof(uint32_t);
    uint32_t *next = budget_alloc(builder->budget, size, err);
    if (!next)
        return false;
    for (uint32_t t = 0; t < trace->track_count; t++)
        next[t] = trace->tracks[t].first;
    for (uint32_t from = 0; from < builder->event_count; from += CHUNK_EVENTS) {
        const uint32_t *track = column_at(builder, COL_TRACK, from);
        for (uint32_t i = 0, n = events_from(builder, from); i < n; i++)
            order[next[track[i]]++] = from + i;
    }
    budget_free(builder->budget, next, size);
    trace_builder_free_column(builder, COL_TRACK);
    return true;
}

// --- order within the tracks ---------------------------------------------------------------------

static int64_t time_at(const struct trace_builder *builder, enum column_id id, uint32_t event)
{
    return *(const int64_t *)column_at(builder, id, event);
}

// Events of a track are sorted by (begin, end), or by (begin, -end) where events nest.
static struct row_key key_of(const struct trace_builder *builder, const struct track *track,
                             uint32_t event)
{
    int64_t dur = time_at(builder, COL_DUR, event);
    return (struct row_key){time_at(builder, COL_BEGIN, event),
                            track->family == TRACK_DEVICE ? dur : -dur, event};
}

// How many events, from the first on, are already in order; often all of them.
static uint32_t count_sorted(const struct trace_builder *builder, const struct track *track,
                             const uint32_t *order)
{
    struct row_key last = key_of(builder, track, order[0]);
    for (uint32_t i = 1; i < track->count; i++) {
        struct row_key key = key_of(builder, track, order[i]);
        if (row_key_before(&key, &last))
            return i;
        last = key;
    }
    return track->count;
}

static bool sort_track(struct trace_builder *builder, const struct track *track, uint32_t *order,
                       struct err *err)
{
    if (count_sorted(builder, track, order) == track->count)
        return true;
    size_t size = track->count * sizeof(struct row_key);
    struct row_key *keys = budget_alloc(builder->budget, size * 2, err);
    if (!keys)
        return false;
    for (uint32_t i = 0; i < track->count; i++)
        keys[i] = key_of(builder, track, order[i]);
    row_sort(keys, keys + track->count, track->count);
    for (uint32_t i = 0; i < track->count; i++)
        order[i] = keys[i].event;
    assert(count_sorted(builder, track, order) == track->count);
    budget_free(builder->budget, keys, size * 2);
    return true;
}

// The tracks that start within the places begin .. end - 1.
struct sort_share {
    struct trace_builder *builder;
    const struct trace *trace;
    uint32_t *order;
    uint32_t begin, end;
};

static bool sort_share(void *context, struct err *err)
{
    const struct sort_share *share = context;
    for (uint32_t t = 0; t < share->trace->track_count; t++) {
        const struct track *track = &share->trace->tracks[t];
        if (track->first >= share->begin && track->first < share->end && track->count > 1 &&
            !sort_track(share->builder, track, share->order + track->first, err))
            return false;
    }
    return true;
}

static bool sort_tracks(struct trace_builder *builder, const struct trace *trace, uint32_t *order,
                        struct err *err)
{
    struct sort_share shares[SHARES];
    struct crew_task tasks[SHARES];
    uint32_t step = builder->event_count / SHARES + 1;
    for (uint32_t i = 0; i < SHARES; i++) {
        uint32_t end = i + 1 < SHARES ? (i + 1) * step : UINT32_MAX;
        shares[i] = (struct sort_share){builder, trace, order, i * step, end};
        tasks[i] = (struct crew_task){.run = sort_share, .context = &shares[i]};
    }
    return group_by_track(builder, trace, order, err) &&
           crew_run(builder->event_count < FEW_EVENTS ? NULL : builder->cores, tasks, SHARES, err);
}

// --- columns -------------------------------------------------------------------------------------

static void gather_times(const struct trace_builder *builder, enum column_id id,
                         const uint32_t *order, int64_t *flat)
{
    char *const *chunks = builder->columns[id].chunks;
    for (uint32_t i = 0; i < builder->event_count; i++)
        flat[i] =
            ((const int64_t *)(void *)chunks[order[i] / CHUNK_EVENTS])[order[i] % CHUNK_EVENTS];
}

static void gather_ids(const struct trace_builder *builder, enum column_id id,
                       const uint32_t *order, uint32_t *flat)
{
    char *const *chunks = builder->columns[id].chunks;
    for (uint32_t i = 0; i < builder->event_count; i++)
        flat[i] =
            ((const uint32_t *)(void *)chunks[order[i] / CHUNK_EVENTS])[order[i] % CHUNK_EVENTS];
}

static void gather_bytes(const struct trace_builder *builder, enum column_id id,
                         const uint32_t *order, uint8_t *flat)
{
    char *const *chunks = builder->columns[id].chunks;
    for (uint32_t i = 0; i < builder->event_count; i++)
        flat[i] = (uint8_t)chunks[order[i] / CHUNK_EVENTS][order[i] % CHUNK_EVENTS];
}

struct gather_column {
    struct trace_builder *builder;
    enum column_id id;
    const uint32_t *order;
    void *flat; // the column in the sealed order
};

// Moves one column into a flat array in the sealed order and frees its chunks.
static bool gather(void *context, struct err *err)
{
    struct gather_column *column = context;
    struct trace_builder *builder = column->builder;
    size_t size = column_size[column->id];
    column->flat = budget_alloc(builder->budget, builder->event_count * size, err);
    if (!column->flat)
        return false;
    if (size == sizeof(int64_t))
        gather_times(builder, column->id, column->order, column->flat);
    else if (size == sizeof(uint32_t))
        gather_ids(builder, column->id, column->order, column->flat);
    else
        gather_bytes(builder, column->id, column->order, column->flat);
    trace_builder_free_column(builder, column->id);
    return true;
}

static bool gather_columns(struct trace_builder *builder, struct trace *trace,
                           const uint32_t *order, struct err *err)
{
    struct gather_column columns[COL_TRACK];
    struct crew_task tasks[COL_TRACK];
    for (enum column_id id = 0; id < COL_TRACK; id++) {
        columns[id] = (struct gather_column){builder, id, order, NULL};
        tasks[id] = (struct crew_task){.run = gather, .context = &columns[id]};
    }
    bool ok =
        crew_run(builder->event_count < FEW_EVENTS ? NULL : builder->cores, tasks, COL_TRACK, err);
    trace->begin_ns = columns[COL_BEGIN].flat;
    trace->dur_ns = columns[COL_DUR].flat;
    trace->name = columns[COL_NAME].flat;
    trace->kind = columns[COL_KIND].flat;
    trace->args = columns[COL_ARGS].flat;
    return ok;
}

static bool seal_columns(struct trace_builder *builder, struct trace *trace, struct err *err)
{
    if (builder->event_count == 0)
        return true;
    size_t size = builder->event_count * sizeof(uint32_t);
    uint32_t *order = budget_alloc(builder->budget, size, err);
    bool ok = order && sort_tracks(builder, trace, order, err) &&
              gather_columns(builder, trace, order, err);
    budget_free(builder->budget, order, size);
    return ok;
}

// Shrinks an array to its size and hands it to the trace.
static bool take(struct trace_builder *builder, struct growing *array, size_t size,
                 const void **items, struct err *err)
{
    *items = NULL;
    if (array->count) {
        *items =
            budget_realloc(builder->budget, array->at, array->cap * size, array->count * size, err);
        if (!*items)
            return false;
    } else {
        budget_free(builder->budget, array->at, array->cap * size);
    }
    *array = (struct growing){0};
    return true;
}

static int by_name(const void *a, const void *b)
{
    const struct trace_group *x = a, *y = b;
    return (x->name > y->name) - (x->name < y->name);
}

static void sort_groups(struct growing *groups)
{
    if (groups->count)
        qsort(groups->at, groups->count, sizeof(struct trace_group), by_name);
}

static bool take_tables(struct trace_builder *builder, struct trace *trace, struct err *err)
{
    struct {
        struct growing *array;
        size_t size;
        const void *items;
    } tables[] = {
        {&builder->device_args, sizeof(struct device_args), NULL},
        {&builder->comms_ids, sizeof(struct comms_id), NULL},
        {&builder->launch_args, sizeof(struct launch_args), NULL},
        {&builder->op_args, sizeof(struct op_args), NULL},
        {&builder->memory_args, sizeof(struct memory_args), NULL},
        {&builder->devices, sizeof(struct trace_device), NULL},
        {&builder->groups, sizeof(struct trace_group), NULL},
        {&builder->settings, sizeof(struct trace_setting), NULL},
    };
    trace->device_args_count = builder->device_args.count;
    trace->comms_id_count = builder->comms_ids.count;
    trace->launch_args_count = builder->launch_args.count;
    trace->op_args_count = builder->op_args.count;
    trace->memory_args_count = builder->memory_args.count;
    trace->device_count = builder->devices.count;
    trace->group_count = builder->groups.count;
    trace->setting_count = builder->settings.count;
    sort_groups(&builder->groups);
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof tables / sizeof *tables; i++)
        ok = take(builder, tables[i].array, tables[i].size, &tables[i].items, err);
    trace->device_args = tables[0].items;
    trace->comms_ids = tables[1].items;
    trace->launch_args = tables[2].items;
    trace->op_args = tables[3].items;
    trace->memory_args = tables[4].items;
    trace->devices = tables[5].items;
    trace->groups = tables[6].items;
    trace->settings = tables[7].items;
    return ok;
}

static bool take_sets(struct trace_builder *builder, struct trace *trace, struct err *err)
{
    void *items;
    trace->shape_count = builder->shapes.count;
    if (!record_set_take(&builder->shapes, &items, err))
        return false;
    trace->shapes = items;
    trace->collective_count = builder->collectives.count;
    if (!record_set_take(&builder->collectives, &items, err))
        return false;
    trace->collectives = items;
    trace->copy_call_count = builder->copy_calls.count;
    if (!record_set_take(&builder->copy_calls, &items, err))
        return false;
    trace->copy_calls = items;
    trace->op_inputs_count = builder->op_inputs.count;
    if (!record_set_take(&builder->op_inputs, &items, err))
        return false;
    trace->op_inputs = items;
    return true;
}

// --- counters ------------------------------------------------------------------------------------

static str_id process_name_of(const struct trace_builder *builder, const struct counter_key *key)
{
    struct track_key row = {.pid = key->pid, .tid = TRACE_PROCESS_ROW, .pid_text = key->pid_text};
    return thread_name_of(builder, &row);
}

_Static_assert(sizeof(struct counter) == sizeof(int64_t) + 8 * sizeof(uint32_t),
               "there are no bytes between the members, which nobody would set");

static struct counter *make_counters(struct trace_builder *builder, struct trace *trace,
                                     struct err *err)
{
    uint32_t count = builder->counters.count;
    struct counter *counters = budget_alloc(builder->budget, count * sizeof *counters, err);
    if (!counters)
        return NULL;
    const struct counter_key *keys = (const struct counter_key *)(void *)builder->counters.items;
    for (uint32_t i = 0; i < count; i++)
        counters[i] = (struct counter){.pid = keys[i].pid,
                                       .pid_text = keys[i].pid_text,
                                       .process = process_name_of(builder, &keys[i]),
                                       .name = keys[i].name,
                                       .key = keys[i].key};
    trace->counters = counters;
    trace->counter_count = count;
    return counters;
}

// Arranges the samples by counter and time; samples at the same time stay in file order.
static void lay_out(const struct row_key *keys, const struct counted *counted, uint32_t count,
                    struct counter *counters, struct counter_sample *samples)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct counted *from = &counted[keys[i].event];
        struct counter *counter = &counters[from->counter];
        if (counter->count++ == 0)
            counter->first = i;
        samples[i] = (struct counter_sample){from->time_ns, from->value};
        assert(counter->first + counter->count == i + 1);
        assert(counter->count == 1 || samples[i - 1].time_ns <= from->time_ns);
    }
}

static bool seal_counters(struct trace_builder *builder, struct trace *trace, struct err *err)
{
    uint32_t count = builder->counted.count;
    if (count == 0)
        return true;
    struct counter *counters = make_counters(builder, trace, err);
    if (!counters)
        return false;
    size_t size = count * sizeof(struct row_key);
    const struct counted *counted = (const struct counted *)(void *)builder->counted.at;
    struct counter_sample *samples = budget_alloc(builder->budget, count * sizeof *samples, err);
    struct row_key *keys = samples ? budget_alloc(builder->budget, size * 2, err) : NULL;
    trace->counter_samples = samples;
    trace->counter_sample_count = samples ? count : 0;
    if (!keys)
        return false;
    for (uint32_t i = 0; i < count; i++)
        keys[i] = (struct row_key){counted[i].counter, counted[i].time_ns, i};
    row_sort(keys, keys + count, count);
    lay_out(keys, counted, count, counters, samples);
    budget_free(builder->budget, keys, size * 2);
    return true;
}

struct trace *trace_builder_seal(struct trace_builder *builder, struct err *err)
{
    struct trace *trace = budget_alloc(builder->budget, sizeof *trace, err);
    if (!trace) {
        trace_builder_free(builder);
        return NULL;
    }
    *trace = (struct trace){.event_count = builder->event_count,
                            .input_events = builder->input_events,
                            .text_bytes = builder->text_bytes,
                            .job = builder->job,
                            .budget = builder->budget};
    memcpy(trace->repairs, builder->repairs, sizeof trace->repairs);
    bool ok = make_tracks(builder, trace, err) && seal_columns(builder, trace, err) &&
              take_tables(builder, trace, err) && take_sets(builder, trace, err) &&
              seal_counters(builder, trace, err);
    trace->strings = builder->strings;
    builder->strings = (struct strtab){0};
    trace_builder_free(builder);
    if (!ok) {
        trace_free(trace);
        return NULL;
    }
    return trace;
}
