// SPDX-License-Identifier: Apache-2.0
// rocprofv3's JSON: for each process its agents, names and records. Names come before the records
// that use them, as the profiler writes them.
#include "ingest/source/format.h"
#include "ingest/json/json_cursor.h"
#include "ingest/json/json_number.h"
#include "ingest/rocm/rocm_agents.h"
#include "ingest/rocm/rocm_counts.h"
#include "ingest/rocm/rocm_memory.h"
#include "ingest/rocm/rocm_names.h"
#include "ingest/rocm/rocm_rows.h"
#include "ingest/source/source.h"
#include "ingest/sqlite/text_table.h"
#include "ingest/trace/record_set.h"

#include <stdlib.h>

enum { DEEPEST = 3, RECORDS_BETWEEN = 1024 };

// Correlation ids are unique within a process only.
#define PROCESS_CORRELATIONS (INT64_C(1) << 48)

// Numbers of dispatches are unique within a process.
struct dispatch {
    int64_t process, number;
};

struct list;
struct named;

struct sums {
    int64_t kernels, total_ns, distinct;
};

struct rocm_json {
    const struct format_input *input;
    struct trace_builder *builder;
    struct json_cursor json;
    struct buf text;           // a text without its escapes
    uint64_t records;          // of all kinds
    uint64_t records_before;   // the current process
    int64_t processes;         // before the current one
    struct rocm_counts counts; // of the current kernel
    struct record_set counted; // dispatches that were taken with their counters
    struct sums sums;
    int64_t pid;        // of the current process, as all that follows
    struct buf is_used; // by name of a kernel
    struct text_table kernels, operations, markers, counters;
    struct rocm_rows rows;
    struct rocm_memory memory;
    const struct named *named; // that are being read
    struct text_table *texts;  // where they go
    const struct list *list;   // that is being read
    struct rocm_agents agents;
};

// --- values -------------------------------------------------------------------------------------

static int64_t number_of(struct rocm_json *rocm, const struct json_value *value)
{
    int64_t number;
    json_cursor_pass(&rocm->json, value);
    return value->type == JSON_SCALAR && json_to_i64(value->text, &number) ? number : VALUE_ABSENT;
}

// {"handle": 7}; older versions write the number.
static int64_t handle_of(struct rocm_json *rocm, struct json_value value)
{
    struct str key;
    int64_t handle = VALUE_ABSENT;
    if (value.type != JSON_OBJECT)
        return number_of(rocm, &value);
    while (json_cursor_member(&rocm->json, &key, &value)) {
        // Reading a value invalidates its key.
        bool is = str_equal(key, STR("handle")) || str_equal(key, STR("internal"));
        int64_t number = number_of(rocm, &value);
        handle = is ? number : handle;
    }
    return handle;
}

// Lives until the next text.
static struct str text_of(struct rocm_json *rocm, const struct json_value *value)
{
    json_cursor_pass(&rocm->json, value);
    if (value->type != JSON_TEXT)
        return STR("");
    if (json_text_is_plain(value->text))
        return value->text;
    rocm->text.len = 0;
    (void)json_text_decode(value->text, &rocm->text);
    return (struct str){rocm->text.at, rocm->text.len};
}

// Calls read with each object in a list, and its index.
static void each_object(struct rocm_json *rocm, const struct json_value *list,
                        void (*read)(struct rocm_json *rocm, int64_t index))
{
    struct json_value value;
    if (!json_cursor_enter(&rocm->json, list, JSON_ARRAY))
        return;
    for (int64_t i = 0; json_cursor_item(&rocm->json, &value); i++)
        if (json_cursor_enter(&rocm->json, &value, JSON_OBJECT))
            read(rocm, i);
}

static void read_object(struct rocm_json *rocm, const struct json_value *value,
                        void (*read)(struct rocm_json *rocm))
{
    if (json_cursor_enter(&rocm->json, value, JSON_OBJECT))
        read(rocm);
}

static void keep(struct rocm_json *rocm, struct text_table *texts, int64_t id, struct str text)
{
    struct err err;
    if (id != VALUE_ABSENT && !text_table_add(texts, id, text, &err))
        json_cursor_fail(&rocm->json, &err);
}

// --- agents -------------------------------------------------------------------------------------

struct agent_text {
    int64_t handle, type, device, gpu_index, units;
    str_id name, product;
};

static str_id intern(struct rocm_json *rocm, struct str text)
{
    struct err err;
    str_id id = 0;
    if (!trace_builder_text(rocm->builder, text, json_cursor_pos(&rocm->json), &id, &err))
        json_cursor_fail(&rocm->json, &err);
    return id;
}

static void add_agent(struct rocm_json *rocm, const struct agent_text *found)
{
    enum { GPU = 2 };
    struct err err;
    int64_t device = found->device != VALUE_ABSENT ? found->device : found->gpu_index;
    struct rocm_agent agent = {found->handle, device, found->type == GPU, found->units,
                               found->product ? found->product : found->name};
    if (!rocm_agents_add(&rocm->agents, &agent, rocm->builder, &err))
        json_cursor_fail(&rocm->json, &err);
}

static void read_agent(struct rocm_json *rocm, int64_t index)
{
    struct str key;
    struct json_value value;
    struct agent_text found = {.handle = VALUE_ABSENT, .device = VALUE_ABSENT};
    (void)index;
    while (json_cursor_member(&rocm->json, &key, &value)) {
        if (str_equal(key, STR("id")))
            found.handle = handle_of(rocm, value);
        else if (str_equal(key, STR("type")))
            found.type = number_of(rocm, &value);
        else if (str_equal(key, STR("logical_node_type_id")))
            found.device = number_of(rocm, &value);
        else if (str_equal(key, STR("gpu_index")))
            found.gpu_index = number_of(rocm, &value);
        else if (str_equal(key, STR("cu_count")))
            found.units = number_of(rocm, &value);
        else if (str_equal(key, STR("name")))
            found.name = intern(rocm, text_of(rocm, &value));
        else if (str_equal(key, STR("product_name")))
            found.product = intern(rocm, text_of(rocm, &value));
        else
            json_cursor_pass(&rocm->json, &value);
    }
    add_agent(rocm, &found);
}

// --- names --------------------------------------------------------------------------------------

// Objects with an id and a name, or another one where that is empty.
struct named {
    const char *id, *name;
    const char *otherwise;                // "": no other name
    struct str (*shown)(struct str name); // or NULL
};

static const struct named kernels = {"kernel_id", "formatted_kernel_name", "kernel_name",
                                     rocm_kernel_name};
static const struct named counters = {"id", "name", "", NULL};
// The texts of markers, by correlation.
static const struct named markers = {"key", "value", "", NULL};

static void read_named(struct rocm_json *rocm, int64_t index)
{
    const struct named *named = rocm->named;
    struct str key;
    struct json_value value;
    int64_t id = VALUE_ABSENT;
    struct buf first = {0}, second = {0};
    struct err err;
    (void)index;
    while (json_cursor_member(&rocm->json, &key, &value)) {
        if (str_equal(key, str_of(named->id)))
            id = handle_of(rocm, value);
        else if (str_equal(key, str_of(named->name)))
            buf_add_str(&first, text_of(rocm, &value));
        else if (str_equal(key, str_of(named->otherwise)))
            buf_add_str(&second, text_of(rocm, &value));
        else
            json_cursor_pass(&rocm->json, &value);
    }
    struct str name =
        first.len ? (struct str){first.at, first.len} : (struct str){second.at, second.len};
    if (!buf_ok(&first, &err) || !buf_ok(&second, &err))
        json_cursor_fail(&rocm->json, &err);
    else
        keep(rocm, rocm->texts, id, named->shown ? named->shown(name) : name);
    buf_free(&first);
    buf_free(&second);
}

static void read_names(struct rocm_json *rocm, const struct json_value *list,
                       const struct named *named, struct text_table *texts)
{
    rocm->named = named;
    rocm->texts = texts;
    each_object(rocm, list, read_named);
    text_table_sort(texts);
}

// Operations are numbered separately in each kind of record.
static int64_t operation_key(int64_t kind, int64_t operation)
{
    bool fits = kind >= 0 && kind < INT32_MAX && operation >= 0 && operation <= INT32_MAX;
    return fits ? kind << 32 | operation : VALUE_ABSENT;
}

// Kinds are numbered by their place in the list.
static void read_kind(struct rocm_json *rocm, int64_t kind)
{
    struct str key;
    struct json_value value;
    while (json_cursor_member(&rocm->json, &key, &value)) {
        if (!str_equal(key, STR("operations")))
            json_cursor_pass(&rocm->json, &value);
        else if (json_cursor_enter(&rocm->json, &value, JSON_ARRAY))
            for (int64_t i = 0; json_cursor_item(&rocm->json, &value); i++)
                keep(rocm, &rocm->operations, operation_key(kind, i), text_of(rocm, &value));
    }
}

static void read_strings(struct rocm_json *rocm)
{
    struct str key;
    struct json_value value;
    while (json_cursor_member(&rocm->json, &key, &value)) {
        if (str_equal(key, STR("buffer_records")))
            each_object(rocm, &value, read_kind);
        else if (str_equal(key, STR("marker_api")))
            read_names(rocm, &value, &markers, &rocm->markers);
        else
            json_cursor_pass(&rocm->json, &value);
    }
    text_table_sort(&rocm->operations);
}

// --- records ------------------------------------------------------------------------------------

struct record {
    int64_t start_ns, end_ns, thread, correlation, kind, operation;
    int64_t agent, from, to, queue, kernel, dispatch, shared, bytes, stream, address;
    int64_t grid[3], block[3];
};

static const struct record no_record = {
    .start_ns = VALUE_ABSENT,
    .end_ns = VALUE_ABSENT,
    .thread = VALUE_ABSENT,
    .correlation = VALUE_ABSENT,
    .kind = VALUE_ABSENT,
    .operation = VALUE_ABSENT,
    .agent = VALUE_ABSENT,
    .from = VALUE_ABSENT,
    .to = VALUE_ABSENT,
    .kernel = VALUE_ABSENT,
    .dispatch = VALUE_ABSENT,
    .shared = VALUE_ABSENT,
    .bytes = VALUE_ABSENT,
    .stream = VALUE_ABSENT,
    .address = VALUE_ABSENT,
};

enum field {
    START,
    END,
    THREAD,
    CORRELATION,
    KIND,
    OPERATION,
    AGENT,
    FROM,
    TO,
    QUEUE,
    KERNEL,
    DISPATCH,
    SHARED,
    BYTES,
    STREAM,
    NUMBERS,
    ADDRESS = NUMBERS,
    GRID,
    BLOCK,
    NESTED,
    OTHER
};

#define NAME(text)            \
    {                         \
        text, sizeof text - 1 \
    }
// In the order in which records have them.
static const struct {
    struct str name;
    enum field field;
} field_names[] = {
    {NAME("size"), OTHER},
    {NAME("kind"), KIND},
    {NAME("operation"), OPERATION},
    {NAME("thread_id"), THREAD},
    {NAME("correlation_id"), CORRELATION},
    {NAME("start_timestamp"), START},
    {NAME("end_timestamp"), END},
    {NAME("dispatch_info"), NESTED},
    {NAME("dst_agent_id"), TO},
    {NAME("src_agent_id"), FROM},
    {NAME("bytes"), BYTES},
    {NAME("address"), ADDRESS},
    {NAME("allocation_size"), BYTES},
    {NAME("size"), OTHER},
    {NAME("agent_id"), AGENT},
    {NAME("queue_id"), QUEUE},
    {NAME("kernel_id"), KERNEL},
    {NAME("dispatch_id"), DISPATCH},
    {NAME("private_segment_size"), OTHER},
    {NAME("group_segment_size"), SHARED},
    {NAME("workgroup_size"), BLOCK},
    {NAME("grid_size"), GRID},
    {NAME("stream_id"), STREAM},
};
enum { FIELD_NAMES = sizeof field_names / sizeof *field_names };

// Looks from *at on, which moves past what was found: the next field mostly comes next.
static enum field field_of(struct str key, size_t *at)
{
    for (size_t i = 0; i < FIELD_NAMES; i++) {
        size_t index = (*at + i) % FIELD_NAMES;
        if (str_equal(key, field_names[index].name)) {
            *at = index + 1;
            return field_names[index].field;
        }
    }
    return OTHER;
}

static void read_extent(struct rocm_json *rocm, int64_t extent[3])
{
    struct str key;
    struct json_value value;
    while (json_cursor_member(&rocm->json, &key, &value)) {
        bool is = key.len == 1 && *key.at >= 'x' && *key.at <= 'z';
        int axis = is ? *key.at - 'x' : 0;
        int64_t number = number_of(rocm, &value);
        extent[axis] = is ? number : extent[axis];
    }
}

static void read_fields(struct rocm_json *rocm, struct record *record, unsigned depth)
{
    struct str key;
    struct json_value value;
    size_t at = 0;
    int64_t *const places[NUMBERS] = {&record->start_ns,    &record->end_ns, &record->thread,
                                      &record->correlation, &record->kind,   &record->operation,
                                      &record->agent,       &record->from,   &record->to,
                                      &record->queue,       &record->kernel, &record->dispatch,
                                      &record->shared,      &record->bytes,  &record->stream};
    while (json_cursor_member(&rocm->json, &key, &value)) {
        enum field field = field_of(key, &at);
        if (field < NUMBERS)
            *places[field] = handle_of(rocm, value);
        else if (field == ADDRESS && value.type == JSON_TEXT)
            record->address = rocm_address(text_of(rocm, &value));
        else if (field == NESTED && depth < DEEPEST && value.type == JSON_OBJECT)
            read_fields(rocm, record, depth + 1);
        else if ((field == GRID || field == BLOCK) && value.type == JSON_OBJECT)
            read_extent(rocm, field == GRID ? record->grid : record->block);
        else
            json_cursor_pass(&rocm->json, &value);
    }
}

static int64_t correlation_of(const struct rocm_json *rocm, const struct record *record)
{
    if (record->correlation <= 0 || record->correlation >= PROCESS_CORRELATIONS)
        return VALUE_ABSENT;
    return record->correlation + rocm->processes % INT16_MAX * PROCESS_CORRELATIONS;
}

static bool is_first_use(struct rocm_json *rocm, str_id name)
{
    while (rocm->is_used.len <= name && !rocm->is_used.failed)
        buf_putc(&rocm->is_used, 0);
    if (rocm->is_used.failed || rocm->is_used.at[name])
        return false;
    rocm->is_used.at[name] = 1;
    return true;
}

static void sum_up(struct rocm_json *rocm, const struct event_record *event)
{
    if (!rocm->input->figures)
        return;
    rocm->sums.kernels++;
    figures_sum(&rocm->sums.total_ns, event->dur_ns);
    rocm->sums.distinct += is_first_use(rocm, event->name);
}

// direction: of a copy.
static bool take_place(struct rocm_json *rocm, const struct record *record, struct str direction,
                       struct event_record *event, struct err *err)
{
    struct rocm_place place = {event->pid.number, record->stream, record->queue, direction};
    return rocm_row_of(&rocm->rows, rocm->builder, &place, &event->tid, err);
}

static bool add_kernel(struct rocm_json *rocm, const struct record *record,
                       struct event_record *event, struct err *err)
{
    const struct rocm_agent *agent = rocm_agents_find(&rocm->agents, record->agent);
    event->pid.number = agent ? agent->device : 0;
    event->shape.shared_bytes = record->shared >= 0 ? record->shared : VALUE_ABSENT;
    for (unsigned i = 0; i < 3; i++)
        rocm_extent(&event->shape, i, record->grid[i], record->block[i]);
    if (!take_place(rocm, record, STR(""), event, err) ||
        !text_table_intern(&rocm->kernels, rocm->builder, record->kernel, &event->name, err))
        return false;
    sum_up(rocm, event);
    return trace_builder_add(rocm->builder, event, err);
}

static bool take_kernel(struct rocm_json *rocm, const struct record *record,
                        struct event_record *event, struct err *err)
{
    const struct dispatch dispatch = {rocm->processes, record->dispatch};
    uint32_t index;
    return record_set_find(&rocm->counted, &dispatch, &index) ||
           add_kernel(rocm, record, event, err);
}

// A kernel with its counters. It may be listed again among all kernels, which come later; one
// without a number is left to that list.
static bool take_counted(struct rocm_json *rocm, const struct record *record,
                         struct event_record *event, struct err *err)
{
    const struct rocm_agent *agent = rocm_agents_find(&rocm->agents, record->agent);
    struct counter_record when = {.pid.number = agent ? agent->device : 0,
                                  .time_ns = event->begin_ns};
    const struct dispatch dispatch = {rocm->processes, record->dispatch};
    uint32_t index, before = rocm->counted.count;
    if (!rocm_counts_end(&rocm->counts, &rocm->counters, rocm->builder, &when, err))
        return false;
    if (record->dispatch == VALUE_ABSENT)
        return true;
    return record_set_add(&rocm->counted, &dispatch, &index, err) &&
           (rocm->counted.count == before || add_kernel(rocm, record, event, err));
}

// Host-to-host copies are not device work.
static bool take_copy(struct rocm_json *rocm, const struct record *record,
                      struct event_record *event, struct err *err)
{
    const struct rocm_agent *to = rocm_agents_find(&rocm->agents, record->to),
                            *from = rocm_agents_find(&rocm->agents, record->from);
    const struct rocm_agent *gpu = to && to->is_gpu ? to : from && from->is_gpu ? from : NULL;
    event->shape.bytes = record->bytes >= 0 ? record->bytes : VALUE_ABSENT;
    event->pid.number = gpu ? gpu->device : 0;
    return !gpu ||
           (text_table_intern(&rocm->operations, rocm->builder,
                              operation_key(record->kind, record->operation), &event->name, err) &&
            take_place(rocm, record, strtab_get(trace_builder_strings(rocm->builder), event->name),
                       event, err) &&
            trace_builder_add(rocm->builder, event, err));
}

static bool take_allocation(struct rocm_json *rocm, const struct record *record,
                            struct event_record *event, struct err *err)
{
    struct str operation = STR("");
    const struct rocm_agent *agent = rocm_agents_find(&rocm->agents, record->agent);
    (void)text_table_find(&rocm->operations, operation_key(record->kind, record->operation),
                          &operation);
    struct rocm_block block = {.address = record->address,
                               .time_ns = event->begin_ns,
                               .bytes = record->bytes,
                               .device = agent && agent->is_gpu ? agent->device : -1};
    return rocm_memory_add(&rocm->memory, operation, &block, err);
}

static bool take_call(struct rocm_json *rocm, const struct record *record,
                      struct event_record *event, struct err *err)
{
    struct str marker;
    bool named = event->kind == EVENT_ANNOTATION &&
                 text_table_find(&rocm->markers, record->correlation, &marker);
    event->pid.number = rocm->pid;
    event->tid.number = record->thread == VALUE_ABSENT ? 0 : record->thread;
    return text_table_intern(named ? &rocm->markers : &rocm->operations, rocm->builder,
                             named ? record->correlation
                                   : operation_key(record->kind, record->operation),
                             &event->name, err) &&
           trace_builder_add(rocm->builder, event, err);
}

// A list of records.
struct list {
    const char *name;
    enum event_kind kind;
    void (*read)(struct rocm_json *rocm, int64_t index);
    bool (*take)(struct rocm_json *rocm, const struct record *record, struct event_record *event,
                 struct err *err);
};

static bool go_on(struct rocm_json *rocm, struct err *err)
{
    return ++rocm->records % RECORDS_BETWEEN ||
           progress_report(rocm->input->progress, source_consumed(rocm->input->source), err);
}

static void take_record(struct rocm_json *rocm, const struct record *record, uint64_t pos)
{
    struct event_record event = event_record_of(rocm->list->kind);
    struct err err;
    event.correlation = correlation_of(rocm, record);
    bool timed = rocm_times(rocm->builder, &event, record->start_ns, record->end_ns, pos);
    if (!go_on(rocm, &err) || (timed && !rocm->list->take(rocm, record, &event, &err)))
        json_cursor_fail(&rocm->json, &err);
}

static void read_record(struct rocm_json *rocm, int64_t index)
{
    struct record record = no_record;
    uint64_t pos = json_cursor_pos(&rocm->json);
    (void)index;
    read_fields(rocm, &record, 0);
    if (!rocm->json.stop) // else the rest of it is missing
        take_record(rocm, &record, pos);
}

// {"counter_id": {"handle": 3}, "value": 8.0}
static void read_count(struct rocm_json *rocm, int64_t index)
{
    struct str key;
    struct json_value value;
    struct err err;
    int64_t counter = VALUE_ABSENT;
    double count = 0;
    bool counted = false;
    (void)index;
    while (json_cursor_member(&rocm->json, &key, &value)) {
        if (str_equal(key, STR("counter_id")))
            counter = handle_of(rocm, value);
        else if (str_equal(key, STR("value")) && value.type == JSON_SCALAR)
            counted = json_to_f64(value.text, &count);
        else
            json_cursor_pass(&rocm->json, &value);
    }
    if (counted && counter != VALUE_ABSENT && !rocm_counts_add(&rocm->counts, counter, count, &err))
        json_cursor_fail(&rocm->json, &err);
}

static void read_counted(struct rocm_json *rocm, int64_t index)
{
    struct str key;
    struct json_value value;
    struct record record = no_record;
    uint64_t pos = json_cursor_pos(&rocm->json);
    (void)index;
    rocm->counts.count = 0;
    while (json_cursor_member(&rocm->json, &key, &value)) {
        if (str_equal(key, STR("records")))
            each_object(rocm, &value, read_count);
        else if (str_equal(key, STR("dispatch_data")) && value.type == JSON_OBJECT)
            read_fields(rocm, &record, 0);
        else
            json_cursor_pass(&rocm->json, &value);
    }
    if (!rocm->json.stop)
        take_record(rocm, &record, pos);
}

static const struct list lists[] = {
    {"kernel_dispatch", EVENT_KERNEL, read_record, take_kernel},
    {"counter_collection", EVENT_KERNEL, read_counted, take_counted},
    {"memory_copy", EVENT_MEMCPY, read_record, take_copy},
    {"memory_allocation", EVENT_ALLOCATION, read_record, take_allocation},
    {"hip_api", EVENT_RUNTIME, read_record, take_call},
    {"hsa_api", EVENT_DRIVER, read_record, take_call},
    {"marker_api", EVENT_ANNOTATION, read_record, take_call},
    {"rccl_api", EVENT_ANNOTATION, read_record, take_call},
};

static const struct list *list_of(struct str key)
{
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (str_equal(key, str_of(lists[i].name)))
            return &lists[i];
    return NULL;
}

static void read_lists(struct rocm_json *rocm)
{
    struct str key;
    struct json_value value;
    while (json_cursor_member(&rocm->json, &key, &value)) {
        rocm->list = list_of(key);
        if (rocm->list)
            each_object(rocm, &value, rocm->list->read);
        else
            json_cursor_pass(&rocm->json, &value);
    }
}

// --- the file -----------------------------------------------------------------------------------

// The command line and settings of the process are never read.
static void read_metadata(struct rocm_json *rocm)
{
    struct str key;
    struct json_value value;
    while (json_cursor_member(&rocm->json, &key, &value)) {
        if (str_equal(key, STR("pid")))
            rocm->pid = number_of(rocm, &value);
        else
            json_cursor_pass(&rocm->json, &value);
    }
}

// Names are of no use after the records: those are already in the trace.
static bool are_late(struct rocm_json *rocm, struct str names)
{
    struct err err;
    if (rocm->records == rocm->records_before)
        return false;
    err_set_at(&err, ERR_FORMAT, json_cursor_pos(&rocm->json),
               "found %.*s after the records that use them, expected them first: send the file as "
               "rocprofv3 wrote it, without sorting its keys",
               (int)names.len, names.at);
    json_cursor_fail(&rocm->json, &err);
    return true;
}

static void read_member(struct rocm_json *rocm, struct str key, const struct json_value *value)
{
    static const char *const names[] = {"strings", "agents", "counters", "kernel_symbols"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_equal(key, str_of(names[i])) && are_late(rocm, key))
            return;
    if (str_equal(key, STR("metadata")))
        read_object(rocm, value, read_metadata);
    else if (str_equal(key, STR("strings")))
        read_object(rocm, value, read_strings);
    else if (str_equal(key, STR("buffer_records")) || str_equal(key, STR("callback_records")))
        read_object(rocm, value, read_lists);
    else if (str_equal(key, STR("agents")))
        each_object(rocm, value, read_agent);
    else if (str_equal(key, STR("counters")))
        read_names(rocm, value, &counters, &rocm->counters);
    else if (str_equal(key, STR("kernel_symbols")))
        read_names(rocm, value, &kernels, &rocm->kernels);
    else
        json_cursor_pass(&rocm->json, value);
}

static void report_process(const struct rocm_json *rocm)
{
    struct figures *figures = rocm->input->figures;
    long long index = rocm->processes;
    if (rocm->pid != VALUE_ABSENT)
        figures_add(figures, rocm->pid, "processes" IN "%lld" IN "pid", index);
    figures_add(figures, rocm->sums.kernels, "processes" IN "%lld" IN "kernels", index);
    figures_add(figures, rocm->sums.total_ns, "processes" IN "%lld" IN "kernel_total_ns", index);
    figures_add(figures, rocm->sums.distinct, "processes" IN "%lld" IN "distinct_kernels", index);
}

static void free_names(struct rocm_json *rocm)
{
    text_table_free(&rocm->kernels);
    text_table_free(&rocm->operations);
    text_table_free(&rocm->markers);
    text_table_free(&rocm->counters);
}

static void read_process(struct rocm_json *rocm, int64_t index)
{
    struct str key;
    struct json_value value;
    struct err err;
    (void)index;
    rocm->kernels.ids.budget = rocm->operations.ids.budget = rocm->input->budget;
    rocm->markers.ids.budget = rocm->counters.ids.budget = rocm->input->budget;
    rocm->agents.count = 0;
    rocm->rows = (struct rocm_rows){0};
    rocm->sums = (struct sums){0};
    rocm->records_before = rocm->records;
    if (rocm->processes)
        trace_builder_repair(rocm->builder, REPAIR_SECOND_LIST, json_cursor_pos(&rocm->json));
    rocm->is_used.len = 0;
    while (json_cursor_member(&rocm->json, &key, &value))
        read_member(rocm, key, &value);
    if (!rocm_memory_end(&rocm->memory, rocm->builder, &err))
        json_cursor_fail(&rocm->json, &err);
    report_process(rocm);
    free_names(rocm);
    rocm->processes++;
}

static void read_root(struct rocm_json *rocm)
{
    struct str key;
    struct json_value value;
    while (json_cursor_member(&rocm->json, &key, &value)) {
        if (str_equal(key, STR("rocprofiler-sdk-tool")))
            each_object(rocm, &value, read_process);
        else
            json_cursor_pass(&rocm->json, &value);
    }
}

static bool finish(struct rocm_json *rocm, struct err *err)
{
    struct json_cursor *json = &rocm->json;
    uint64_t pos = json_cursor_pos(json);
    trace_builder_count_input(rocm->builder, rocm->records, pos);
    if (json->stop == JSON_FAILED) {
        *err = json->err;
        return false;
    }
    if (json->stop == JSON_BROKEN)
        trace_builder_repair(rocm->builder, REPAIR_MALFORMED, pos);
    if (json->stop == JSON_CUT)
        trace_builder_repair(rocm->builder, REPAIR_TRUNCATED, pos);
    if (json->window.cut.code != ERR_NONE)
        trace_builder_repair(rocm->builder, REPAIR_COMPRESSION, json->window.cut.pos);
    if (!rocm->records && json->stop)
        return err_set_at(err, ERR_FORMAT, pos,
                          "found a JSON file of rocprofv3 that ends or is damaged before its first "
                          "record: send all of it");
    return rocm->records ||
           err_set(err, ERR_FORMAT,
                   "found a JSON file of rocprofv3 without kernels, copies or calls: record with "
                   "rocprofv3 --kernel-trace --hip-runtime-trace");
}

static bool read_document(struct rocm_json *rocm, struct err *err)
{
    struct json_value root;
    trace_builder_base(rocm->builder, VALUE_ABSENT);
    trace_builder_recorder(rocm->builder, RECORDER_ROCM);
    if (!json_cursor_open(&rocm->json, rocm->input->source, rocm->input->budget, &root, err))
        return false;
    if (!rocm->json.stop && root.type == JSON_OBJECT)
        read_root(rocm);
    return finish(rocm, err);
}

static bool rocm_json_read(const struct format_input *input, struct err *err)
{
    struct rocm_json *rocm = calloc(1, sizeof *rocm);
    if (!rocm)
        return err_set(err, ERR_MEMORY, "out of memory");
    rocm->input = input;
    rocm->builder = input->builder;
    rocm->counts.budget = rocm->memory.budget = input->budget;
    record_set_init(&rocm->counted, sizeof(struct dispatch), input->budget);
    bool ok = read_document(rocm, err);
    free_names(rocm);
    buf_free(&rocm->text);
    rocm_counts_free(&rocm->counts);
    rocm_memory_free(&rocm->memory);
    buf_free(&rocm->is_used);
    record_set_free(&rocm->counted);
    json_cursor_close(&rocm->json);
    free(rocm);
    return ok;
}

const struct format format_rocm_json = {
    .name = "rocprofv3-json",
    .what = "a rocprofv3 trace in JSON",
    .kind = FORMAT_TRACE,
    .member = "rocprofiler-sdk-tool",
    .read = rocm_json_read,
};
