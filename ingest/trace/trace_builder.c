// SPDX-License-Identifier: Apache-2.0
// Collects events in chunked columns and seals them: one stable sort per row, then column by
// column.
#include "ingest/trace/trace_builder.h"
#include "ingest/trace/record_set.h"
#include "ingest/trace/row_sort.h"

#include <assert.h>

#define CHUNK_EVENTS ((uint32_t)1 << 15)
#define MAX_EVENTS   (UINT32_MAX - 2)

// Fixed chunks grow without copying and are given back one column at a time while sealing.
enum column_id { COL_BEGIN, COL_DUR, COL_NAME, COL_KIND, COL_ARGS, COL_TRACK, COL_COUNT };

static const size_t column_size[COL_COUNT] = {
    [COL_BEGIN] = sizeof(int64_t), [COL_DUR] = sizeof(int64_t),   [COL_NAME] = sizeof(str_id),
    [COL_KIND] = sizeof(uint8_t),  [COL_ARGS] = sizeof(uint32_t), [COL_TRACK] = sizeof(uint32_t),
};

struct chunked {
    char **chunks;
    uint32_t count;
};

struct growing {
    char *at;
    uint32_t count, cap;
};

struct track_key {
    int64_t pid, tid;
    str_id pid_text, tid_text;
    uint32_t family;
    uint32_t reserved;
};

// Two labels without padding, to be compared as bytes.
struct thread_key {
    int64_t pid, tid;
    str_id pid_text, tid_text;
};

struct trace_builder {
    struct budget *budget;
    struct strtab strings;
    struct chunked columns[COL_COUNT];
    uint32_t event_count;
    struct growing device_args, launch_args, op_args, memory_args, members;
    struct record_set shapes, collectives, copy_calls, op_inputs, tracks;
    struct record_set member_keys; // str_id; the index is that of members
    struct record_set threads;     // struct thread_key; the index is that of thread_names
    struct growing thread_names;   // str_id
    int64_t last_ns;
    struct repair_note repairs[REPAIR_COUNT];
    uint64_t input_events, text_bytes;
};

struct trace_builder *trace_builder_new(struct budget *budget, struct err *err)
{
    struct trace_builder *builder = budget_alloc(budget, sizeof *builder, err);
    if (!builder)
        return NULL;
    *builder = (struct trace_builder){.budget = budget};
    record_set_init(&builder->shapes, sizeof(struct launch_shape), budget);
    record_set_init(&builder->collectives, sizeof(struct collective), budget);
    record_set_init(&builder->copy_calls, sizeof(struct copy_call), budget);
    record_set_init(&builder->op_inputs, sizeof(struct op_inputs), budget);
    record_set_init(&builder->tracks, sizeof(struct track_key), budget);
    record_set_init(&builder->member_keys, sizeof(str_id), budget);
    record_set_init(&builder->threads, sizeof(struct thread_key), budget);
    if (!strtab_init(&builder->strings, budget, err)) {
        trace_builder_free(builder);
        return NULL;
    }
    return builder;
}

static void free_column(struct trace_builder *builder, enum column_id id)
{
    struct chunked *column = &builder->columns[id];
    for (uint32_t i = 0; i < column->count; i++)
        budget_free(builder->budget, column->chunks[i], CHUNK_EVENTS * column_size[id]);
    budget_free(builder->budget, column->chunks, column->count * sizeof *column->chunks);
    *column = (struct chunked){0};
}

static void free_growing(struct budget *budget, struct growing *array, size_t size)
{
    budget_free(budget, array->at, array->cap * size);
    *array = (struct growing){0};
}

void trace_builder_free(struct trace_builder *builder)
{
    if (!builder)
        return;
    struct budget *budget = builder->budget;
    for (enum column_id id = 0; id < COL_COUNT; id++)
        free_column(builder, id);
    free_growing(budget, &builder->device_args, sizeof(struct device_args));
    free_growing(budget, &builder->launch_args, sizeof(struct launch_args));
    free_growing(budget, &builder->op_args, sizeof(struct op_args));
    free_growing(budget, &builder->memory_args, sizeof(struct memory_args));
    free_growing(budget, &builder->members, sizeof(struct trace_member));
    free_growing(budget, &builder->thread_names, sizeof(str_id));
    record_set_free(&builder->shapes);
    record_set_free(&builder->collectives);
    record_set_free(&builder->copy_calls);
    record_set_free(&builder->op_inputs);
    record_set_free(&builder->tracks);
    record_set_free(&builder->member_keys);
    record_set_free(&builder->threads);
    strtab_free(&builder->strings);
    budget_free(budget, builder, sizeof *builder);
}

struct strtab *trace_builder_strings(struct trace_builder *builder)
{
    return &builder->strings;
}

static void *column_at(const struct trace_builder *builder, enum column_id id, uint32_t event)
{
    char *chunk = builder->columns[id].chunks[event / CHUNK_EVENTS];
    return chunk + event % CHUNK_EVENTS * column_size[id];
}

static bool add_chunk(struct trace_builder *builder, enum column_id id, struct err *err)
{
    struct chunked *column = &builder->columns[id];
    size_t size = column->count * sizeof *column->chunks;
    char **chunks =
        budget_realloc(builder->budget, column->chunks, size, size + sizeof *column->chunks, err);
    if (!chunks)
        return false;
    column->chunks = chunks;
    // Counted from here on, so that a failure below is released whole.
    chunks[column->count] = budget_alloc(builder->budget, CHUNK_EVENTS * column_size[id], err);
    if (!chunks[column->count]) {
        builder->budget->used -= sizeof *column->chunks;
        return false;
    }
    column->count++;
    return true;
}

static bool make_room(struct trace_builder *builder, struct err *err)
{
    if (builder->event_count >= MAX_EVENTS)
        return err_set(err, ERR_LIMIT, "more than %u events in one trace", MAX_EVENTS);
    if (builder->event_count % CHUNK_EVENTS)
        return true;
    uint32_t need = builder->event_count / CHUNK_EVENTS + 1;
    for (enum column_id id = 0; id < COL_COUNT; id++)
        if (builder->columns[id].count < need && !add_chunk(builder, id, err))
            return false;
    return true;
}

// Appends one element of size bytes to an array that grows by half.
static bool append(struct trace_builder *builder, struct growing *array, const void *element,
                   size_t size, struct err *err)
{
    if (array->count == array->cap) {
        if (array->cap > UINT32_MAX / 2)
            return err_set(err, ERR_LIMIT, "more than %u elements in one table", array->count);
        uint32_t cap = array->cap + array->cap / 2 + 64;
        char *at = budget_realloc(builder->budget, array->at, array->cap * size, cap * size, err);
        if (!at)
            return false;
        array->at = at;
        array->cap = cap;
    }
    memcpy(array->at + array->count++ * size, element, size);
    return true;
}

static bool add_collective(struct trace_builder *builder, const struct event_record *event,
                           uint32_t *index, struct err *err)
{
    *index = ARGS_NONE;
    return !event->collective.name ||
           record_set_add(&builder->collectives, &event->collective, index, err);
}

static bool add_device_args(struct trace_builder *builder, const struct event_record *event,
                            uint32_t *index, struct err *err)
{
    bool numbered = event->sequence >= 0 && event->sequence < ARGS_NONE;
    struct device_args args = {.correlation = event->correlation,
                               .order = builder->event_count,
                               .sequence = numbered ? (uint32_t)event->sequence : ARGS_NONE};
    *index = builder->device_args.count;
    return record_set_add(&builder->shapes, &event->shape, &args.shape, err) &&
           add_collective(builder, event, &args.collective, err) &&
           append(builder, &builder->device_args, &args, sizeof args, err);
}

static bool add_launch_args(struct trace_builder *builder, const struct event_record *event,
                            uint32_t *index, struct err *err)
{
    struct launch_args args = {
        .correlation = event->correlation, .order = builder->event_count, .copy = ARGS_NONE};
    bool copies = event->copy.direction != COPY_UNKNOWN || event->copy.bytes != 0;
    *index = builder->launch_args.count;
    return (!copies || record_set_add(&builder->copy_calls, &event->copy, &args.copy, err)) &&
           append(builder, &builder->launch_args, &args, sizeof args, err);
}

// Operators without arguments that are kept have no row.
static bool add_op_args(struct trace_builder *builder, const struct event_record *event,
                        uint32_t *index, struct err *err)
{
    struct op_args args = {.sequence = event->sequence, .inputs = ARGS_NONE};
    const struct op_inputs *in = &event->inputs;
    bool called = in->dims || in->types || in->strides || in->concrete || in->module;
    if ((called && !record_set_add(&builder->op_inputs, in, &args.inputs, err)) ||
        !add_collective(builder, event, &args.collective, err))
        return false;
    if (!called && args.collective == ARGS_NONE && args.sequence == VALUE_ABSENT)
        return true;
    *index = builder->op_args.count;
    return append(builder, &builder->op_args, &args, sizeof args, err);
}

static bool add_memory_args(struct trace_builder *builder, const struct event_record *event,
                            uint32_t *index, struct err *err)
{
    struct memory_args args = event->memory;
    args.order = builder->event_count;
    *index = builder->memory_args.count;
    return append(builder, &builder->memory_args, &args, sizeof args, err);
}

// Stores what the kind keeps beside the columns; *index is where.
static bool add_args(struct trace_builder *builder, const struct event_record *event,
                     uint32_t *index, struct err *err)
{
    *index = ARGS_NONE;
    if (event_kind_is_device(event->kind))
        return add_device_args(builder, event, index, err);
    if (event_kind_is_launch(event->kind))
        return add_launch_args(builder, event, index, err);
    if (event->kind == EVENT_CPU_OP)
        return add_op_args(builder, event, index, err);
    if (event->kind == EVENT_ALLOCATION)
        return add_memory_args(builder, event, index, err);
    return true;
}

bool trace_builder_add(struct trace_builder *builder, const struct event_record *event,
                       struct err *err)
{
    struct track_key key = {.pid = event->pid.number,
                            .tid = event->tid.number,
                            .pid_text = event->pid.text,
                            .tid_text = event->tid.text,
                            .family = event_kind_family(event->kind)};
    uint32_t args, track;
    if (!make_room(builder, err) || !record_set_add(&builder->tracks, &key, &track, err) ||
        !add_args(builder, event, &args, err))
        return false;
    uint32_t at = builder->event_count++;
    *(int64_t *)column_at(builder, COL_BEGIN, at) = event->begin_ns;
    *(int64_t *)column_at(builder, COL_DUR, at) = event->dur_ns;
    *(str_id *)column_at(builder, COL_NAME, at) = event->name;
    *(uint8_t *)column_at(builder, COL_KIND, at) = (uint8_t)event->kind;
    *(uint32_t *)column_at(builder, COL_ARGS, at) = args;
    *(uint32_t *)column_at(builder, COL_TRACK, at) = track;
    if (event->begin_ns + event->dur_ns > builder->last_ns || at == 0)
        builder->last_ns = event->begin_ns + event->dur_ns;
    return true;
}

int64_t trace_builder_last_ns(const struct trace_builder *builder)
{
    return builder->last_ns;
}

bool trace_builder_name_thread(struct trace_builder *builder, struct label pid, struct label tid,
                               str_id name, struct err *err)
{
    struct thread_key key = {pid.number, tid.number, pid.text, tid.text};
    uint32_t at;
    if (!record_set_add(&builder->threads, &key, &at, err))
        return false;
    return at < builder->thread_names.count ||
           append(builder, &builder->thread_names, &name, sizeof name, err);
}

bool trace_builder_member(struct trace_builder *builder, str_id key, str_id text, struct err *err)
{
    uint32_t at;
    if (!record_set_add(&builder->member_keys, &key, &at, err))
        return false;
    struct trace_member member = {key, text};
    if (at == builder->members.count)
        return append(builder, &builder->members, &member, sizeof member, err);
    memcpy(builder->members.at + at * sizeof member, &member, sizeof member);
    return true;
}

void trace_builder_repair(struct trace_builder *builder, enum repair repair, uint64_t pos)
{
    struct repair_note *note = &builder->repairs[repair];
    if (note->count++ == 0)
        note->first_pos = pos;
}

void trace_builder_count_input(struct trace_builder *builder, uint64_t events, uint64_t text_bytes)
{
    builder->input_events = events;
    builder->text_bytes = text_bytes;
}

static str_id thread_name_of(const struct trace_builder *builder, const struct track_key *key)
{
    struct thread_key thread = {key->pid, key->tid, key->pid_text, key->tid_text};
    uint32_t at;
    if (!record_set_find(&builder->threads, &thread, &at))
        return 0;
    return ((const str_id *)(void *)builder->thread_names.at)[at];
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
    for (uint32_t i = 0; i < builder->event_count; i++)
        tracks[*(uint32_t *)column_at(builder, COL_TRACK, i)].count++;
    for (uint32_t i = 1; i < count; i++)
        tracks[i].first = tracks[i - 1].first + tracks[i - 1].count;
    return true;
}

// order[k] becomes the event that stands at place k: by track, and in file order within each.
static bool group_by_track(struct trace_builder *builder, const struct trace *trace,
                           uint32_t *order, struct err *err)
{
    size_t size = trace->track_count * sizeof(uint32_t);
    uint32_t *next = budget_alloc(builder->budget, size, err);
    if (!next)
        return false;
    for (uint32_t t = 0; t < trace->track_count; t++)
        next[t] = trace->tracks[t].first;
    for (uint32_t i = 0; i < builder->event_count; i++)
        order[next[*(uint32_t *)column_at(builder, COL_TRACK, i)]++] = i;
    budget_free(builder->budget, next, size);
    free_column(builder, COL_TRACK);
    return true;
}

// Sorts the events of one track by (begin, end), or (begin, -end) where events nest.
static bool sort_track(struct trace_builder *builder, const struct track *track, uint32_t *order,
                       struct err *err)
{
    size_t size = track->count * sizeof(struct row_key);
    struct row_key *keys = budget_alloc(builder->budget, size * 2, err);
    if (!keys)
        return false;
    bool longer_first = track->family != TRACK_DEVICE;
    for (uint32_t i = 0; i < track->count; i++) {
        uint32_t event = order[track->first + i];
        int64_t dur = *(int64_t *)column_at(builder, COL_DUR, event);
        keys[i] = (struct row_key){*(int64_t *)column_at(builder, COL_BEGIN, event),
                                   longer_first ? -dur : dur, event};
    }
    row_sort(keys, keys + track->count, track->count);
    for (uint32_t i = 0; i < track->count; i++)
        order[track->first + i] = keys[i].event;
    budget_free(builder->budget, keys, size * 2);
    return true;
}

static bool sort_tracks(struct trace_builder *builder, const struct trace *trace, uint32_t *order,
                        struct err *err)
{
    if (!group_by_track(builder, trace, order, err))
        return false;
    for (uint32_t t = 0; t < trace->track_count; t++)
        if (trace->tracks[t].count > 1 && !sort_track(builder, &trace->tracks[t], order, err))
            return false;
    return true;
}

// Moves one column into a flat array in the sealed order and gives its chunks back.
static void *gather(struct trace_builder *builder, enum column_id id, const uint32_t *order,
                    struct err *err)
{
    size_t size = column_size[id];
    char *flat = budget_alloc(builder->budget, builder->event_count * size, err);
    if (!flat)
        return NULL;
    for (uint32_t i = 0; i < builder->event_count; i++) {
        const void *from = column_at(builder, id, order[i]);
        if (size == sizeof(int64_t))
            memcpy(flat + i * sizeof(int64_t), from, sizeof(int64_t));
        else if (size == sizeof(uint32_t))
            memcpy(flat + i * sizeof(uint32_t), from, sizeof(uint32_t));
        else
            flat[i] = *(const char *)from;
    }
    free_column(builder, id);
    return flat;
}

static bool seal_columns(struct trace_builder *builder, struct trace *trace, struct err *err)
{
    if (builder->event_count == 0)
        return true;
    size_t size = builder->event_count * sizeof(uint32_t);
    uint32_t *order = budget_alloc(builder->budget, size, err);
    bool ok = order && sort_tracks(builder, trace, order, err) &&
              (trace->begin_ns = gather(builder, COL_BEGIN, order, err)) &&
              (trace->dur_ns = gather(builder, COL_DUR, order, err)) &&
              (trace->name = gather(builder, COL_NAME, order, err)) &&
              (trace->kind = gather(builder, COL_KIND, order, err)) &&
              (trace->args = gather(builder, COL_ARGS, order, err));
    budget_free(builder->budget, order, size);
    return ok;
}

// Cuts an array to its size and gives it to the trace.
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

static bool take_tables(struct trace_builder *builder, struct trace *trace, struct err *err)
{
    struct {
        struct growing *array;
        size_t size;
        const void *items;
    } tables[] = {
        {&builder->device_args, sizeof(struct device_args), NULL},
        {&builder->launch_args, sizeof(struct launch_args), NULL},
        {&builder->op_args, sizeof(struct op_args), NULL},
        {&builder->memory_args, sizeof(struct memory_args), NULL},
        {&builder->members, sizeof(struct trace_member), NULL},
    };
    trace->device_args_count = builder->device_args.count;
    trace->launch_args_count = builder->launch_args.count;
    trace->op_args_count = builder->op_args.count;
    trace->memory_args_count = builder->memory_args.count;
    trace->member_count = builder->members.count;
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof tables / sizeof *tables; i++)
        ok = take(builder, tables[i].array, tables[i].size, &tables[i].items, err);
    trace->device_args = tables[0].items;
    trace->launch_args = tables[1].items;
    trace->op_args = tables[2].items;
    trace->memory_args = tables[3].items;
    trace->members = tables[4].items;
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
                            .budget = builder->budget};
    memcpy(trace->repairs, builder->repairs, sizeof trace->repairs);
    bool ok = make_tracks(builder, trace, err) && seal_columns(builder, trace, err) &&
              take_tables(builder, trace, err) && take_sets(builder, trace, err);
    trace->strings = builder->strings;
    builder->strings = (struct strtab){0};
    trace_builder_free(builder);
    if (!ok) {
        trace_free(trace);
        return NULL;
    }
    return trace;
}
