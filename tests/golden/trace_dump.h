// SPDX-License-Identifier: Apache-2.0
// Reads a trace from memory and writes it as text that people can review and tests can compare.
#ifndef TESTS_GOLDEN_TRACE_DUMP_H
#define TESTS_GOLDEN_TRACE_DUMP_H

#include "ingest/base/buf.h"
#include "ingest/source/format.h"
#include "ingest/trace/trace_builder.h"
#include "ingest/kineto/format_kineto.h"
#include "ingest/source/source.h"

#include <inttypes.h>

// Reads bytes as a trace on this thread, `step` at a time (0: all at once). On NULL, *err is set.
static inline struct trace *dump_read(struct str bytes, size_t step, struct budget *budget,
                                      struct err *err)
{
    struct str head = {bytes.at, bytes.len < FORMAT_HEAD_BYTES ? bytes.len : FORMAT_HEAD_BYTES};
    const struct format *format = format_of_trace(head, (struct str){"", 0}, err);
    struct source *source = format ? source_mem_open(bytes.at, bytes.len, step, err) : NULL;
    struct trace_builder *builder = source ? trace_builder_new(budget, err) : NULL;
    struct format_input input = {
        .source = source, .head = head, .builder = builder, .budget = budget};
    bool ok = builder && format->read(&input, err);
    source_close(source);
    if (ok)
        return trace_builder_seal(builder, err);
    trace_builder_free(builder);
    return NULL;
}

// Same with one matching variant; NULL: every event member by member.
static inline struct trace *dump_read_by(const struct kineto_match *match, struct str bytes,
                                         struct budget *budget, struct err *err)
{
    struct str head = {bytes.at, bytes.len < FORMAT_HEAD_BYTES ? bytes.len : FORMAT_HEAD_BYTES};
    struct source *source = source_mem_open(bytes.at, bytes.len, 0, err);
    struct trace_builder *builder = source ? trace_builder_new(budget, err) : NULL;
    struct format_input input = {
        .source = source, .head = head, .builder = builder, .budget = budget};
    bool ok = builder && kineto_read_by(match, &input, err);
    source_close(source);
    if (ok)
        return trace_builder_seal(builder, err);
    trace_builder_free(builder);
    return NULL;
}

static inline void dump_text(struct buf *out, const char *before, struct str text)
{
    buf_puts(out, before);
    buf_json(out, text);
}

static inline void dump_id(struct buf *out, const struct trace *trace, const char *what, str_id id)
{
    if (id)
        dump_text(out, what, trace_text(trace, id));
}

static inline void dump_number(struct buf *out, const char *what, int64_t value)
{
    if (value != VALUE_ABSENT && value != -1)
        buf_printf(out, "%s%" PRId64, what, value);
}

// Same for values that may be negative.
static inline void dump_signed(struct buf *out, const char *what, int64_t value)
{
    if (value != VALUE_ABSENT)
        buf_printf(out, "%s%" PRId64, what, value);
}

static inline void dump_label(struct buf *out, const struct trace *trace, const char *what,
                              struct label label)
{
    if (label.text)
        dump_id(out, trace, what, label.text);
    else if (label.number == VALUE_ABSENT)
        buf_printf(out, "%s?", what);
    else
        buf_printf(out, "%s%" PRId64, what, label.number);
}

static inline void dump_triple(struct buf *out, const char *what, const int32_t triple[3])
{
    if (triple[0] || triple[1] || triple[2])
        buf_printf(out, "%s%d,%d,%d", what, triple[0], triple[1], triple[2]);
}

static inline void dump_collective(struct buf *out, const struct trace *trace,
                                   const struct collective *collective)
{
    dump_id(out, trace, " collective ", collective->name);
    dump_id(out, trace, " dtype ", collective->dtype);
    dump_id(out, trace, " group ", collective->group);
    dump_id(out, trace, " described ", collective->group_description);
    dump_id(out, trace, " ranks ", collective->group_ranks);
    dump_number(out, " in ", collective->in_elems);
    dump_number(out, " out ", collective->out_elems);
    dump_number(out, " size ", collective->group_size);
    dump_number(out, " start ", collective->rank_start);
    dump_number(out, " stride ", collective->rank_stride);
    dump_number(out, " peer ", collective->peer);
    dump_number(out, " peer-in-group ", collective->peer_in_group);
    dump_id(out, trace, " in-splits ", collective->in_splits);
    dump_id(out, trace, " out-splits ", collective->out_splits);
}

static inline void dump_device_args(struct buf *out, const struct trace *trace, uint32_t at)
{
    const struct device_args *args = &trace->device_args[at];
    uint32_t comms_id = trace_comms_id(trace, at);
    const struct launch_shape *shape = &trace->shapes[args->shape];
    dump_number(out, " correlation ", args->correlation);
    dump_triple(out, " grid ", shape->grid);
    dump_triple(out, " block ", shape->block);
    dump_number(out, " registers ", shape->registers);
    dump_number(out, " occupancy ", shape->occupancy_percent);
    dump_number(out, " shared ", shape->shared_bytes);
    dump_number(out, " bytes ", shape->bytes);
    if (args->collective != ARGS_NONE)
        dump_collective(out, trace, &trace->collectives[args->collective]);
    if (args->sequence != ARGS_NONE)
        buf_printf(out, " sequence %" PRIu32, args->sequence);
    if (comms_id)
        buf_printf(out, " comms-id %" PRIu32, comms_id);
    buf_printf(out, " order %" PRIu32, args->order);
}

static inline void dump_launch_args(struct buf *out, const struct trace *trace,
                                    const struct launch_args *args)
{
    static const char *const directions[COPY_DIRECTION_COUNT] = {"",     "HtoD", "DtoH",  "DtoD",
                                                                 "HtoH", "PtoP", "memset"};
    dump_number(out, " correlation ", args->correlation);
    if (args->copy != ARGS_NONE) {
        const struct copy_call *copy = &trace->copy_calls[args->copy];
        buf_printf(out, " copies %" PRId64 " %s", copy->bytes, directions[copy->direction]);
    }
    buf_printf(out, " order %" PRIu32, args->order);
}

static inline void dump_op_args(struct buf *out, const struct trace *trace,
                                const struct op_args *args)
{
    dump_signed(out, " sequence ", args->sequence);
    if (args->collective != ARGS_NONE)
        dump_collective(out, trace, &trace->collectives[args->collective]);
    if (args->inputs == ARGS_NONE)
        return;
    const struct op_inputs *inputs = &trace->op_inputs[args->inputs];
    dump_id(out, trace, " dims ", inputs->dims);
    dump_id(out, trace, " types ", inputs->types);
    dump_id(out, trace, " strides ", inputs->strides);
    dump_id(out, trace, " concrete ", inputs->concrete);
    dump_id(out, trace, " module ", inputs->module);
}

static inline void dump_memory_args(struct buf *out, const struct memory_args *args)
{
    dump_signed(out, " address ", args->address);
    dump_signed(out, " bytes ", args->bytes);
    dump_signed(out, " allocated ", args->allocated);
    dump_signed(out, " reserved ", args->reserved);
    dump_number(out, " device-type ", args->device_type);
    dump_number(out, " device ", args->device);
    buf_printf(out, " order %" PRIu32, args->order);
}

// What is kept for this kind of event besides name, time and place.
static inline void dump_args(struct buf *out, const struct trace *trace, uint32_t event)
{
    enum event_kind kind = (enum event_kind)trace->kind[event];
    uint32_t at = trace->args[event];
    if (event_kind_is_device(kind)) {
        dump_device_args(out, trace, at);
    } else if (event_kind_is_launch(kind)) {
        dump_launch_args(out, trace, &trace->launch_args[at]);
    } else if (kind == EVENT_ALLOCATION) {
        dump_memory_args(out, &trace->memory_args[at]);
    } else if (kind == EVENT_CPU_OP && at != ARGS_NONE) {
        dump_op_args(out, trace, &trace->op_args[at]);
    }
}

static inline void dump_event(struct buf *out, const struct trace *trace, uint32_t event)
{
    static const char *const words[EVENT_KIND_COUNT] = {
        "other",    "cpu-op",     "annotation", "python",         "runtime", "driver",
        "kernel",   "memcpy",     "memset",     "gpu-annotation", "sync",    "cuda-event",
        "overhead", "allocation", "graph",      "os-call"};
    buf_printf(out, "  %" PRId64 " +%" PRId64 " %s", trace->begin_ns[event], trace->dur_ns[event],
               words[trace->kind[event]]);
    dump_text(out, " ", trace_text(trace, trace->name[event]));
    dump_args(out, trace, event);
    buf_putc(out, '\n');
}

// Rows with their events, and nothing else.
static inline void dump_events(struct buf *out, const struct trace *trace)
{
    static const char *const words[] = {"host", "python", "device", "device-note", "other"};
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct track *track = &trace->tracks[i];
        buf_printf(out, "track %s", words[track->family]);
        dump_label(out, trace, " pid ", track->pid);
        dump_label(out, trace, " tid ", track->tid);
        dump_id(out, trace, " name ", track->name);
        buf_printf(out, " events %" PRIu32 "\n", track->count);
        for (uint32_t event = track->first; event < track->first + track->count; event++)
            dump_event(out, trace, event);
    }
}

// Counters with their samples.
static inline void dump_counters(struct buf *out, const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->counter_count; i++) {
        const struct counter *counter = &trace->counters[i];
        struct label pid = {counter->pid, counter->pid_text};
        buf_puts(out, "counter");
        dump_label(out, trace, " pid ", pid);
        dump_id(out, trace, " process ", counter->process);
        dump_text(out, " ", trace_text(trace, counter->name));
        dump_text(out, " ", trace_text(trace, counter->key));
        buf_putc(out, '\n');
        for (uint32_t k = counter->first; k < counter->first + counter->count; k++) {
            buf_printf(out, "  %" PRId64 " ", trace->counter_samples[k].time_ns);
            buf_f64(out, trace->counter_samples[k].value);
            buf_putc(out, '\n');
        }
    }
}

// What the recording says about the job.
static inline void dump_facts(struct buf *out, const struct trace *trace)
{
    const struct trace_job *job = &trace->job;
    bool given = job->rank != VALUE_ABSENT || job->world_size != VALUE_ABSENT || job->base_ns;
    buf_puts(out, given ? "job" : "");
    dump_signed(out, " rank ", job->rank);
    dump_signed(out, " of ", job->world_size);
    dump_signed(out, " base ", job->base_ns ? job->base_ns : VALUE_ABSENT);
    buf_puts(out, given ? "\n" : "");
    for (uint32_t i = 0; i < trace->device_count; i++) {
        const struct trace_device *device = &trace->devices[i];
        dump_text(out, "device ", trace_text(trace, device->name));
        dump_signed(out, " id ", device->id);
        dump_signed(out, " memory ", device->memory_bytes);
        dump_signed(out, " multiprocessors ", device->multiprocessors);
        dump_signed(out, " major ", device->compute_major);
        dump_signed(out, " minor ", device->compute_minor);
        buf_putc(out, '\n');
    }
    for (uint32_t i = 0; i < trace->group_count; i++) {
        const struct trace_group *group = &trace->groups[i];
        dump_text(out, "group ", trace_text(trace, group->name));
        dump_text(out, " ", trace_text(trace, group->description));
        dump_text(out, " ", trace_text(trace, group->ranks));
        dump_signed(out, " size ", group->size);
        buf_putc(out, '\n');
    }
    for (uint32_t i = 0; i < trace->setting_count; i++) {
        const struct trace_setting *setting = &trace->settings[i];
        dump_text(out, "setting ", trace_text(trace, setting->key));
        if (setting->unread)
            buf_puts(out, " not read");
        else
            dump_text(out, " ", trace_text(trace, setting->text));
        dump_signed(out, " is ", setting->number);
        buf_putc(out, '\n');
    }
}

static inline void dump_trace(struct buf *out, const struct trace *trace)
{
    buf_printf(out, "text %" PRIu64 " bytes, items %" PRIu64 ", events %" PRIu32 "\n",
               trace->text_bytes, trace->input_events, trace->event_count);
    dump_facts(out, trace);
    dump_events(out, trace);
    dump_counters(out, trace);
    for (enum repair repair = 0; repair < REPAIR_COUNT; repair++) {
        const struct repair_note *note = &trace->repairs[repair];
        if (note->count)
            buf_printf(out, "repair %s: %" PRIu64, repair_word(repair), note->count);
        if (note->count && note->first_pos != ERR_NO_POS)
            buf_printf(out, ", first at byte %" PRIu64, note->first_pos);
        buf_puts(out, note->count ? "\n" : "");
    }
}

// Same for the result of reading, a trace or an error; the trace is freed.
static inline void dump_result(struct buf *out, struct trace *trace, const struct err *err)
{
    if (trace) {
        dump_trace(out, trace);
    } else {
        buf_printf(out, "error %s", err_code_word(err->code));
        if (err->pos != ERR_NO_POS)
            buf_printf(out, " at byte %" PRIu64, err->pos);
        buf_printf(out, ": %s\n", err->msg);
    }
    trace_free(trace);
}

// The result of reading any bytes.
static inline void dump_bytes(struct buf *out, struct str bytes, size_t step, struct budget *budget)
{
    struct err err = {0};
    dump_result(out, dump_read(bytes, step, budget, &err), &err);
}

// What every sealed trace promises; returns the broken promise or NULL.
static inline const char *dump_broken_promise(const struct trace *trace)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct track *track = &trace->tracks[i];
        if (track->first != next || track->count == 0)
            return "tracks do not follow one another";
        next += track->count;
        for (uint32_t e = track->first; e < next; e++) {
            if (event_kind_family((enum event_kind)trace->kind[e]) != track->family)
                return "an event lies on a track of another family";
            if (e > track->first && trace->begin_ns[e] < trace->begin_ns[e - 1])
                return "events are out of order";
            if (track->family != TRACK_DEVICE && trace->dur_ns[e] < 0)
                return "a host event has a negative duration";
        }
    }
    return next == trace->event_count ? NULL : "tracks do not cover all events";
}

#endif
