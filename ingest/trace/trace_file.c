// SPDX-License-Identifier: Apache-2.0
// Loads a whole trace from its file and checks every value in it.
#include "ingest/trace/trace_file.h"
#include "ingest/trace/trace_file_open.h"

#include <math.h>

struct loader {
    const struct trace_file *file;
    struct budget *budget;
    void *arrays[SECTION_OF_TIMELINE];
};

static uint64_t count_of(const struct loader *loader, enum section_id id)
{
    return trace_file_count(loader->file, id);
}

static bool get_section(struct loader *loader, enum section_id id, struct err *err)
{
    uint64_t count = count_of(loader, id);
    if (count == 0)
        return true;
    loader->arrays[id] = budget_alloc(loader->budget, count * section_element(id), err);
    return loader->arrays[id] && trace_file_section(loader->file, id, loader->arrays[id], err);
}

static void *take(struct loader *loader, enum section_id id)
{
    void *array = loader->arrays[id];
    loader->arrays[id] = NULL;
    return array;
}

static bool take_tracks(struct loader *loader, struct trace *trace, struct err *err)
{
    uint32_t count = (uint32_t)count_of(loader, SECTION_TRACKS);
    if (count == 0)
        return true;
    struct track *tracks = budget_alloc(loader->budget, count * sizeof *tracks, err);
    if (!tracks)
        return false;
    const int64_t *f = loader->arrays[SECTION_TRACKS];
    for (uint32_t i = 0; i < count; i++, f += TRACK_FIELDS)
        tracks[i] = (struct track){.family = (enum track_family)(uint8_t)f[0],
                                   .pid = {f[1], (str_id)f[2]},
                                   .tid = {f[3], (str_id)f[4]},
                                   .name = (str_id)f[5],
                                   .first = (uint32_t)f[6],
                                   .count = (uint32_t)f[7]};
    trace->tracks = tracks;
    trace->track_count = count;
    return true;
}

static bool take_strings(struct loader *loader, struct trace *trace, struct err *err)
{
    struct strtab_parts parts = {.text = take(loader, SECTION_TEXT),
                                 .text_len = count_of(loader, SECTION_TEXT),
                                 .span = take(loader, SECTION_SPANS),
                                 .count = (uint32_t)count_of(loader, SECTION_SPANS)};
    return strtab_adopt(&trace->strings, loader->budget, parts, err);
}

static void take_columns(struct loader *loader, struct trace *trace)
{
    trace->event_count = (uint32_t)count_of(loader, SECTION_BEGIN);
    trace->begin_ns = take(loader, SECTION_BEGIN);
    trace->dur_ns = take(loader, SECTION_DUR);
    trace->name = take(loader, SECTION_NAME);
    trace->kind = take(loader, SECTION_KIND);
    trace->args = take(loader, SECTION_ARGS);
    trace->device_args = take(loader, SECTION_DEVICE_ARGS);
    trace->device_args_count = (uint32_t)count_of(loader, SECTION_DEVICE_ARGS);
    trace->comms_ids = take(loader, SECTION_COMMS_IDS);
    trace->comms_id_count = (uint32_t)count_of(loader, SECTION_COMMS_IDS);
    trace->launch_args = take(loader, SECTION_LAUNCH_ARGS);
    trace->launch_args_count = (uint32_t)count_of(loader, SECTION_LAUNCH_ARGS);
    trace->op_args = take(loader, SECTION_OP_ARGS);
    trace->op_args_count = (uint32_t)count_of(loader, SECTION_OP_ARGS);
    trace->memory_args = take(loader, SECTION_MEMORY_ARGS);
    trace->memory_args_count = (uint32_t)count_of(loader, SECTION_MEMORY_ARGS);
    trace->shapes = take(loader, SECTION_SHAPES);
    trace->shape_count = (uint32_t)count_of(loader, SECTION_SHAPES);
    trace->collectives = take(loader, SECTION_COLLECTIVES);
    trace->collective_count = (uint32_t)count_of(loader, SECTION_COLLECTIVES);
    trace->copy_calls = take(loader, SECTION_COPY_CALLS);
    trace->copy_call_count = (uint32_t)count_of(loader, SECTION_COPY_CALLS);
    trace->op_inputs = take(loader, SECTION_OP_INPUTS);
    trace->op_inputs_count = (uint32_t)count_of(loader, SECTION_OP_INPUTS);
    trace->counters = take(loader, SECTION_COUNTERS);
    trace->counter_count = (uint32_t)count_of(loader, SECTION_COUNTERS);
    trace->counter_samples = take(loader, SECTION_COUNTER_SAMPLES);
    trace->counter_sample_count = (uint32_t)count_of(loader, SECTION_COUNTER_SAMPLES);
    trace->devices = take(loader, SECTION_DEVICES);
    trace->device_count = (uint32_t)count_of(loader, SECTION_DEVICES);
    trace->groups = take(loader, SECTION_GROUPS);
    trace->group_count = (uint32_t)count_of(loader, SECTION_GROUPS);
    trace->settings = take(loader, SECTION_SETTINGS);
    trace->setting_count = (uint32_t)count_of(loader, SECTION_SETTINGS);
    if (count_of(loader, SECTION_REPAIRS)) // in an older file: the repairs known at the time
        memcpy(trace->repairs, loader->arrays[SECTION_REPAIRS],
               count_of(loader, SECTION_REPAIRS) * sizeof *trace->repairs);
    if (count_of(loader, SECTION_SECRETS))
        memcpy(trace->secrets, loader->arrays[SECTION_SECRETS],
               count_of(loader, SECTION_SECRETS) * sizeof *trace->secrets);
    trace->input_events = trace_file_header(loader->file)->input_events;
    trace->text_bytes = trace_file_header(loader->file)->text_bytes;
    trace->job = trace_file_header(loader->file)->job;
}

static bool within(int64_t value, int64_t least, int64_t most)
{
    return value >= least && value <= most;
}

// A row's events must be in the order of its family, and host events must not end before they
// start.
static bool good_row(const struct trace *trace, const struct track *track)
{
    int64_t previous = -TRACE_MAX_NS;
    int64_t shortest = track->family == TRACK_DEVICE ? -2 * TRACE_MAX_NS : 0;
    for (uint32_t i = track->first; i < track->first + track->count; i++) {
        if (trace->kind[i] >= EVENT_KIND_COUNT ||
            event_kind_family((enum event_kind)trace->kind[i]) != track->family ||
            !within(trace->begin_ns[i], previous, TRACE_MAX_NS) ||
            !within(trace->dur_ns[i], shortest, 2 * TRACE_MAX_NS))
            return false;
        previous = trace->begin_ns[i];
    }
    return true;
}

static bool good_tracks(const struct trace *trace)
{
    uint32_t next = 0, texts = trace->strings.count;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct track *t = &trace->tracks[i];
        if (t->family > TRACK_OTHER || t->pid.text >= texts || t->tid.text >= texts ||
            t->name >= texts || t->first != next || t->count == 0 ||
            t->count > trace->event_count - next || !good_row(trace, t))
            return false;
        next += t->count;
    }
    return next == trace->event_count;
}

static bool good_args(const struct trace *trace, enum event_kind kind, uint32_t args)
{
    if (event_kind_is_device(kind))
        return args < trace->device_args_count;
    if (event_kind_is_launch(kind))
        return args < trace->launch_args_count;
    if (kind == EVENT_ALLOCATION)
        return args < trace->memory_args_count;
    return args == ARGS_NONE || (kind == EVENT_CPU_OP && args < trace->op_args_count);
}

static bool good_events(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->event_count; i++)
        if (trace->name[i] >= trace->strings.count ||
            !good_args(trace, (enum event_kind)trace->kind[i], trace->args[i]))
            return false;
    return true;
}

// Whether an index that may be absent is within its table.
static bool good_index(uint32_t index, uint32_t count)
{
    return index < count || index == ARGS_NONE;
}

static bool good_indices(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->device_args_count; i++)
        if (trace->device_args[i].shape >= trace->shape_count ||
            !good_index(trace->device_args[i].collective, trace->collective_count))
            return false;
    for (uint32_t i = 0; i < trace->comms_id_count; i++)
        if (trace->comms_ids[i].args >= trace->device_args_count ||
            (i > 0 && trace->comms_ids[i].args <= trace->comms_ids[i - 1].args))
            return false;
    for (uint32_t i = 0; i < trace->launch_args_count; i++)
        if (!good_index(trace->launch_args[i].copy, trace->copy_call_count))
            return false;
    for (uint32_t i = 0; i < trace->copy_call_count; i++)
        if (trace->copy_calls[i].direction >= COPY_DIRECTION_COUNT ||
            trace->copy_calls[i].bytes < 0)
            return false;
    for (uint32_t i = 0; i < trace->op_args_count; i++)
        if (!good_index(trace->op_args[i].inputs, trace->op_inputs_count) ||
            !good_index(trace->op_args[i].collective, trace->collective_count))
            return false;
    return true;
}

static bool good_texts(const struct trace *trace)
{
    uint32_t texts = trace->strings.count;
    for (uint32_t i = 0; i < trace->collective_count; i++) {
        const struct collective *c = &trace->collectives[i];
        if (c->name >= texts || c->dtype >= texts || c->group >= texts ||
            c->group_description >= texts || c->group_ranks >= texts || c->in_splits >= texts ||
            c->out_splits >= texts)
            return false;
    }
    for (uint32_t i = 0; i < trace->op_inputs_count; i++) {
        const struct op_inputs *in = &trace->op_inputs[i];
        if (in->dims >= texts || in->types >= texts || in->strides >= texts ||
            in->concrete >= texts || in->module >= texts)
            return false;
    }
    return true;
}

static bool good_facts(const struct trace *trace)
{
    uint32_t texts = trace->strings.count;
    for (uint32_t i = 0; i < trace->device_count; i++)
        if (trace->devices[i].name >= texts || trace->devices[i].address >= texts)
            return false;
    for (uint32_t i = 0; i < trace->group_count; i++) {
        const struct trace_group *group = &trace->groups[i];
        if (group->name >= texts || group->description >= texts || group->ranks >= texts ||
            (i > 0 && group->name <= trace->groups[i - 1].name))
            return false;
    }
    for (uint32_t i = 0; i < trace->setting_count; i++)
        if (trace->settings[i].key >= texts || trace->settings[i].text >= texts)
            return false;
    return true;
}

// Each counter's samples must be contiguous, in time order, and numbers.
static bool good_samples(const struct trace *trace, const struct counter *counter)
{
    int64_t previous = -TRACE_MAX_NS;
    for (uint32_t i = counter->first; i < counter->first + counter->count; i++) {
        const struct counter_sample *sample = &trace->counter_samples[i];
        if (!within(sample->time_ns, previous, TRACE_MAX_NS) || !isfinite(sample->value))
            return false;
        previous = sample->time_ns;
    }
    return true;
}

static bool good_counters(const struct trace *trace)
{
    uint32_t next = 0, texts = trace->strings.count;
    for (uint32_t i = 0; i < trace->counter_count; i++) {
        const struct counter *c = &trace->counters[i];
        if (c->pid_text >= texts || c->process >= texts || c->name >= texts || c->key >= texts ||
            c->first != next || c->count == 0 || c->count > trace->counter_sample_count - next ||
            !good_samples(trace, c))
            return false;
        next += c->count;
    }
    return next == trace->counter_sample_count;
}

static struct trace *assemble(struct loader *loader, struct err *err)
{
    struct trace *trace = budget_alloc(loader->budget, sizeof *trace, err);
    if (!trace)
        return NULL;
    *trace = (struct trace){.budget = loader->budget};
    bool ok = take_tracks(loader, trace, err) && take_strings(loader, trace, err);
    if (ok) {
        take_columns(loader, trace);
        ok = (good_tracks(trace) && good_events(trace) && good_indices(trace) &&
              good_texts(trace) && good_facts(trace) && good_counters(trace)) ||
             trace_file_damaged(loader->file, "a value is out of bounds", err);
    }
    if (!ok) {
        trace_free(trace);
        return NULL;
    }
    return trace;
}

// Data that only the timeline reads must unpack, too: a file damaged there has to be rebuilt.
static bool check_timeline(struct loader *loader, struct err *err)
{
    const size_t size = COLUMN_BLOCK * sizeof(struct level_entry); // the largest element
    void *room = budget_alloc(loader->budget, size, err);
    bool ok = room;
    for (enum section_id id = SECTION_OF_TIMELINE; ok && id < SECTION_COUNT; id++)
        for (uint64_t block = 0; ok && trace_file_block_count(loader->file, id, block); block++)
            ok = trace_file_block(loader->file, id, block, room, err);
    budget_free(loader->budget, room, size);
    return ok;
}

static struct trace *load(struct loader *loader, struct err *err)
{
    for (enum section_id id = 0; id < SECTION_OF_TIMELINE; id++)
        if (!get_section(loader, id, err))
            return NULL;
    return check_timeline(loader, err) ? assemble(loader, err) : NULL;
}

static struct trace *load_and_close(struct trace_file *file, struct budget *budget, struct err *err)
{
    if (!file)
        return NULL;
    struct loader loader = {.file = file, .budget = budget};
    struct trace *trace = load(&loader, err);
    for (enum section_id id = 0; id < SECTION_OF_TIMELINE; id++)
        budget_free(budget, loader.arrays[id], count_of(&loader, id) * section_element(id));
    trace_file_close(file);
    return trace;
}

struct trace *trace_file_load(const char *path, struct budget *budget, struct err *err)
{
    return load_and_close(trace_file_open(path, err), budget, err);
}

struct trace *trace_file_load_fd(int fd, const char *name, struct budget *budget, struct err *err)
{
    return load_and_close(trace_file_open_fd(fd, name, err), budget, err);
}
