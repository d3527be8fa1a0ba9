// SPDX-License-Identifier: Apache-2.0
// Collects events in chunked columns.
#include "ingest/trace/trace_builder_inner.h"

#include <math.h>

struct trace_builder *trace_builder_new(struct budget *budget, struct err *err)
{
    struct trace_builder *builder = budget_alloc(budget, sizeof *builder, err);
    if (!builder)
        return NULL;
    *builder = (struct trace_builder){.budget = budget,
                                      .job = {VALUE_ABSENT, VALUE_ABSENT, 0, RECORDER_PYTORCH}};
    record_set_init(&builder->shapes, sizeof(struct launch_shape), budget);
    record_set_init(&builder->collectives, sizeof(struct collective), budget);
    record_set_init(&builder->copy_calls, sizeof(struct copy_call), budget);
    record_set_init(&builder->op_inputs, sizeof(struct op_inputs), budget);
    record_set_init(&builder->tracks, sizeof(struct track_key), budget);
    record_set_init(&builder->counters, sizeof(struct counter_key), budget);
    record_set_init(&builder->group_names, sizeof(str_id), budget);
    record_set_init(&builder->threads, sizeof(struct thread_key), budget);
    if (!strtab_init(&builder->strings, budget, err)) {
        trace_builder_free(builder);
        return NULL;
    }
    return builder;
}

// How many chunks there are in the block of the one at `index`, the first of its block: at most a
// quarter as many again. Those of a large trace come together, so that they can be in huge pages.
static uint32_t chunks_from(uint32_t index)
{
    enum { MOST = 32 };
    uint32_t together = 1;
    while (together < MOST && together * 2 <= index / 4)
        together *= 2;
    return together;
}

void trace_builder_free_column(struct trace_builder *builder, enum column_id id)
{
    struct chunked *column = &builder->columns[id];
    size_t chunk_bytes = CHUNK_EVENTS * column_size[id];
    for (uint32_t i = 0; i < column->count; i += chunks_from(i))
        budget_free(builder->budget, column->chunks[i], chunks_from(i) * chunk_bytes);
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
        trace_builder_free_column(builder, id);
    free_growing(budget, &builder->device_args, sizeof(struct device_args));
    free_growing(budget, &builder->comms_ids, sizeof(struct comms_id));
    free_growing(budget, &builder->launch_args, sizeof(struct launch_args));
    free_growing(budget, &builder->op_args, sizeof(struct op_args));
    free_growing(budget, &builder->memory_args, sizeof(struct memory_args));
    free_growing(budget, &builder->devices, sizeof(struct trace_device));
    free_growing(budget, &builder->groups, sizeof(struct trace_group));
    free_growing(budget, &builder->settings, sizeof(struct trace_setting));
    free_growing(budget, &builder->thread_names, sizeof(str_id));
    free_growing(budget, &builder->counted, sizeof(struct counted));
    for (size_t i = 0; i < RENAMED_COUNT; i++)
        free_growing(budget, &builder->renamed[i], sizeof(uint32_t));
    record_set_free(&builder->shapes);
    record_set_free(&builder->collectives);
    record_set_free(&builder->copy_calls);
    record_set_free(&builder->op_inputs);
    record_set_free(&builder->tracks);
    record_set_free(&builder->counters);
    record_set_free(&builder->group_names);
    record_set_free(&builder->threads);
    strtab_free(&builder->strings);
    budget_free(budget, builder, sizeof *builder);
}

void trace_builder_use(struct trace_builder *builder, struct cores *cores)
{
    builder->cores = cores;
}

struct budget *trace_builder_budget(struct trace_builder *builder)
{
    return builder->budget;
}

struct strtab *trace_builder_strings(struct trace_builder *builder)
{
    return &builder->strings;
}

static bool add_chunks(struct trace_builder *builder, enum column_id id, struct err *err)
{
    struct chunked *column = &builder->columns[id];
    uint32_t more = chunks_from(column->count);
    size_t chunk_bytes = CHUNK_EVENTS * column_size[id], pointer = sizeof *column->chunks;
    char *block = budget_alloc(builder->budget, more * chunk_bytes, err);
    char **chunks = block ? budget_realloc(builder->budget, column->chunks, column->count * pointer,
                                           (column->count + more) * pointer, err)
                          : NULL;
    if (!chunks) {
        budget_free(builder->budget, block, more * chunk_bytes);
        return false;
    }
    column->chunks = chunks;
    for (uint32_t i = 0; i < more; i++)
        chunks[column->count++] = block + i * chunk_bytes;
    return true;
}

bool trace_builder_begin_chunk(struct trace_builder *builder, struct err *err)
{
    uint32_t chunk = builder->event_count / CHUNK_EVENTS;
    if (builder->event_count >= MAX_EVENTS)
        return err_set(err, ERR_LIMIT, "more than %u events in one trace", MAX_EVENTS);
    for (enum column_id id = 0; id < COL_COUNT; id++)
        if (builder->columns[id].count <= chunk && !add_chunks(builder, id, err))
            return false;
    builder->tail = (struct column_tail){
        .begin_ns = (void *)builder->columns[COL_BEGIN].chunks[chunk],
        .dur_ns = (void *)builder->columns[COL_DUR].chunks[chunk],
        .name = (void *)builder->columns[COL_NAME].chunks[chunk],
        .kind = (void *)builder->columns[COL_KIND].chunks[chunk],
        .args = (void *)builder->columns[COL_ARGS].chunks[chunk],
        .track = (void *)builder->columns[COL_TRACK].chunks[chunk],
    };
    return true;
}

bool trace_builder_reserve(struct trace_builder *builder, struct growing *array, uint32_t more,
                           size_t size, struct err *err)
{
    if (array->cap - array->count >= more)
        return true;
    if (array->cap > UINT32_MAX / 2 || more > UINT32_MAX / 4)
        return err_set(err, ERR_LIMIT, "more than %u elements in one table", array->count);
    uint32_t cap = array->cap + array->cap / 2 + 64;
    cap = cap - array->count < more ? array->count + more : cap;
    char *at = budget_realloc(builder->budget, array->at, array->cap * size, cap * size, err);
    if (!at)
        return false;
    array->at = at;
    array->cap = cap;
    return true;
}

// Appends one element of size bytes.
static inline bool append(struct trace_builder *builder, struct growing *array, const void *element,
                          size_t size, struct err *err)
{
    if (array->count == array->cap && !trace_builder_reserve(builder, array, 1, size, err))
        return false;
    memcpy(array->at + array->count++ * size, element, size);
    return true;
}

static bool add_collective(struct trace_builder *builder, const struct event_record *event,
                           uint32_t *index, struct err *err)
{
    *index = ARGS_NONE;
    return !event->collective.name ||
           record_set_add_near(&builder->collectives, &event->collective, event->name, index, err);
}

static bool add_device_args(struct trace_builder *builder, const struct event_record *event,
                            uint32_t *index, struct err *err)
{
    bool numbered = event->sequence >= 0 && event->sequence < ARGS_NONE;
    struct device_args args = {.correlation = event->correlation,
                               .order = builder->event_count,
                               .sequence = numbered ? (uint32_t)event->sequence : ARGS_NONE};
    struct comms_id comms = {builder->device_args.count, event->comms_id};
    *index = builder->device_args.count;
    return (!comms.id || append(builder, &builder->comms_ids, &comms, sizeof comms, err)) &&
           record_set_add_near(&builder->shapes, &event->shape, event->name, &args.shape, err) &&
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

// Operators without any argument that is kept have no row.
static bool add_op_args(struct trace_builder *builder, const struct event_record *event,
                        uint32_t *index, struct err *err)
{
    struct op_args args = {.sequence = event->sequence, .inputs = ARGS_NONE};
    const struct op_inputs *in = &event->inputs;
    bool called = in->dims || in->types || in->strides || in->concrete || in->module;
    if ((called && !record_set_add_near(&builder->op_inputs, in, event->name, &args.inputs, err)) ||
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

// Stores what this kind of event has besides the columns; *index is where.
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

static bool is_track(const struct track_key *key, const struct event_record *event,
                     enum track_family family)
{
    return key && key->pid == event->pid.number && key->tid == event->tid.number &&
           key->pid_text == event->pid.text && key->tid_text == event->tid.text &&
           key->family == (uint32_t)family;
}

static inline bool find_track(struct trace_builder *builder, const struct event_record *event,
                              uint32_t *track, struct err *err)
{
    enum track_family family = event_kind_family(event->kind);
    uint32_t near = (uint32_t)event->tid.number * 5 + (uint32_t)event->pid.number * 31 + family;
    if (is_track(record_set_near(&builder->tracks, near, track), event, family))
        return true;
    struct track_key key = {.pid = event->pid.number,
                            .tid = event->tid.number,
                            .pid_text = event->pid.text,
                            .tid_text = event->tid.text,
                            .family = family};
    return record_set_add_near(&builder->tracks, &key, near, track, err);
}

bool trace_builder_add(struct trace_builder *builder, const struct event_record *event,
                       struct err *err)
{
    uint32_t args, track;
    if (!trace_builder_make_room(builder, err) || !find_track(builder, event, &track, err) ||
        !add_args(builder, event, &args, err))
        return false;
    const struct column_tail *tail = &builder->tail;
    uint32_t at = builder->event_count++ % CHUNK_EVENTS;
    tail->begin_ns[at] = event->begin_ns;
    tail->dur_ns[at] = event->dur_ns;
    tail->name[at] = event->name;
    tail->kind[at] = (uint8_t)event->kind;
    tail->args[at] = args;
    tail->track[at] = track;
    int64_t end_ns = event->begin_ns + event->dur_ns;
    if (end_ns > builder->last_ns || builder->event_count == 1)
        builder->last_ns = end_ns;
    return true;
}

bool trace_builder_count(struct trace_builder *builder, const struct counter_record *counter,
                         struct err *err)
{
    bool timed = counter->time_ns > -TRACE_MAX_NS && counter->time_ns < TRACE_MAX_NS;
    if (!timed || !isfinite(counter->value)) {
        trace_builder_repair(builder, REPAIR_INCOMPLETE_OTHER, ERR_NO_POS);
        return true;
    }
    struct counter_key key = {.pid = counter->pid.number,
                              .pid_text = counter->pid.text,
                              .name = counter->name,
                              .key = counter->key};
    struct counted counted = {.time_ns = counter->time_ns, .value = counter->value};
    return record_set_add_near(&builder->counters, &key, counter->name + counter->key * 7,
                               &counted.counter, err) &&
           append(builder, &builder->counted, &counted, sizeof counted, err);
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

void trace_builder_rank(struct trace_builder *builder, int64_t rank, int64_t world_size)
{
    builder->job.rank = rank == VALUE_ABSENT ? builder->job.rank : rank;
    builder->job.world_size = world_size == VALUE_ABSENT ? builder->job.world_size : world_size;
}

void trace_builder_recorder(struct trace_builder *builder, enum trace_recorder recorder)
{
    builder->job.recorder = recorder;
}

void trace_builder_base(struct trace_builder *builder, int64_t base_ns)
{
    builder->job.base_ns = base_ns;
}

bool trace_builder_device(struct trace_builder *builder, const struct trace_device *device,
                          struct err *err)
{
    return append(builder, &builder->devices, device, sizeof *device, err);
}

void trace_builder_renumber(struct trace_builder *builder, device_number *number,
                            const void *context)
{
    struct track_key *tracks = (struct track_key *)(void *)builder->tracks.items;
    struct counter_key *counters = (struct counter_key *)(void *)builder->counters.items;
    for (uint32_t i = 0; i < builder->tracks.count; i++)
        if (tracks[i].family == TRACK_DEVICE && !tracks[i].pid_text)
            tracks[i].pid = number(context, tracks[i].pid);
    for (uint32_t i = 0; i < builder->counters.count; i++)
        if (!counters[i].pid_text)
            counters[i].pid = number(context, counters[i].pid);
}

bool trace_builder_group(struct trace_builder *builder, const struct trace_group *group,
                         struct err *err)
{
    uint32_t at;
    if (!record_set_add(&builder->group_names, &group->name, &at, err))
        return false;
    if (at == builder->groups.count)
        return append(builder, &builder->groups, group, sizeof *group, err);
    memcpy(builder->groups.at + at * sizeof *group, group, sizeof *group);
    return true;
}

bool trace_builder_setting(struct trace_builder *builder, const struct trace_setting *setting,
                           struct err *err)
{
    return append(builder, &builder->settings, setting, sizeof *setting, err);
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
