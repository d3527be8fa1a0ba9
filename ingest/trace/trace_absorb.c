// SPDX-License-Identifier: Apache-2.0
// Appends to a builder what a part collected, translating every index. A part keeps its texts and
// tables, so only those new since the last time are looked up.
#include "ingest/trace/trace_builder_inner.h"

static uint32_t *renames(const struct trace_builder *part, enum renamed what)
{
    return (uint32_t *)(void *)part->renamed[what].at;
}

static str_id text_of(const struct trace_builder *part, str_id id)
{
    return renames(part, RENAMED_TEXT)[id];
}

static bool rename_texts(struct trace_builder *builder, struct trace_builder *part, struct err *err)
{
    struct growing *renamed = &part->renamed[RENAMED_TEXT];
    if (!trace_builder_reserve(part, renamed, part->strings.count - renamed->count,
                               sizeof(uint32_t), err))
        return false;
    for (; renamed->count < part->strings.count; renamed->count++)
        if (!strtab_intern(&builder->strings, strtab_get(&part->strings, renamed->count),
                           &renames(part, RENAMED_TEXT)[renamed->count], err))
            return false;
    return true;
}

// --- records of the sets, with their text ids translated -----------------------------------------

union any_record {
    struct launch_shape shape;
    struct collective collective;
    struct copy_call copy;
    struct op_inputs inputs;
    struct track_key track;
    struct thread_key thread;
    struct counter_key counter;
};

static void rename_record(const struct trace_builder *part, enum renamed what,
                          union any_record *record)
{
    struct collective *of = &record->collective;
    struct op_inputs *in = &record->inputs;
    switch (what) {
    case RENAMED_COLLECTIVE:
        of->name = text_of(part, of->name);
        of->dtype = text_of(part, of->dtype);
        of->group = text_of(part, of->group);
        of->group_description = text_of(part, of->group_description);
        of->group_ranks = text_of(part, of->group_ranks);
        of->in_splits = text_of(part, of->in_splits);
        of->out_splits = text_of(part, of->out_splits);
        break;
    case RENAMED_INPUTS:
        in->dims = text_of(part, in->dims);
        in->types = text_of(part, in->types);
        in->strides = text_of(part, in->strides);
        in->concrete = text_of(part, in->concrete);
        in->module = text_of(part, in->module);
        break;
    case RENAMED_TRACK:
        record->track.pid_text = text_of(part, record->track.pid_text);
        record->track.tid_text = text_of(part, record->track.tid_text);
        break;
    case RENAMED_COUNTER:
        record->counter.pid_text = text_of(part, record->counter.pid_text);
        record->counter.name = text_of(part, record->counter.name);
        record->counter.key = text_of(part, record->counter.key);
        break;
    case RENAMED_TEXT:
    case RENAMED_SHAPE:
    case RENAMED_COPY:
    case RENAMED_COUNT: break;
    }
}

static bool rename_records(struct trace_builder *part, enum renamed what, struct record_set *set,
                           const struct record_set *from, struct err *err)
{
    struct growing *renamed = &part->renamed[what];
    if (!trace_builder_reserve(part, renamed, from->count - renamed->count, sizeof(uint32_t), err))
        return false;
    for (; renamed->count < from->count; renamed->count++) {
        union any_record record;
        memcpy(&record, from->items + renamed->count * from->size, from->size);
        rename_record(part, what, &record);
        if (!record_set_add(set, &record, &renames(part, what)[renamed->count], err))
            return false;
    }
    return true;
}

static bool rename_all(struct trace_builder *builder, struct trace_builder *part, struct err *err)
{
    return rename_texts(builder, part, err) &&
           rename_records(part, RENAMED_SHAPE, &builder->shapes, &part->shapes, err) &&
           rename_records(part, RENAMED_COLLECTIVE, &builder->collectives, &part->collectives,
                          err) &&
           rename_records(part, RENAMED_COPY, &builder->copy_calls, &part->copy_calls, err) &&
           rename_records(part, RENAMED_INPUTS, &builder->op_inputs, &part->op_inputs, err) &&
           rename_records(part, RENAMED_TRACK, &builder->tracks, &part->tracks, err) &&
           rename_records(part, RENAMED_COUNTER, &builder->counters, &part->counters, err);
}

// --- arguments -----------------------------------------------------------------------------------

// Moves all elements of one table to the end of another; the part's is then empty.
static void *move_table(struct trace_builder *builder, struct growing *to, struct growing *from,
                        size_t size, struct err *err)
{
    if (!trace_builder_reserve(builder, to, from->count + 1, size, err))
        return NULL;
    char *at = to->at + to->count * size;
    if (from->count)
        memcpy(at, from->at, from->count * size);
    to->count += from->count;
    from->count = 0;
    return at;
}

static uint32_t index_of(const struct trace_builder *part, enum renamed what, uint32_t index)
{
    return index == ARGS_NONE ? ARGS_NONE : renames(part, what)[index];
}

static bool move_device_args(struct trace_builder *builder, struct trace_builder *part,
                             struct err *err)
{
    uint32_t count = part->device_args.count;
    struct device_args *args =
        move_table(builder, &builder->device_args, &part->device_args, sizeof *args, err);
    for (uint32_t i = 0; args && i < count; i++) {
        args[i].shape = renames(part, RENAMED_SHAPE)[args[i].shape];
        args[i].collective = index_of(part, RENAMED_COLLECTIVE, args[i].collective);
        args[i].order += builder->event_count;
    }
    return args != NULL;
}

// Must run before the args are moved: their ids are offset by the builder's current args.
static bool move_comms_ids(struct trace_builder *builder, struct trace_builder *part,
                           struct err *err)
{
    uint32_t count = part->comms_ids.count;
    struct comms_id *ids =
        move_table(builder, &builder->comms_ids, &part->comms_ids, sizeof *ids, err);
    for (uint32_t i = 0; ids && i < count; i++)
        ids[i].args += builder->device_args.count;
    return ids != NULL;
}

static bool move_launch_args(struct trace_builder *builder, struct trace_builder *part,
                             struct err *err)
{
    uint32_t count = part->launch_args.count;
    struct launch_args *args =
        move_table(builder, &builder->launch_args, &part->launch_args, sizeof *args, err);
    for (uint32_t i = 0; args && i < count; i++) {
        args[i].copy = index_of(part, RENAMED_COPY, args[i].copy);
        args[i].order += builder->event_count;
    }
    return args != NULL;
}

static bool move_op_args(struct trace_builder *builder, struct trace_builder *part, struct err *err)
{
    uint32_t count = part->op_args.count;
    struct op_args *args =
        move_table(builder, &builder->op_args, &part->op_args, sizeof *args, err);
    for (uint32_t i = 0; args && i < count; i++) {
        args[i].inputs = index_of(part, RENAMED_INPUTS, args[i].inputs);
        args[i].collective = index_of(part, RENAMED_COLLECTIVE, args[i].collective);
    }
    return args != NULL;
}

static bool move_memory_args(struct trace_builder *builder, struct trace_builder *part,
                             struct err *err)
{
    uint32_t count = part->memory_args.count;
    struct memory_args *args =
        move_table(builder, &builder->memory_args, &part->memory_args, sizeof *args, err);
    for (uint32_t i = 0; args && i < count; i++)
        args[i].order += builder->event_count;
    return args != NULL;
}

static bool move_counted(struct trace_builder *builder, struct trace_builder *part, struct err *err)
{
    uint32_t count = part->counted.count;
    struct counted *counted =
        move_table(builder, &builder->counted, &part->counted, sizeof *counted, err);
    for (uint32_t i = 0; counted && i < count; i++)
        counted[i].counter = renames(part, RENAMED_COUNTER)[counted[i].counter];
    return counted != NULL;
}

// --- events --------------------------------------------------------------------------------------

// Where the args of each kind of a part's events start in the builder's tables.
static void find_first_args(const struct trace_builder *builder, uint32_t *first)
{
    for (enum event_kind kind = 0; kind < EVENT_KIND_COUNT; kind++)
        first[kind] = event_kind_is_device(kind)   ? builder->device_args.count
                      : event_kind_is_launch(kind) ? builder->launch_args.count
                      : kind == EVENT_CPU_OP       ? builder->op_args.count
                                                   : builder->memory_args.count;
}

// Copies as many events, from `from` on, as are contiguous on both sides.
static uint32_t copy_run(struct trace_builder *builder, const struct trace_builder *part,
                         uint32_t from, const uint32_t *first_args)
{
    const struct column_tail *to = &builder->tail;
    uint32_t at = builder->event_count % CHUNK_EVENTS, left = part->event_count - from;
    uint32_t run = CHUNK_EVENTS - (at > from % CHUNK_EVENTS ? at : from % CHUNK_EVENTS);
    run = run < left ? run : left;
    run = run < MAX_EVENTS - builder->event_count ? run : MAX_EVENTS - builder->event_count;
    const str_id *name = column_at(part, COL_NAME, from);
    const uint8_t *kind = column_at(part, COL_KIND, from);
    const uint32_t *args = column_at(part, COL_ARGS, from);
    const uint32_t *track = column_at(part, COL_TRACK, from);
    const uint32_t *texts = renames(part, RENAMED_TEXT), *tracks = renames(part, RENAMED_TRACK);
    memcpy(to->begin_ns + at, column_at(part, COL_BEGIN, from), run * sizeof *to->begin_ns);
    memcpy(to->dur_ns + at, column_at(part, COL_DUR, from), run * sizeof *to->dur_ns);
    memcpy(to->kind + at, kind, run);
    for (uint32_t i = 0; i < run; i++) {
        to->name[at + i] = texts[name[i]];
        to->track[at + i] = tracks[track[i]];
        to->args[at + i] = args[i] == ARGS_NONE ? ARGS_NONE : args[i] + first_args[kind[i]];
    }
    return run;
}

static bool copy_events(struct trace_builder *builder, struct trace_builder *part,
                        const uint32_t *first_args, struct err *err)
{
    if (part->event_count && (builder->event_count == 0 || part->last_ns > builder->last_ns))
        builder->last_ns = part->last_ns;
    for (uint32_t from = 0; from < part->event_count;) {
        if (!trace_builder_make_room(builder, err))
            return false;
        uint32_t run = copy_run(builder, part, from, first_args);
        builder->event_count += run;
        from += run;
    }
    part->event_count = 0;
    part->last_ns = 0;
    return true;
}

// --- about the whole file ------------------------------------------------------------------------

static bool absorb_threads(struct trace_builder *builder, struct trace_builder *part,
                           struct err *err)
{
    for (; part->absorbed_threads < part->threads.count; part->absorbed_threads++) {
        uint32_t at = part->absorbed_threads;
        const struct thread_key *key = (const struct thread_key *)(void *)part->threads.items + at;
        str_id name = ((const str_id *)(void *)part->thread_names.at)[at];
        struct label pid = {key->pid, text_of(part, key->pid_text)};
        struct label tid = {key->tid, text_of(part, key->tid_text)};
        if (!trace_builder_name_thread(builder, pid, tid, text_of(part, name), err))
            return false;
    }
    return true;
}

static void absorb_counts(struct trace_builder *builder, struct trace_builder *part)
{
    for (size_t i = 0; i < REPAIR_COUNT; i++) {
        struct repair_note *to = &builder->repairs[i], *from = &part->repairs[i];
        if (to->count == 0)
            to->first_pos = from->first_pos;
        to->count += from->count;
        *from = (struct repair_note){0};
    }
    builder->input_events += part->input_events;
    builder->text_bytes += part->text_bytes;
    part->input_events = part->text_bytes = 0;
}

bool trace_builder_absorb(struct trace_builder *builder, struct trace_builder *part,
                          struct err *err)
{
    uint32_t first_args[EVENT_KIND_COUNT];
    find_first_args(builder, first_args);
    absorb_counts(builder, part);
    return rename_all(builder, part, err) && move_comms_ids(builder, part, err) &&
           move_device_args(builder, part, err) && move_launch_args(builder, part, err) &&
           move_op_args(builder, part, err) && move_memory_args(builder, part, err) &&
           move_counted(builder, part, err) && copy_events(builder, part, first_args, err) &&
           absorb_threads(builder, part, err);
}
