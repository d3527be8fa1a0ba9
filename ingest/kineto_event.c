// SPDX-License-Identifier: Apache-2.0
// Reads the members of an event that some analysis uses and skips the rest.
#include "ingest/kineto_event.h"
#include "ingest/json_number.h"

#include <stddef.h>

#define MAX_TEXT ((size_t)64 << 10)

void kineto_events_init(struct kineto_events *events, struct trace_builder *builder,
                        struct budget *budget)
{
    *events = (struct kineto_events){.builder = builder};
    open_begins_init(&events->begins, budget);
}

void kineto_events_free(struct kineto_events *events)
{
    open_begins_free(&events->begins);
    buf_free(&events->scratch);
}

// ---- walking
// -------------------------------------------------------------------------------------

// Argument names, found by their length.
struct arg_key {
    const char *name;
    enum event_field field;
};

#define MAX_KEY       25
#define KEYS_A_LENGTH 4

static const struct arg_key arg_keys[MAX_KEY + 1][KEYS_A_LENGTH] = {
    [3] = {{"Seq", ARG_COLLECTIVE_SEQUENCE}},
    [4] = {{"Addr", ARG_ADDRESS}, {"name", ARG_NAME}, {"kind", ARG_KIND}, {"size", ARG_SIZE}},
    [5] = {{"bytes", ARG_BYTES}, {"dtype", ARG_DTYPE}, {"Bytes", ARG_ALLOCATION_BYTES}},
    [6] = {{"device", ARG_DEVICE}, {"stream", ARG_STREAM}},
    [9] = {{"Device Id", ARG_DEVICE_INDEX}},
    [10] = {{"Input Dims", ARG_DIMS}, {"Input type", ARG_TYPES}, {"Group size", ARG_GROUP_SIZE}},
    [11] = {{"correlation", ARG_CORRELATION}, {"Device Type", ARG_DEVICE_TYPE}},
    [13] = {{"shared memory", ARG_SHARED_BYTES},
            {"Input Strides", ARG_STRIDES},
            {"In msg nelems", ARG_IN_ELEMS},
            {"In split size", ARG_IN_SPLITS}},
    [14] = {{"Out msg nelems", ARG_OUT_ELEMS},
            {"Total Reserved", ARG_RESERVED},
            {"Out split size", ARG_OUT_SPLITS}},
    [15] = {{"Concrete Inputs", ARG_CONCRETE},
            {"Sequence number", ARG_SEQUENCE},
            {"Collective name", ARG_COLLECTIVE},
            {"Total Allocated", ARG_ALLOCATED}},
    [16] = {{"Module Hierarchy", ARG_MODULE}},
    [17] = {{"Global rank start", ARG_RANK_START}},
    [18] = {{"Process Group Name", ARG_GROUP}, {"Global rank stride", ARG_RANK_STRIDE}},
    [19] = {{"Process Group Ranks", ARG_GROUP_RANKS}},
    [20] = {{"registers per thread", ARG_REGISTERS}},
    [25] = {{"est. achieved occupancy %", ARG_OCCUPANCY},
            {"Process Group Description", ARG_GROUP_DESCRIPTION}},
};

static inline void set(struct event_fields *fields, enum event_field field, struct str text)
{
    fields->value[field] = text;
    fields->present |= UINT64_C(1) << field;
}

static void set_arg(struct event_fields *fields, struct str key, struct str text)
{
    if (key.len > MAX_KEY)
        return;
    const struct arg_key *known = arg_keys[key.len];
    for (int i = 0; i < KEYS_A_LENGTH && known[i].name; i++)
        if (memcmp(known[i].name, key.at, key.len) == 0) {
            set(fields, known[i].field, text);
            return;
        }
}

// The numbers of a launch shape, [x, y, z].
static enum walk walk_triple(struct json_walk *walk, int32_t triple[3])
{
    struct json_value item;
    for (int i = 0;; i++) {
        enum walk got = json_walk_item(walk, &item);
        if (got != WALK_OK)
            return got == WALK_END ? WALK_OK : got;
        int64_t number;
        if (item.type == JSON_OBJECT || item.type == JSON_ARRAY)
            got = json_walk_skip(walk);
        else if (i < 3 && json_to_i64(item.text, &number) && number >= 0 && number <= INT32_MAX)
            triple[i] = (int32_t)number;
        if (got != WALK_OK)
            return got;
    }
}

static bool is(struct str key, const char *name, size_t len)
{
    return key.len == len && memcmp(key.at, name, len) == 0;
}

// Lists are kept as their raw text, for whoever needs what is in them.
static enum walk walk_list(struct json_walk *walk, struct str key, struct event_fields *fields)
{
    const char *from = walk->at - 1;
    enum walk got = json_walk_skip(walk);
    if (got == WALK_OK)
        set_arg(fields, key, (struct str){from, (size_t)(walk->at - from)});
    return got;
}

static enum walk walk_arg(struct json_walk *walk, struct str key, const struct json_value *value,
                          struct event_fields *fields)
{
    if (value->type == JSON_ARRAY && is(key, "grid", 4))
        return walk_triple(walk, fields->grid);
    if (value->type == JSON_ARRAY && is(key, "block", 5))
        return walk_triple(walk, fields->block);
    if (value->type == JSON_ARRAY)
        return walk_list(walk, key, fields);
    if (value->type == JSON_OBJECT)
        return json_walk_skip(walk);
    set_arg(fields, key, value->text);
    return WALK_OK;
}

static enum walk walk_args(struct json_walk *walk, struct event_fields *fields)
{
    memset(fields->grid, 0, sizeof fields->grid);
    memset(fields->block, 0, sizeof fields->block);
    for (;;) {
        struct str key;
        struct json_value value;
        enum walk got = json_walk_member(walk, &key, &value);
        if (got == WALK_OK)
            got = walk_arg(walk, key, &value, fields);
        if (got != WALK_OK)
            return got == WALK_END ? WALK_OK : got;
    }
}

// The same few categories come again and again, so each is looked up once.
static enum event_kind kind_of(struct kineto_events *events, struct str category)
{
    for (unsigned i = 0; i < events->category_count; i++) {
        const struct category_kind *known = &events->categories[i];
        if (known->len == category.len && memcmp(known->text, category.at, category.len) == 0)
            return known->kind;
    }
    enum event_kind kind = event_kind_of_category(category);
    if (events->category_count < KINETO_CATEGORIES &&
        category.len <= sizeof events->categories->text) {
        struct category_kind *known = &events->categories[events->category_count++];
        memcpy(known->text, category.at, category.len);
        known->len = category.len;
        known->kind = kind;
    }
    return kind;
}

static inline bool has(const struct event_fields *fields, enum event_field field)
{
    return fields->present >> field & 1;
}

// The letter of the event's phase, NUL when it has none.
static inline char phase_of(const struct event_fields *fields)
{
    return has(fields, FIELD_PHASE) && fields->value[FIELD_PHASE].len
               ? *fields->value[FIELD_PHASE].at
               : '\0';
}

static bool wants_args(const struct event_fields *fields)
{
    return event_kind_is_device(fields->kind) || event_kind_is_launch(fields->kind) ||
           fields->kind == EVENT_CPU_OP || fields->kind == EVENT_ALLOCATION ||
           phase_of(fields) == 'M';
}

// Names of generated code come with quotes unescaped; an operator counts without such args.
static enum walk walk_wanted_args(struct json_walk *walk, struct event_fields *fields)
{
    struct json_walk begin = *walk;
    fields->has_args = true;
    enum walk got = walk_args(walk, fields);
    if (got != WALK_BAD || fields->kind != EVENT_CPU_OP)
        return got;
    fields->present &= (UINT64_C(1) << ARG_FIRST) - 1;
    fields->bad_args = true;
    *walk = begin;
    return json_walk_skip(walk);
}

static enum walk walk_event_args(struct json_walk *walk, struct event_fields *fields)
{
    fields->late = *walk;
    return wants_args(fields) ? walk_wanted_args(walk, fields) : json_walk_skip(walk);
}

static void set_field(struct event_fields *fields, struct str key, struct str text)
{
    if (key.len == 4 && is(key, "name", 4))
        set(fields, FIELD_NAME, text);
    else if (key.len == 2 && is(key, "ph", 2))
        set(fields, FIELD_PHASE, text);
    else if (key.len == 2 && is(key, "ts", 2))
        set(fields, FIELD_TS, text);
    else if (key.len == 3 && is(key, "dur", 3))
        set(fields, FIELD_DUR, text);
    else if (key.len == 3 && is(key, "pid", 3))
        set(fields, FIELD_PID, text);
    else if (key.len == 3 && is(key, "tid", 3))
        set(fields, FIELD_TID, text);
}

static enum walk walk_field(struct kineto_events *events, struct json_walk *walk, struct str key,
                            const struct json_value *value)
{
    if (value->type == JSON_OBJECT && is(key, "args", 4))
        return walk_event_args(walk, &events->fields);
    if (value->type == JSON_OBJECT || value->type == JSON_ARRAY)
        return json_walk_skip(walk);
    if (is(key, "cat", 3))
        events->fields.kind = kind_of(events, value->text);
    else
        set_field(&events->fields, key, value->text);
    return WALK_OK;
}

enum walk kineto_event_walk(struct kineto_events *events, struct json_walk *walk)
{
    struct event_fields *fields = &events->fields;
    fields->present = 0;
    fields->kind = EVENT_OTHER;
    fields->has_args = false;
    fields->bad_args = false;
    fields->late.text = NULL;
    for (;;) {
        struct str key;
        struct json_value value;
        enum walk got = json_walk_member(walk, &key, &value);
        if (got == WALK_OK)
            got = walk_field(events, walk, key, &value);
        if (got == WALK_END)
            break;
        if (got != WALK_OK)
            return got;
    }
    if (fields->has_args || !fields->late.text || !wants_args(fields))
        return WALK_OK;
    return walk_wanted_args(&fields->late, fields);
}

// ---- adding
// --------------------------------------------------------------------------------------

// Interns a raw text with its escapes resolved; counts what had to be repaired.
static bool intern(struct kineto_events *events, struct str raw, uint64_t pos, str_id *id,
                   struct err *err)
{
    struct strtab *strings = trace_builder_strings(events->builder);
    if (raw.len > MAX_TEXT) {
        raw.len = MAX_TEXT;
        trace_builder_repair(events->builder, REPAIR_LONG_TEXT, pos);
    }
    if (json_text_is_plain(raw))
        return strtab_intern(strings, raw, id, err);
    buf_clear(&events->scratch);
    if (!json_text_decode(raw, &events->scratch))
        trace_builder_repair(events->builder, REPAIR_TEXT, pos);
    if (!buf_ok(&events->scratch, err))
        return false;
    return strtab_intern(strings, (struct str){events->scratch.at, events->scratch.len}, id, err);
}

static bool intern_field(struct kineto_events *events, enum event_field field, uint64_t pos,
                         str_id *id, struct err *err)
{
    *id = 0;
    return !has(&events->fields, field) ||
           intern(events, events->fields.value[field], pos, id, err);
}

// Processes, threads, devices and streams come as numbers, as quoted numbers or as texts.
static bool label_of(struct kineto_events *events, enum event_field field, uint64_t pos,
                     struct label *label, struct err *err)
{
    const struct event_fields *fields = &events->fields;
    *label = (struct label){VALUE_ABSENT, 0};
    if (!has(fields, field) || str_to_i64(fields->value[field], &label->number))
        return true;
    return intern(events, fields->value[field], pos, &label->text, err);
}

static int64_t integer_of(const struct event_fields *fields, enum event_field field)
{
    int64_t number;
    return has(fields, field) && json_to_i64(fields->value[field], &number) ? number : VALUE_ABSENT;
}

static int32_t small_of(const struct event_fields *fields, enum event_field field)
{
    int64_t number = integer_of(fields, field);
    return number >= 0 && number <= INT32_MAX ? (int32_t)number : -1;
}

static bool collective_of(struct kineto_events *events, uint64_t pos, struct collective *collective,
                          struct err *err)
{
    *collective = (struct collective){.in_elems = integer_of(&events->fields, ARG_IN_ELEMS),
                                      .out_elems = integer_of(&events->fields, ARG_OUT_ELEMS),
                                      .group_size = integer_of(&events->fields, ARG_GROUP_SIZE),
                                      .rank_start = integer_of(&events->fields, ARG_RANK_START),
                                      .rank_stride = integer_of(&events->fields, ARG_RANK_STRIDE)};
    return intern_field(events, ARG_COLLECTIVE, pos, &collective->name, err) &&
           intern_field(events, ARG_DTYPE, pos, &collective->dtype, err) &&
           intern_field(events, ARG_GROUP, pos, &collective->group, err) &&
           intern_field(events, ARG_GROUP_DESCRIPTION, pos, &collective->group_description, err) &&
           intern_field(events, ARG_GROUP_RANKS, pos, &collective->group_ranks, err) &&
           intern_field(events, ARG_IN_SPLITS, pos, &collective->in_splits, err) &&
           intern_field(events, ARG_OUT_SPLITS, pos, &collective->out_splits, err);
}

static bool fill_collective(struct kineto_events *events, uint64_t pos, struct event_record *record,
                            struct err *err)
{
    record->collective.name = 0;
    return !has(&events->fields, ARG_COLLECTIVE) ||
           collective_of(events, pos, &record->collective, err);
}

// A device event lies on the stream that its args name, if they do.
static bool fill_device(struct kineto_events *events, uint64_t pos, struct event_record *record,
                        struct err *err)
{
    const struct event_fields *fields = &events->fields;
    if (has(fields, ARG_DEVICE) && !label_of(events, ARG_DEVICE, pos, &record->pid, err))
        return false;
    if (has(fields, ARG_STREAM) && !label_of(events, ARG_STREAM, pos, &record->tid, err))
        return false;
    record->shape = (struct launch_shape){.registers = small_of(fields, ARG_REGISTERS),
                                          .occupancy_percent = small_of(fields, ARG_OCCUPANCY),
                                          .shared_bytes = integer_of(fields, ARG_SHARED_BYTES),
                                          .bytes = integer_of(fields, ARG_BYTES)};
    if (fields->has_args) {
        memcpy(record->shape.grid, fields->grid, sizeof fields->grid);
        memcpy(record->shape.block, fields->block, sizeof fields->block);
    }
    record->sequence = integer_of(fields, ARG_COLLECTIVE_SEQUENCE);
    return fill_collective(events, pos, record, err);
}

// A list as it stands; one that is too long to keep counts as not given.
static bool intern_list(struct kineto_events *events, enum event_field field, uint64_t pos,
                        str_id *id, struct err *err)
{
    *id = 0;
    if (!has(&events->fields, field))
        return true;
    struct str text = events->fields.value[field];
    if (text.len <= MAX_TEXT)
        return strtab_intern(trace_builder_strings(events->builder), text, id, err);
    trace_builder_repair(events->builder, REPAIR_LONG_TEXT, pos);
    return true;
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

// HIP calls name the direction by number, and the size as "size" before ROCm 6.
static struct copy_call copy_of(const struct event_fields *fields)
{
    static const enum copy_direction directions[] = {COPY_HTOH, COPY_HTOD, COPY_DTOH, COPY_DTOD};
    struct copy_call copy = {0};
    int64_t number;
    if (!has(fields, ARG_KIND) || !json_to_i64(fields->value[ARG_KIND], &number))
        return copy;
    if (number >= 0 && number < (int64_t)(sizeof directions / sizeof *directions))
        copy.direction = directions[number];
    int64_t bytes = integer_of(fields, has(fields, ARG_BYTES) ? ARG_BYTES : ARG_SIZE);
    copy.bytes = bytes > 0 ? bytes : 0;
    return copy;
}

// What the kind of an event keeps beside name, time and place.
static bool fill_args(struct kineto_events *events, uint64_t pos, struct event_record *record,
                      struct err *err)
{
    if (event_kind_is_device(record->kind) || event_kind_is_launch(record->kind))
        record->correlation = integer_of(&events->fields, ARG_CORRELATION);
    if (event_kind_is_launch(record->kind))
        record->copy = copy_of(&events->fields);
    if (event_kind_is_device(record->kind))
        return fill_device(events, pos, record, err);
    if (record->kind == EVENT_CPU_OP)
        return fill_op(events, pos, record, err);
    if (record->kind == EVENT_ALLOCATION)
        fill_memory(&events->fields, record);
    return true;
}

static bool time_of(const struct event_fields *fields, enum event_field field, int64_t *ns)
{
    return has(fields, field) && json_us_to_ns(fields->value[field], TRACE_MAX_NS, ns);
}

// Times of an event; counts why it has none. A missing duration counts as 0 where nobody sums it.
static bool times_of(struct kineto_events *events, uint64_t pos, struct event_record *record)
{
    const struct event_fields *fields = &events->fields;
    bool summed = event_kind_is_timed(fields->kind);
    bool begins = time_of(fields, FIELD_TS, &record->begin_ns);
    bool lasts = time_of(fields, FIELD_DUR, &record->dur_ns);
    if (begins != has(fields, FIELD_TS) || lasts != has(fields, FIELD_DUR))
        trace_builder_repair(events->builder, REPAIR_BAD_NUMBER, pos);
    if (!has(fields, FIELD_NAME) || !begins || (summed && !lasts)) {
        trace_builder_repair(events->builder, summed ? REPAIR_INCOMPLETE : REPAIR_INCOMPLETE_OTHER,
                             pos);
        return false;
    }
    if (!lasts) {
        trace_builder_repair(events->builder, REPAIR_NO_DURATION, pos);
        record->dur_ns = 0;
    }
    if (record->dur_ns < 0 && !event_kind_is_device(fields->kind)) {
        trace_builder_repair(events->builder, REPAIR_NEGATIVE_DURATION, pos);
        record->dur_ns = 0;
    }
    return true;
}

static bool add_complete(struct kineto_events *events, uint64_t pos, struct err *err)
{
    struct event_record *record = &events->record;
    record->kind = events->fields.kind;
    record->correlation = VALUE_ABSENT;
    if (!times_of(events, pos, record))
        return true;
    if (!intern_field(events, FIELD_NAME, pos, &record->name, err) ||
        !label_of(events, FIELD_PID, pos, &record->pid, err) ||
        !label_of(events, FIELD_TID, pos, &record->tid, err))
        return false;
    return fill_args(events, pos, record, err) && trace_builder_add(events->builder, record, err);
}

// Of the instants only allocations are kept; the others tell nothing that an analysis reads.
static bool add_instant(struct kineto_events *events, uint64_t pos, struct err *err)
{
    struct event_fields *fields = &events->fields;
    if (fields->kind != EVENT_ALLOCATION || !has(fields, FIELD_NAME) ||
        !str_equal(fields->value[FIELD_NAME], STR("[memory]")))
        return true;
    fields->value[FIELD_DUR] = STR("0");
    fields->present |= UINT64_C(1) << FIELD_DUR;
    return add_complete(events, pos, err);
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
    if (!time_of(&events->fields, FIELD_TS, &begin.begin_ns)) {
        trace_builder_repair(events->builder, REPAIR_INCOMPLETE_OTHER, pos);
        return true;
    }
    return intern_field(events, FIELD_NAME, pos, &begin.name, err) &&
           thread_of(events, pos, &thread, err) &&
           open_begins_push(&events->begins, &thread, &begin, err);
}

// Device work given as begin and end has no arguments; it lies on the row where it stands.
static bool add_pair(struct kineto_events *events, const struct open_thread *thread,
                     const struct open_begin *begin, int64_t end_ns, struct err *err)
{
    struct event_record record = {
        .kind = begin->kind,
        .name = begin->name,
        .begin_ns = begin->begin_ns,
        .dur_ns = end_ns - begin->begin_ns,
        .pid = {thread->pid, thread->pid_text},
        .tid = {thread->tid, thread->tid_text},
        .correlation = VALUE_ABSENT,
        .sequence = VALUE_ABSENT,
        .memory = {VALUE_ABSENT, VALUE_ABSENT, VALUE_ABSENT, VALUE_ABSENT, -1, -1, 0, 0},
        .shape = {.registers = -1,
                  .occupancy_percent = -1,
                  .shared_bytes = VALUE_ABSENT,
                  .bytes = VALUE_ABSENT}};
    if (record.dur_ns < 0) {
        trace_builder_repair(events->builder, REPAIR_NEGATIVE_DURATION, begin->pos);
        record.dur_ns = 0;
    }
    return trace_builder_add(events->builder, &record, err);
}

static bool add_end(struct kineto_events *events, uint64_t pos, struct err *err)
{
    struct open_thread thread;
    struct open_begin begin;
    int64_t end_ns;
    bool found;
    if (!time_of(&events->fields, FIELD_TS, &end_ns)) {
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
    if (!has(fields, ARG_NAME) || !has(fields, FIELD_NAME) ||
        !str_equal(fields->value[FIELD_NAME], STR("thread_name")))
        return true;
    struct label pid, tid;
    str_id name;
    return label_of(events, FIELD_PID, pos, &pid, err) &&
           label_of(events, FIELD_TID, pos, &tid, err) &&
           intern_field(events, ARG_NAME, pos, &name, err) &&
           trace_builder_name_thread(events->builder, pid, tid, name, err);
}

bool kineto_event_add(struct kineto_events *events, uint64_t pos, struct err *err)
{
    // Flows, older instants, counters, async, object, sample and other events are defined but not
    // used.
    static const char defined[] = "stfIRCbenSTpFNODPcv()=";
    const struct event_fields *fields = &events->fields;
    char phase = phase_of(fields);
    if (fields->bad_args)
        trace_builder_repair(events->builder, REPAIR_ARGS, pos);
    switch (phase) {
    case 'X': return add_complete(events, pos, err);
    case 'B': return add_begin(events, pos, err);
    case 'E': return add_end(events, pos, err);
    case 'i': return add_instant(events, pos, err);
    case 'M': return add_metadata(events, pos, err);
    case '\0': break;
    default:
        if (strchr(defined, phase))
            return true;
    }
    if (fields->present) // else "{}", which may end an event list
        trace_builder_repair(events->builder, REPAIR_UNKNOWN_PHASE, pos);
    return true;
}

bool kineto_events_finish(struct kineto_events *events, struct err *err)
{
    struct open_thread thread;
    struct open_begin begin;
    int64_t last_ns = trace_builder_last_ns(events->builder);
    while (open_begins_take(&events->begins, &thread, &begin)) {
        trace_builder_repair(events->builder, REPAIR_BEGIN_WITHOUT_END, begin.pos);
        if (event_kind_is_device(begin.kind))
            continue; // a kernel of invented length would hide all that follows
        int64_t end_ns = last_ns > begin.begin_ns ? last_ns : begin.begin_ns;
        if (!add_pair(events, &thread, &begin, end_ns, err))
            return false;
    }
    return true;
}
