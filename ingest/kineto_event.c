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

// Argument names, found by their length; at most two of one length are read.
struct arg_key {
    const char *name;
    size_t offset; // of the struct json_value in struct event_args
};

#define ARG(name, member)                         \
    {                                             \
        name, offsetof(struct event_args, member) \
    }
#define MAX_KEY 25

static const struct arg_key arg_keys[MAX_KEY + 1][2] = {
    [4] = {ARG("name", name)},
    [5] = {ARG("bytes", bytes), ARG("dtype", dtype)},
    [6] = {ARG("device", device), ARG("stream", stream)},
    [10] = {ARG("Group size", group_size)},
    [11] = {ARG("correlation", correlation)},
    [13] = {ARG("shared memory", shared_bytes), ARG("In msg nelems", in_elems)},
    [14] = {ARG("Out msg nelems", out_elems)},
    [15] = {ARG("Collective name", collective)},
    [18] = {ARG("Process Group Name", group)},
    [19] = {ARG("Process Group Ranks", group_ranks)},
    [20] = {ARG("registers per thread", registers)},
    [25] = {ARG("est. achieved occupancy %", occupancy),
            ARG("Process Group Description", group_description)},
};

static struct json_value *arg_named(struct event_args *args, struct str key)
{
    if (key.len > MAX_KEY)
        return NULL;
    for (int i = 0; i < 2; i++) {
        const struct arg_key *known = &arg_keys[key.len][i];
        if (known->name && memcmp(known->name, key.at, key.len) == 0)
            return (struct json_value *)(void *)((char *)args + known->offset);
    }
    return NULL;
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

static enum walk walk_arg(struct json_walk *walk, struct str key, const struct json_value *value,
                          struct event_args *args)
{
    if (value->type == JSON_ARRAY && is(key, "grid", 4))
        return walk_triple(walk, args->grid);
    if (value->type == JSON_ARRAY && is(key, "block", 5))
        return walk_triple(walk, args->block);
    if (value->type == JSON_OBJECT || value->type == JSON_ARRAY)
        return json_walk_skip(walk);
    struct json_value *arg = arg_named(args, key);
    if (arg)
        *arg = *value;
    return WALK_OK;
}

static enum walk walk_args(struct json_walk *walk, struct event_args *args)
{
    for (;;) {
        struct str key;
        struct json_value value;
        enum walk got = json_walk_member(walk, &key, &value);
        if (got == WALK_OK)
            got = walk_arg(walk, key, &value, args);
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

static bool wants_args(const struct event_fields *fields)
{
    return event_kind_is_device(fields->kind) || event_kind_is_launch(fields->kind) ||
           (fields->phase.text.len == 1 && *fields->phase.text.at == 'M');
}

static enum walk walk_event_args(struct json_walk *walk, struct event_fields *fields)
{
    fields->has_args = wants_args(fields);
    if (fields->has_args)
        return walk_args(walk, &fields->args);
    fields->late = *walk;
    return json_walk_skip(walk);
}

static struct json_value *field_named(struct event_fields *fields, struct str key)
{
    switch (key.len) {
    case 2: return is(key, "ph", 2) ? &fields->phase : is(key, "ts", 2) ? &fields->ts : NULL;
    case 3:
        return is(key, "dur", 3)   ? &fields->dur
               : is(key, "pid", 3) ? &fields->pid
               : is(key, "tid", 3) ? &fields->tid
                                   : NULL;
    case 4: return is(key, "name", 4) ? &fields->name : NULL;
    default: return NULL;
    }
}

static enum walk walk_field(struct kineto_events *events, struct json_walk *walk, struct str key,
                            const struct json_value *value, struct event_fields *fields)
{
    if (value->type == JSON_OBJECT && is(key, "args", 4))
        return walk_event_args(walk, fields);
    if (value->type == JSON_OBJECT || value->type == JSON_ARRAY)
        return json_walk_skip(walk);
    if (is(key, "cat", 3)) {
        fields->kind = kind_of(events, value->text);
        return WALK_OK;
    }
    struct json_value *field = field_named(fields, key);
    if (field)
        *field = *value;
    return WALK_OK;
}

enum walk kineto_event_walk(struct kineto_events *events, struct json_walk *walk,
                            struct event_fields *fields)
{
    memset(fields, 0, sizeof *fields);
    for (;;) {
        struct str key;
        struct json_value value;
        enum walk got = json_walk_member(walk, &key, &value);
        if (got == WALK_OK)
            got = walk_field(events, walk, key, &value, fields);
        if (got == WALK_END)
            break;
        if (got != WALK_OK)
            return got;
    }
    if (fields->has_args || !fields->late.text || !wants_args(fields))
        return WALK_OK;
    return walk_args(&fields->late, &fields->args);
}

// ---- adding
// --------------------------------------------------------------------------------------

static bool has(const struct json_value *value)
{
    return value->text.at != NULL;
}

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

static bool intern_value(struct kineto_events *events, const struct json_value *value, uint64_t pos,
                         str_id *id, struct err *err)
{
    *id = 0;
    return !has(value) || intern(events, value->text, pos, id, err);
}

// Processes, threads, devices and streams come as numbers, as quoted numbers or as texts.
static bool label_of(struct kineto_events *events, const struct json_value *value, uint64_t pos,
                     struct label *label, struct err *err)
{
    *label = (struct label){VALUE_ABSENT, 0};
    if (!has(value) || str_to_i64(value->text, &label->number))
        return true;
    return intern(events, value->text, pos, &label->text, err);
}

static int64_t integer_of(const struct json_value *value)
{
    int64_t number;
    return has(value) && json_to_i64(value->text, &number) ? number : VALUE_ABSENT;
}

static int32_t small_of(const struct json_value *value)
{
    int64_t number = integer_of(value);
    return number >= 0 && number <= INT32_MAX ? (int32_t)number : -1;
}

static bool collective_of(struct kineto_events *events, const struct event_args *args, uint64_t pos,
                          struct collective *collective, struct err *err)
{
    *collective = (struct collective){.in_elems = integer_of(&args->in_elems),
                                      .out_elems = integer_of(&args->out_elems),
                                      .group_size = integer_of(&args->group_size)};
    return intern_value(events, &args->collective, pos, &collective->name, err) &&
           intern_value(events, &args->dtype, pos, &collective->dtype, err) &&
           intern_value(events, &args->group, pos, &collective->group, err) &&
           intern_value(events, &args->group_description, pos, &collective->group_description,
                        err) &&
           intern_value(events, &args->group_ranks, pos, &collective->group_ranks, err);
}

// A device event lies on the stream that its args name, if they do.
static bool fill_device(struct kineto_events *events, const struct event_args *args, uint64_t pos,
                        struct event_record *record, struct err *err)
{
    if (has(&args->device) && !label_of(events, &args->device, pos, &record->pid, err))
        return false;
    if (has(&args->stream) && !label_of(events, &args->stream, pos, &record->tid, err))
        return false;
    record->shape = (struct launch_shape){.registers = small_of(&args->registers),
                                          .occupancy_percent = small_of(&args->occupancy),
                                          .shared_bytes = integer_of(&args->shared_bytes),
                                          .bytes = integer_of(&args->bytes)};
    memcpy(record->shape.grid, args->grid, sizeof args->grid);
    memcpy(record->shape.block, args->block, sizeof args->block);
    record->collective = (struct collective){0};
    return !has(&args->collective) || collective_of(events, args, pos, &record->collective, err);
}

// Times of an event; counts why it has none. A missing duration counts as 0 where nobody sums it.
static bool times_of(struct kineto_events *events, const struct event_fields *fields, uint64_t pos,
                     struct event_record *record)
{
    bool summed = event_kind_is_device(fields->kind) || event_kind_is_launch(fields->kind) ||
                  fields->kind == EVENT_CPU_OP;
    bool bad_ts =
        has(&fields->ts) && !json_us_to_ns(fields->ts.text, TRACE_MAX_NS, &record->begin_ns);
    bool bad_dur =
        has(&fields->dur) && !json_us_to_ns(fields->dur.text, TRACE_MAX_NS, &record->dur_ns);
    if (bad_ts || bad_dur)
        trace_builder_repair(events->builder, REPAIR_BAD_NUMBER, pos);
    bool complete = has(&fields->name) && has(&fields->ts) && !bad_ts;
    bool timed = has(&fields->dur) && !bad_dur;
    if (!complete || (summed && !timed)) {
        trace_builder_repair(events->builder, summed ? REPAIR_INCOMPLETE : REPAIR_INCOMPLETE_OTHER,
                             pos);
        return false;
    }
    if (!timed) {
        trace_builder_repair(events->builder, REPAIR_NO_DURATION, pos);
        record->dur_ns = 0;
    }
    if (record->dur_ns < 0 && !event_kind_is_device(fields->kind)) {
        trace_builder_repair(events->builder, REPAIR_NEGATIVE_DURATION, pos);
        record->dur_ns = 0;
    }
    return true;
}

static bool add_complete(struct kineto_events *events, const struct event_fields *fields,
                         uint64_t pos, struct err *err)
{
    struct event_record record = {.kind = fields->kind, .correlation = VALUE_ABSENT};
    if (!times_of(events, fields, pos, &record))
        return true;
    if (!intern_value(events, &fields->name, pos, &record.name, err) ||
        !label_of(events, &fields->pid, pos, &record.pid, err) ||
        !label_of(events, &fields->tid, pos, &record.tid, err))
        return false;
    if (event_kind_is_device(record.kind) || event_kind_is_launch(record.kind))
        record.correlation = integer_of(&fields->args.correlation);
    if (event_kind_is_device(record.kind) && !fill_device(events, &fields->args, pos, &record, err))
        return false;
    return trace_builder_add(events->builder, &record, err);
}

static bool thread_of(struct kineto_events *events, const struct event_fields *fields, uint64_t pos,
                      struct open_thread *thread, struct err *err)
{
    struct label pid, tid;
    if (!label_of(events, &fields->pid, pos, &pid, err) ||
        !label_of(events, &fields->tid, pos, &tid, err))
        return false;
    *thread = (struct open_thread){pid.number, tid.number, pid.text, tid.text};
    return true;
}

static bool add_begin(struct kineto_events *events, const struct event_fields *fields, uint64_t pos,
                      struct err *err)
{
    struct open_begin begin = {.pos = pos, .kind = fields->kind};
    struct open_thread thread;
    if (!has(&fields->ts) || !json_us_to_ns(fields->ts.text, TRACE_MAX_NS, &begin.begin_ns)) {
        trace_builder_repair(events->builder, REPAIR_INCOMPLETE_OTHER, pos);
        return true;
    }
    return intern_value(events, &fields->name, pos, &begin.name, err) &&
           thread_of(events, fields, pos, &thread, err) &&
           open_begins_push(&events->begins, &thread, &begin, err);
}

// Device work given as begin and end has no arguments; it lies on the row where it stands.
static bool add_pair(struct kineto_events *events, const struct open_thread *thread,
                     const struct open_begin *begin, int64_t end_ns, struct err *err)
{
    struct event_record record = {.kind = begin->kind,
                                  .name = begin->name,
                                  .begin_ns = begin->begin_ns,
                                  .dur_ns = end_ns - begin->begin_ns,
                                  .pid = {thread->pid, thread->pid_text},
                                  .tid = {thread->tid, thread->tid_text},
                                  .correlation = VALUE_ABSENT,
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

static bool add_end(struct kineto_events *events, const struct event_fields *fields, uint64_t pos,
                    struct err *err)
{
    struct open_thread thread;
    struct open_begin begin;
    int64_t end_ns;
    bool found;
    if (!has(&fields->ts) || !json_us_to_ns(fields->ts.text, TRACE_MAX_NS, &end_ns)) {
        trace_builder_repair(events->builder, REPAIR_INCOMPLETE_OTHER, pos);
        return true;
    }
    if (!thread_of(events, fields, pos, &thread, err) ||
        !open_begins_pop(&events->begins, &thread, &begin, &found, err))
        return false;
    if (!found) {
        trace_builder_repair(events->builder, REPAIR_END_WITHOUT_BEGIN, pos);
        return true;
    }
    return add_pair(events, &thread, &begin, end_ns, err);
}

static bool add_metadata(struct kineto_events *events, const struct event_fields *fields,
                         uint64_t pos, struct err *err)
{
    if (!has(&fields->args.name) || !str_equal(fields->name.text, STR("thread_name")))
        return true;
    struct label pid, tid;
    str_id name;
    return label_of(events, &fields->pid, pos, &pid, err) &&
           label_of(events, &fields->tid, pos, &tid, err) &&
           intern_value(events, &fields->args.name, pos, &name, err) &&
           trace_builder_name_thread(events->builder, pid, tid, name, err);
}

bool kineto_event_add(struct kineto_events *events, const struct event_fields *fields, uint64_t pos,
                      struct err *err)
{
    // Flows, instants, counters, async, object, sample and other events are defined but not used.
    static const char defined[] = "stfiIRCbenSTpFNODPcv()=";
    if (!has(&fields->phase)) {
        if (has(&fields->name) || has(&fields->ts)) // else "{}", which may end an event list
            trace_builder_repair(events->builder, REPAIR_UNKNOWN_PHASE, pos);
        return true;
    }
    char phase = fields->phase.text.len ? *fields->phase.text.at : '\0';
    switch (phase) {
    case 'X': return add_complete(events, fields, pos, err);
    case 'B': return add_begin(events, fields, pos, err);
    case 'E': return add_end(events, fields, pos, err);
    case 'M': return add_metadata(events, fields, pos, err);
    default:
        if (phase == '\0' || !strchr(defined, phase))
            trace_builder_repair(events->builder, REPAIR_UNKNOWN_PHASE, pos);
        return true;
    }
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
