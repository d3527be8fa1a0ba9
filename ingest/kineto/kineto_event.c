// SPDX-License-Identifier: Apache-2.0
// Adds an event's fields to the trace, or counts why not.
#include "ingest/kineto/kineto_event.h"
#include "ingest/base/hash.h"
#include "ingest/json/json_number.h"
#include "ingest/kineto/merged_ranks.h"
#include "ingest/trace/event_record.h"
#include "ingest/trace/trace_text.h"

#include <ctype.h>

// Longer than any recording: the clock jumped, or the unit is wrong.
#define MAX_HOST_NS (INT64_C(86400) * 1000000000)

void kineto_events_init(struct kineto_events *events, struct trace_builder *builder,
                        struct budget *budget)
{
    *events = (struct kineto_events){.builder = builder, .rank = VALUE_ABSENT};
    open_begins_init(&events->begins, budget);
}

void kineto_events_free(struct kineto_events *events)
{
    open_begins_free(&events->begins);
    buf_free(&events->scratch);
}

// Interns a raw text with its escapes resolved; counts repairs.
static bool intern_raw(struct kineto_events *events, struct str raw, uint64_t pos, str_id *id,
                       struct err *err)
{
    struct strtab *strings = trace_builder_strings(events->builder);
    if (raw.len > TRACE_MAX_TEXT) {
        raw.len = trace_text_cut(raw);
        trace_builder_repair(events->builder, REPAIR_LONG_TEXT, pos);
    }
    if (json_text_is_plain(raw))
        return strtab_intern_outside(strings, raw, id, err);
    buf_clear(&events->scratch);
    if (!json_text_decode(raw, &events->scratch))
        trace_builder_repair(events->builder, REPAIR_TEXT, pos);
    if (!buf_ok(&events->scratch, err))
        return false;
    return strtab_intern_outside(strings, (struct str){events->scratch.at, events->scratch.len}, id,
                                 err);
}

static bool note(struct kineto_events *events, enum event_field field, str_id id)
{
    if (events->fields.asked >> field & 1)
        text_guess_note(events->guess, field, id);
    return true;
}

static bool intern_field(struct kineto_events *events, enum event_field field, uint64_t pos,
                         str_id *id, struct err *err)
{
    const struct event_fields *fields = &events->fields;
    *id = 0;
    if (!event_has(fields, field))
        return true;
    if (event_is_known(fields, field)) {
        *id = fields->value[field].id;
        return true;
    }
    struct str text = fields->value[field].text;
    bool plain = fields->plain >> field & 1 && text.len <= TRACE_MAX_TEXT;
    if (!plain)
        return intern_raw(events, text, pos, id, err);
    return strtab_intern_outside(trace_builder_strings(events->builder), text, id, err) &&
           note(events, field, *id);
}

static struct str field_text(const struct kineto_events *events, enum event_field field)
{
    const struct event_fields *fields = &events->fields;
    if (event_is_known(fields, field))
        return strtab_get(trace_builder_strings(events->builder), fields->value[field].id);
    return fields->value[field].text;
}

// Processes, threads, devices and streams are numbers, quoted numbers or texts.
static bool label_of(struct kineto_events *events, enum event_field field, uint64_t pos,
                     struct label *label, struct err *err)
{
    const struct event_fields *fields = &events->fields;
    *label = (struct label){VALUE_ABSENT, 0};
    if (!event_has(fields, field))
        return true;
    if (event_is_numeric(fields, field)) {
        label->number = fields->value[field].number;
        return true;
    }
    return (!event_is_known(fields, field) &&
            str_to_i64(fields->value[field].text, &label->number)) ||
           intern_field(events, field, pos, &label->text, err);
}

static int64_t integer_of(const struct event_fields *fields, enum event_field field)
{
    int64_t number;
    if (!event_has(fields, field))
        return VALUE_ABSENT;
    if (event_is_numeric(fields, field))
        return fields->value[field].number;
    return json_to_i64(fields->value[field].text, &number) ? number : VALUE_ABSENT;
}

// A number of bytes, elements or members: negative means not given.
static int64_t count_of(const struct event_fields *fields, enum event_field field)
{
    int64_t number = integer_of(fields, field);
    return number >= 0 ? number : VALUE_ABSENT;
}

static int32_t small_of(const struct event_fields *fields, enum event_field field)
{
    int64_t number = integer_of(fields, field);
    return number >= 0 && number <= INT32_MAX ? (int32_t)number : -1;
}

// Exceeds an int64_t, may be a number or a text, and only serves to tell which calls belong
// together.
static uint32_t comms_id_of(const struct event_fields *fields)
{
    struct str text = event_has(fields, ARG_COMMS_ID) ? fields->value[ARG_COMMS_ID].text : STR("");
    if (!text.len)
        return 0;
    uint32_t id = (uint32_t)hash_bytes(text.at, text.len);
    return id ? id : 1;
}

// Of a launch shape.
static int32_t extent_of(const struct event_fields *fields, enum event_field field)
{
    int32_t number = small_of(fields, field);
    return number > 0 ? number : 0;
}

// For other collectives "Rank" is the root or the rank itself.
static void peers_of(const struct event_fields *fields, struct str name,
                     struct collective *collective)
{
    bool sends = str_starts_with(name, STR("send")), receives = str_starts_with(name, STR("recv"));
    collective->peer = sends      ? integer_of(fields, ARG_TARGET_RANK)
                       : receives ? integer_of(fields, ARG_SOURCE_RANK)
                                  : VALUE_ABSENT;
    collective->peer_in_group =
        sends || receives ? integer_of(fields, ARG_RANK_IN_GROUP) : VALUE_ABSENT;
}

static bool collective_of(struct kineto_events *events, uint64_t pos, struct collective *collective,
                          struct err *err)
{
    *collective = (struct collective){.in_elems = count_of(&events->fields, ARG_IN_ELEMS),
                                      .out_elems = count_of(&events->fields, ARG_OUT_ELEMS),
                                      .group_size = count_of(&events->fields, ARG_GROUP_SIZE),
                                      .rank_start = integer_of(&events->fields, ARG_RANK_START),
                                      .rank_stride = integer_of(&events->fields, ARG_RANK_STRIDE)};
    if (!intern_field(events, ARG_COLLECTIVE, pos, &collective->name, err))
        return false;
    struct strtab *strings = trace_builder_strings(events->builder);
    peers_of(&events->fields, strtab_get(strings, collective->name), collective);
    if (!intern_field(events, ARG_DTYPE, pos, &collective->dtype, err) ||
        !intern_field(events, ARG_GROUP, pos, &collective->group, err) ||
        !intern_field(events, ARG_GROUP_DESCRIPTION, pos, &collective->group_description, err) ||
        !intern_field(events, ARG_GROUP_RANKS, pos, &collective->group_ranks, err) ||
        !intern_field(events, ARG_IN_SPLITS, pos, &collective->in_splits, err) ||
        !intern_field(events, ARG_OUT_SPLITS, pos, &collective->out_splits, err))
        return false;
    // A group without a name is known by its ranks; "[]" says nothing.
    if (!collective->group && strtab_get(strings, collective->group_ranks).len > 2)
        collective->group = collective->group_ranks;
    return true;
}

static bool fill_collective(struct kineto_events *events, uint64_t pos, struct event_record *record,
                            struct err *err)
{
    record->collective.name = 0;
    return !event_has(&events->fields, ARG_COLLECTIVE) ||
           collective_of(events, pos, &record->collective, err);
}

// The processes of merged ranks, "[TP00] 4321" and "[TP00] 0", number their launches and devices
// each from the start.
static struct str rank_prefix(const struct kineto_events *events, const struct label *pid)
{
    if (!pid->text)
        return STR("");
    struct str label, text = strtab_get(trace_builder_strings(events->builder), pid->text);
    return merged_rank_label(text, &label) ? label : STR("");
}

// Correlations have 32 bits: those of merged ranks differ above.
static int64_t correlation_of(const struct kineto_events *events, const struct label *pid)
{
    int64_t correlation = integer_of(&events->fields, ARG_CORRELATION);
    struct str rank = rank_prefix(events, pid);
    if (!rank.len || correlation == VALUE_ABSENT)
        return correlation;
    return correlation ^ (int64_t)(hash_bytes(rank.at, rank.len) >> 33 << 32);
}

// Exporters may move the events of a graph to another stream, where they overlap; where they ran is
// given beside it.
static bool stream_of(struct kineto_events *events, uint64_t pos, struct label *stream,
                      struct err *err)
{
    enum event_field field =
        event_has(&events->fields, ARG_ORIGINAL_STREAM) ? ARG_ORIGINAL_STREAM : ARG_STREAM;
    return !event_has(&events->fields, field) || label_of(events, field, pos, stream, err);
}

// A device event is on the device and stream named in its args, if any; that of a merged rank on
// the rank's own.
static bool fill_device(struct kineto_events *events, uint64_t pos, struct event_record *record,
                        struct err *err)
{
    const struct event_fields *fields = &events->fields;
    if (event_has(fields, ARG_DEVICE) && !rank_prefix(events, &record->pid).len &&
        !label_of(events, ARG_DEVICE, pos, &record->pid, err))
        return false;
    if (!stream_of(events, pos, &record->tid, err))
        return false;
    record->shape = (struct launch_shape){.registers = small_of(fields, ARG_REGISTERS),
                                          .occupancy_percent = small_of(fields, ARG_OCCUPANCY),
                                          .shared_bytes = count_of(fields, ARG_SHARED_BYTES),
                                          .bytes = count_of(fields, ARG_BYTES)};
    for (unsigned i = 0; i < 3; i++) {
        record->shape.grid[i] = extent_of(fields, ARG_GRID + i);
        record->shape.block[i] = extent_of(fields, ARG_BLOCK + i);
    }
    record->sequence = integer_of(fields, ARG_COLLECTIVE_SEQUENCE);
    record->comms_id = comms_id_of(fields);
    return fill_collective(events, pos, record, err);
}

// Since 2026 Kineto shows the host's waits for a stream on a separate row, this far from the
// stream's own; their args name the stream.
#define SYNC_ROWS 1000000

// A wait belongs to the stream named in its args, or else to the one whose row it is on; -1, for
// waits on all streams, also occurs as 2^32 - 1.
static void fill_sync(const struct event_fields *fields, struct event_record *record)
{
    int64_t stream = integer_of(fields, ARG_STREAM);
    if (stream >= 0 && stream < UINT32_MAX)
        record->tid = (struct label){stream, 0};
    else if (stream == VALUE_ABSENT && !record->tid.text && record->tid.number >= SYNC_ROWS)
        record->tid.number -= SYNC_ROWS;
}

// A list as raw text; one that is too long to keep counts as not given.
static bool intern_list(struct kineto_events *events, enum event_field field, uint64_t pos,
                        str_id *id, struct err *err)
{
    *id = 0;
    const struct event_fields *fields = &events->fields;
    if (!event_has(fields, field))
        return true;
    if (event_is_known(fields, field)) {
        *id = fields->value[field].id;
        return true;
    }
    struct str text = fields->value[field].text;
    if (text.len > TRACE_MAX_TEXT) {
        trace_builder_repair(events->builder, REPAIR_LONG_TEXT, pos);
        return true;
    }
    return strtab_intern_outside(trace_builder_strings(events->builder), text, id, err) &&
           note(events, field, *id);
}

#define RANKS_DIFFER (-1)

void kineto_events_note_rank(struct kineto_events *events, int64_t rank)
{
    if (rank != VALUE_ABSENT)
        events->rank = events->rank == VALUE_ABSENT || events->rank == rank ? rank : RANKS_DIFFER;
}

// "Rank" is the process's own in collectives without a root or a peer, but within the group: only
// in one of the ranks from 0 on is it that of the job.
static void note_rank(struct kineto_events *events, const struct collective *collective)
{
    static const char *const symmetric[] = {"all", "_all", "reduce_scatter", "_reduce_scatter"};
    struct str name = strtab_get(trace_builder_strings(events->builder), collective->name);
    int64_t rank = integer_of(&events->fields, ARG_RANK_IN_GROUP);
    if (collective->rank_start != 0 || collective->rank_stride != 1 || rank < 0 ||
        rank >= collective->group_size)
        return;
    for (size_t i = 0; i < sizeof symmetric / sizeof *symmetric; i++)
        if (str_starts_with(name, str_of(symmetric[i])))
            kineto_events_note_rank(events, rank);
}

static bool fill_op(struct kineto_events *events, uint64_t pos, struct event_record *record,
                    struct err *err)
{
    record->sequence = integer_of(&events->fields, ARG_SEQUENCE);
    return intern_list(events, ARG_DIMS, pos, &record->inputs.dims, err) &&
           intern_list(events, ARG_TYPES, pos, &record->inputs.types, err) &&
           intern_list(events, ARG_STRIDES, pos, &record->inputs.strides, err) &&
           intern_list(events, ARG_CONCRETE, pos, &record->inputs.concrete, err) &&
           intern_field(events, ARG_MODULE, pos, &record->inputs.module, err) &&
           fill_collective(events, pos, record, err);
}

static void fill_memory(const struct event_fields *fields, struct event_record *record)
{
    record->memory = (struct memory_args){.address = integer_of(fields, ARG_ADDRESS),
                                          .bytes = integer_of(fields, ARG_ALLOCATION_BYTES),
                                          .allocated = integer_of(fields, ARG_ALLOCATED),
                                          .reserved = integer_of(fields, ARG_RESERVED),
                                          .device_type = small_of(fields, ARG_DEVICE_TYPE),
                                          .device = small_of(fields, ARG_DEVICE_INDEX)};
}

// HIP calls give the direction as a number, and before ROCm 6 the size as "size".
static struct copy_call copy_of(const struct event_fields *fields)
{
    static const enum copy_direction directions[] = {COPY_HTOH, COPY_HTOD, COPY_DTOH, COPY_DTOD};
    struct copy_call copy = {0};
    int64_t number = integer_of(fields, ARG_KIND);
    if (number == VALUE_ABSENT)
        return copy;
    if (number >= 0 && number < (int64_t)(sizeof directions / sizeof *directions))
        copy.direction = directions[number];
    int64_t bytes = integer_of(fields, event_has(fields, ARG_BYTES) ? ARG_BYTES : ARG_SIZE);
    copy.bytes = bytes > 0 ? bytes : 0;
    return copy;
}

// What is kept for this kind of event besides name, time and place.
static bool fill_args(struct kineto_events *events, uint64_t pos, struct event_record *record,
                      struct err *err)
{
    if (event_kind_is_device(record->kind) || event_kind_is_launch(record->kind))
        record->correlation = correlation_of(events, &record->pid);
    if (event_kind_is_launch(record->kind))
        record->copy = copy_of(&events->fields);
    if (event_kind_is_device(record->kind))
        return fill_device(events, pos, record, err);
    if (record->kind == EVENT_CPU_OP && !fill_op(events, pos, record, err))
        return false;
    if (record->kind == EVENT_CPU_OP && record->collective.name)
        note_rank(events, &record->collective);
    if (record->kind == EVENT_ALLOCATION)
        fill_memory(&events->fields, record);
    if (record->kind == EVENT_SYNC)
        fill_sync(&events->fields, record);
    return true;
}

// Numbers that took the fast path are never that far.
static bool is_far(int64_t ns)
{
    return ns >= TRACE_MAX_NS || ns <= -TRACE_MAX_NS;
}

static bool time_of(const struct event_fields *fields, enum event_field field, int64_t *ns)
{
    if (!event_has(fields, field))
        return false;
    if (!event_is_numeric(fields, field))
        return json_us_to_ns(fields->value[field].text, TRACE_MAX_NS, ns);
    *ns = fields->value[field].number;
    return true;
}

// Times that far are counted from the first of them, from a point beyond any recording: a broken
// clock's events stay apart from all others.
static int64_t place_far(struct kineto_events *events, int64_t us, int64_t part_ns, uint64_t pos)
{
    const int64_t most_us = TRACE_FAR_REACH_NS / 1000;
    int64_t from_us;
    if (events->far_us == 0)
        events->far_us = us;
    bool apart = __builtin_sub_overflow(us, events->far_us, &from_us) || from_us > most_us ||
                 from_us < -most_us;
    if (apart)
        from_us = us < events->far_us ? -most_us : most_us;
    trace_builder_repair(events->builder, apart ? REPAIR_BAD_NUMBER : REPAIR_FAR_TIME, pos);
    return TRACE_FAR_NS + from_us * 1000 + part_ns;
}

// When the event starts, or ends.
static bool moment_of(struct kineto_events *events, uint64_t pos, int64_t *ns)
{
    const struct event_fields *fields = &events->fields;
    if (!time_of(fields, FIELD_TS, ns))
        return false;
    int64_t us, part_ns;
    if (is_far(*ns) && json_us_parts(fields->value[FIELD_TS].text, &us, &part_ns))
        *ns = place_far(events, us, part_ns, pos);
    return true;
}

bool kineto_event_is_far(const struct event_fields *fields)
{
    int64_t ns;
    return time_of(fields, FIELD_TS, &ns) && is_far(ns);
}

// The analyses judge those of device events.
static void check_duration(struct kineto_events *events, uint64_t pos, struct event_record *record)
{
    bool negative = record->dur_ns < 0;
    if ((!negative && record->dur_ns <= MAX_HOST_NS) || event_kind_is_device(record->kind))
        return;
    trace_builder_repair(events->builder,
                         negative ? REPAIR_NEGATIVE_DURATION : REPAIR_LONG_DURATION, pos);
    record->dur_ns = 0;
}

// An event's times; counts why it has none. A missing duration is taken as 0 where durations are
// not summed.
static bool times_of(struct kineto_events *events, uint64_t pos, struct event_record *record)
{
    const struct event_fields *fields = &events->fields;
    bool summed = event_kind_is_timed(fields->kind);
    bool begins = moment_of(events, pos, &record->begin_ns);
    bool lasts = time_of(fields, FIELD_DUR, &record->dur_ns);
    if (begins != event_has(fields, FIELD_TS) || lasts != event_has(fields, FIELD_DUR))
        trace_builder_repair(events->builder, REPAIR_BAD_NUMBER, pos);
    if (!event_has(fields, FIELD_NAME) || !begins || (summed && !lasts)) {
        trace_builder_repair(events->builder, summed ? REPAIR_INCOMPLETE : REPAIR_INCOMPLETE_OTHER,
                             pos);
        return false;
    }
    if (!lasts) {
        trace_builder_repair(events->builder, REPAIR_NO_DURATION, pos);
        record->dur_ns = 0;
    }
    check_duration(events, pos, record);
    return true;
}

// Fills in what every event has, provided that it came as numbers and a known name: then there is
// nothing to check or count.
static inline bool fill_known(const struct event_fields *fields, struct event_record *record)
{
    const uint64_t numbers = UINT64_C(1) << FIELD_TS | UINT64_C(1) << FIELD_DUR |
                             UINT64_C(1) << FIELD_PID | UINT64_C(1) << FIELD_TID;
    if ((fields->numeric & numbers) != numbers || !event_is_known(fields, FIELD_NAME) ||
        fields->value[FIELD_DUR].number > MAX_HOST_NS)
        return false;
    record->name = fields->value[FIELD_NAME].id;
    record->begin_ns = fields->value[FIELD_TS].number;
    record->dur_ns = fields->value[FIELD_DUR].number;
    record->pid = (struct label){fields->value[FIELD_PID].number, 0};
    record->tid = (struct label){fields->value[FIELD_TID].number, 0};
    return true;
}

static bool fill_place(struct kineto_events *events, uint64_t pos, struct event_record *record,
                       struct err *err)
{
    return intern_field(events, FIELD_NAME, pos, &record->name, err) &&
           label_of(events, FIELD_PID, pos, &record->pid, err) &&
           label_of(events, FIELD_TID, pos, &record->tid, err);
}

// PyTorch to 1.10 and torch_npu record the marks of steps as operators.
static inline enum event_kind kind_of(const struct kineto_events *events, str_id name)
{
    enum event_kind kind = events->fields.kind;
    if (kind != EVENT_CPU_OP)
        return kind;
    struct str text = strtab_get(trace_builder_strings(events->builder), name);
    return str_starts_with(text, STR("ProfilerStep#")) ? EVENT_ANNOTATION : kind;
}

static void put_capital(struct buf *name, struct str word)
{
    if (word.len == 0)
        return;
    buf_putc(name, (char)toupper((unsigned char)*word.at));
    buf_add(name, word.at + 1, word.len - 1);
}

// What some exporters only call "Memcpy" is named as by Kineto, "Memcpy HtoD (Pageable -> Device)":
// analyses read directions and kinds of memory in names.
static bool name_copy(struct kineto_events *events, uint64_t pos, str_id *name, struct err *err)
{
    static const enum event_field ends[] = {ARG_COPY_SOURCE, ARG_COPY_TARGET};
    struct str plain = strtab_get(trace_builder_strings(events->builder), *name);
    if (!event_has(&events->fields, ARG_COPY_KIND) || !str_equal(plain, STR("Memcpy")))
        return true;
    struct str kind = field_text(events, ARG_COPY_KIND);
    struct buf *whole = &events->scratch;
    if (kind.len != strlen("HtoD")) // a number
        return true;
    buf_clear(whole);
    buf_puts(whole, "Memcpy ");
    buf_add(whole, kind.at, kind.len);
    for (int i = 0; i < 2; i++) {
        buf_puts(whole, i ? " -> " : " (");
        put_capital(whole, event_has(&events->fields, ends[i]) ? field_text(events, ends[i])
                                                               : STR("Unknown"));
    }
    buf_putc(whole, ')');
    return buf_ok(whole, err) &&
           trace_builder_text(events->builder, (struct str){whole->at, whole->len}, pos, name, err);
}

static bool add_complete(struct kineto_events *events, uint64_t pos, struct err *err)
{
    struct event_record *record = &events->record;
    record->kind = events->fields.kind;
    record->correlation = VALUE_ABSENT;
    if (!fill_known(&events->fields, record)) {
        if (!times_of(events, pos, record))
            return true;
        if (!fill_place(events, pos, record, err))
            return false;
    }
    record->kind = kind_of(events, record->name);
    if (record->kind == EVENT_MEMCPY && !name_copy(events, pos, &record->name, err))
        return false;
    if (!fill_args(events, pos, record, err))
        return false;
    if (events->guess)
        text_guess_end(events->guess, record->name);
    return trace_builder_add(events->builder, record, err);
}

// Kineto of 2021 gave instants no category: those of this name that have a type of device count.
static bool is_allocation(const struct kineto_events *events)
{
    const struct event_fields *fields = &events->fields;
    bool older = fields->kind == EVENT_OTHER && event_has(fields, ARG_DEVICE_TYPE);
    return (fields->kind == EVENT_ALLOCATION || older) && event_has(fields, FIELD_NAME) &&
           str_equal(field_text(events, FIELD_NAME), STR("[memory]"));
}

// Of instant events only allocations are kept; no analysis uses the others.
static bool add_instant(struct kineto_events *events, uint64_t pos, struct err *err)
{
    struct event_fields *fields = &events->fields;
    if (!is_allocation(events))
        return true;
    fields->kind = EVENT_ALLOCATION;
    event_set_number(fields, FIELD_DUR, 0);
    return add_complete(events, pos, err);
}

static bool add_counter_value(struct kineto_events *events, uint64_t pos,
                              struct counter_record *record, const struct counter_field *field,
                              struct err *err)
{
    if (!json_to_f64(field->value, &record->value)) {
        trace_builder_repair(events->builder, REPAIR_BAD_NUMBER, pos);
        return true;
    }
    return intern_raw(events, field->key, pos, &record->key, err) &&
           trace_builder_count(events->builder, record, err);
}

static bool add_counter(struct kineto_events *events, uint64_t pos, struct err *err)
{
    const struct event_fields *fields = &events->fields;
    struct counter_record record;
    if (fields->counter_count == 0)
        return true;
    if (!event_has(fields, FIELD_NAME) || !moment_of(events, pos, &record.time_ns)) {
        trace_builder_repair(events->builder, REPAIR_INCOMPLETE_OTHER, pos);
        return true;
    }
    if (fields->counter_count > KINETO_MAX_COUNTERS)
        trace_builder_repair(events->builder, REPAIR_OVERSIZE, pos);
    if (!label_of(events, FIELD_PID, pos, &record.pid, err) ||
        !intern_field(events, FIELD_NAME, pos, &record.name, err))
        return false;
    for (unsigned i = 0; i < fields->counter_count && i < KINETO_MAX_COUNTERS; i++)
        if (!add_counter_value(events, pos, &record, &fields->counters[i], err))
            return false;
    return true;
}

static bool thread_of(struct kineto_events *events, uint64_t pos, struct open_thread *thread,
                      struct err *err)
{
    struct label pid, tid;
    if (!label_of(events, FIELD_PID, pos, &pid, err) ||
        !label_of(events, FIELD_TID, pos, &tid, err))
        return false;
    *thread = (struct open_thread){pid.number, tid.number, pid.text, tid.text};
    return true;
}

static bool add_begin(struct kineto_events *events, uint64_t pos, struct err *err)
{
    struct open_begin begin = {.pos = pos, .kind = events->fields.kind};
    struct open_thread thread;
    if (!moment_of(events, pos, &begin.begin_ns)) {
        trace_builder_repair(events->builder, REPAIR_INCOMPLETE_OTHER, pos);
        return true;
    }
    return intern_field(events, FIELD_NAME, pos, &begin.name, err) &&
           thread_of(events, pos, &thread, err) &&
           open_begins_push(&events->begins, &thread, &begin, err);
}

// Device work given as begin and end events has no arguments; it stays on its row.
static bool add_pair(struct kineto_events *events, const struct open_thread *thread,
                     const struct open_begin *begin, int64_t end_ns, struct err *err)
{
    struct event_record record = event_record_of(begin->kind);
    record.name = begin->name;
    record.begin_ns = begin->begin_ns;
    record.dur_ns = end_ns - begin->begin_ns;
    record.pid = (struct label){thread->pid, thread->pid_text};
    record.tid = (struct label){thread->tid, thread->tid_text};
    if (record.dur_ns < 0) {
        trace_builder_repair(events->builder, REPAIR_NEGATIVE_DURATION, begin->pos);
        record.dur_ns = 0;
    }
    check_duration(events, begin->pos, &record);
    return trace_builder_add(events->builder, &record, err);
}

static bool add_end(struct kineto_events *events, uint64_t pos, struct err *err)
{
    struct open_thread thread;
    struct open_begin begin;
    int64_t end_ns;
    bool found;
    if (!moment_of(events, pos, &end_ns)) {
        trace_builder_repair(events->builder, REPAIR_INCOMPLETE_OTHER, pos);
        return true;
    }
    if (!thread_of(events, pos, &thread, err) ||
        !open_begins_pop(&events->begins, &thread, &begin, &found, err))
        return false;
    if (!found) {
        trace_builder_repair(events->builder, REPAIR_END_WITHOUT_BEGIN, pos);
        return true;
    }
    return add_pair(events, &thread, &begin, end_ns, err);
}

static bool add_metadata(struct kineto_events *events, uint64_t pos, struct err *err)
{
    const struct event_fields *fields = &events->fields;
    if (!event_has(fields, ARG_NAME) || !event_has(fields, FIELD_NAME))
        return true;
    struct str what = field_text(events, FIELD_NAME);
    bool process = str_equal(what, STR("process_name"));
    struct label pid, tid = {TRACE_PROCESS_ROW, 0};
    str_id name;
    if (!process && !str_equal(what, STR("thread_name")))
        return true;
    return label_of(events, FIELD_PID, pos, &pid, err) &&
           (process || label_of(events, FIELD_TID, pos, &tid, err)) &&
           intern_field(events, ARG_NAME, pos, &name, err) &&
           trace_builder_name_thread(events->builder, pid, tid, name, err);
}

#define BIT(field)   (UINT64_C(1) << (field))
#define BITS3(field) (UINT64_C(7) << (field))

// Args that are numbers whatever writes them; others may also be words.
static const uint64_t number_args =
    BIT(ARG_CORRELATION) | BIT(ARG_BYTES) | BIT(ARG_SIZE) | BIT(ARG_REGISTERS) |
    BIT(ARG_SHARED_BYTES) | BIT(ARG_OCCUPANCY) | BITS3(ARG_GRID) | BITS3(ARG_BLOCK) |
    BIT(ARG_IN_ELEMS) | BIT(ARG_OUT_ELEMS) | BIT(ARG_GROUP_SIZE) | BIT(ARG_RANK_START) |
    BIT(ARG_RANK_STRIDE) | BIT(ARG_SOURCE_RANK) | BIT(ARG_TARGET_RANK) | BIT(ARG_RANK_IN_GROUP) |
    BIT(ARG_COLLECTIVE_SEQUENCE) | BIT(ARG_SEQUENCE) | BIT(ARG_ALLOCATED) | BIT(ARG_RESERVED) |
    BIT(ARG_ALLOCATION_BYTES) | BIT(ARG_ADDRESS) | BIT(ARG_DEVICE_TYPE) | BIT(ARG_DEVICE_INDEX);

// Whether any of the numeric args is not a number. Empty or null means not known.
static bool has_bad_number(const struct event_fields *fields)
{
    uint64_t texts = fields->present & ~fields->numeric & ~fields->known & number_args;
    for (; texts; texts &= texts - 1) {
        struct str text = fields->value[__builtin_ctzll(texts)].text;
        int64_t number;
        if (text.len && !str_equal(text, STR("null")) && !json_to_i64(text, &number))
            return true;
    }
    return false;
}

static bool add_event(struct kineto_events *events, uint64_t pos, struct err *err)
{
    // Flows, older instants, async, object, sample and other events are not used.
    static const char defined[] = "stfIRbenSTpFNODPcv()=";
    const struct event_fields *fields = &events->fields;
    char phase = fields->phase;
    if (fields->bad_args)
        trace_builder_repair(events->builder, REPAIR_ARGS, pos);
    bool other_instant = phase == 'i' && fields->kind == EVENT_OTHER && !is_allocation(events);
    if (!other_instant && has_bad_number(fields))
        trace_builder_repair(events->builder, REPAIR_BAD_NUMBER, pos);
    events->defined_count++;
    switch (phase) {
    case 'X': return add_complete(events, pos, err);
    case 'B': return add_begin(events, pos, err);
    case 'E': return add_end(events, pos, err);
    case 'i': return add_instant(events, pos, err);
    case 'M': return add_metadata(events, pos, err);
    case 'C': return add_counter(events, pos, err);
    case '\0': break;
    default:
        if (strchr(defined, phase))
            return true;
    }
    events->defined_count--;
    if (fields->present) // else "{}", which may end an event list
        trace_builder_repair(events->builder, REPAIR_UNKNOWN_PHASE, pos);
    return true;
}

// Whether the event is of the rank that is read, whose processes then lose their label.
static bool take_own(struct kineto_events *events, uint64_t pos, bool *own, struct err *err)
{
    struct event_fields *fields = &events->fields;
    struct str label, pid = STR("");
    int64_t number;
    str_id id;
    if (event_has(fields, FIELD_PID) && !event_is_numeric(fields, FIELD_PID))
        pid = field_text(events, FIELD_PID);
    *own = merged_rank_label(pid, &label) && merged_rank_hash(label) == events->own;
    if (!*own)
        return true;
    pid = (struct str){pid.at + label.len + 1, pid.len - label.len - 1};
    if (str_to_i64(pid, &number)) {
        event_set_number(fields, FIELD_PID, number);
        return true;
    }
    if (!intern_raw(events, pid, pos, &id, err))
        return false;
    event_set_known(fields, FIELD_PID, id);
    return true;
}

bool kineto_event_add(struct kineto_events *events, uint64_t pos, struct err *err)
{
    bool own = true;
    if (events->own && !take_own(events, pos, &own, err))
        return false;
    events->others += !own;
    return !own || add_event(events, pos, err);
}

bool kineto_events_finish(struct kineto_events *events, struct err *err)
{
    struct open_thread thread;
    struct open_begin begin;
    int64_t last_ns = trace_builder_last_ns(events->builder);
    while (open_begins_take(&events->begins, &thread, &begin)) {
        trace_builder_repair(events->builder, REPAIR_BEGIN_WITHOUT_END, begin.pos);
        if (event_kind_is_device(begin.kind))
            continue; // a kernel with a made-up duration would hide everything after it
        int64_t end_ns = last_ns > begin.begin_ns ? last_ns : begin.begin_ns;
        if (!add_pair(events, &thread, &begin, end_ns, err))
            return false;
    }
    return true;
}
