// SPDX-License-Identifier: Apache-2.0
#include "ingest/torch/flight_dump.h"

enum { MOST_LIST = 240, MOST_FRAMES = 3 };

// --- members ------------------------------------------------------------------------------------

#define ROOT(member)   offsetof(struct flight, member)
#define GROUP(member)  offsetof(struct flight_group, member)
#define STATUS(member) offsetof(struct flight_status, member)
#define ENTRY(member)  offsetof(struct flight_entry, member)

static const struct flight_field root_fields[] = {
    {"version", FLIGHT_TEXT, ROOT(version)},
    {"nccl_version", FLIGHT_TEXT, ROOT(nccl_version)},
    {"comm_lib_version", FLIGHT_TEXT, ROOT(nccl_version)},
    {0},
};
static const struct flight_field group_fields[] = {
    {"name", FLIGHT_TEXT, GROUP(name)},
    {"desc", FLIGHT_TEXT, GROUP(desc)},
    {"ranks", FLIGHT_RANK_LIST, GROUP(ranks)},
    {0},
};
static const struct flight_field status_fields[] = {
    {"last_enqueued_collective", FLIGHT_NUMBER, STATUS(enqueued)},
    {"last_started_collective", FLIGHT_NUMBER, STATUS(started)},
    {"last_completed_collective", FLIGHT_NUMBER, STATUS(completed)},
    {0},
};
static const struct flight_field entry_fields[] = {
    {"process_group", FLIGHT_PAIR, ENTRY(group_name)},
    {"pg_id", FLIGHT_NUMBER, ENTRY(group_id)},
    {"collective_seq_id", FLIGHT_NUMBER, ENTRY(collective_seq)},
    {"seq_id", FLIGHT_NUMBER, ENTRY(collective_seq)}, // before 2.0, of both kinds
    {"p2p_seq_id", FLIGHT_NUMBER, ENTRY(p2p_seq)},
    {"is_p2p", FLIGHT_FLAG, ENTRY(is_p2p)},
    {"retired", FLIGHT_FLAG, ENTRY(retired)},
    {"state", FLIGHT_STATE, ENTRY(state)},
    {"profiling_name", FLIGHT_TEXT, ENTRY(op)},
    {"input_sizes", FLIGHT_SIZES, ENTRY(input)},
    {"input_dtypes", FLIGHT_DTYPES, ENTRY(input)},
    {"output_sizes", FLIGHT_SIZES, ENTRY(output)},
    {"output_dtypes", FLIGHT_DTYPES, ENTRY(output)},
    {"time_created_ns", FLIGHT_TIME, ENTRY(created_ns)},
    {"time_discovered_started_ns", FLIGHT_TIME, ENTRY(started_ns)},
    {"time_discovered_completed_ns", FLIGHT_TIME, ENTRY(completed_ns)},
    {"timeout_ms", FLIGHT_NUMBER, ENTRY(timeout_ms)},
    {"frames", FLIGHT_FRAMES, ENTRY(frames)},
    {0},
};

const struct flight_field *flight_field_of(enum flight_record record, struct str name)
{
    static const struct flight_field *const fields[FLIGHT_RECORDS] = {root_fields, group_fields,
                                                                      status_fields, entry_fields};
    for (const struct flight_field *field = fields[record]; field->name; field++)
        if (str_equal(name, str_of(field->name)))
            return field;
    return NULL;
}

static void *record_of(struct flight_dump *dump, enum flight_record record)
{
    void *const records[FLIGHT_RECORDS] = {&dump->evidence->flight, &dump->group, &dump->status,
                                           &dump->entry};
    return records[record];
}

// --- records ------------------------------------------------------------------------------------

bool flight_dump_start(struct flight_dump *dump, const struct format_input *input, struct err *err)
{
    *dump = (struct flight_dump){.evidence = input->evidence};
    input->evidence->source = STR("flight-recorder");
    return flight_start(input->evidence, input->filename, err);
}

void flight_dump_end(struct flight_dump *dump)
{
    budget_free(dump->evidence->budget, dump->statuses, dump->status_cap * sizeof *dump->statuses);
    buf_free(&dump->list);
}

bool flight_dump_finish(struct flight_dump *dump, struct err *err)
{
    return flight_finish(dump->evidence, dump->statuses, dump->status_count, err);
}

bool flight_dump_open(struct flight_dump *dump, enum flight_record record, struct str key,
                      struct err *err)
{
    const int64_t unknown = FLIGHT_UNKNOWN;
    if (record == FLIGHT_STATUS) {
        dump->status = (struct flight_status){unknown, unknown, unknown, unknown};
        return str_to_i64(key, &dump->status.id) || true;
    }
    if (record == FLIGHT_ENTRY)
        dump->entry = (struct flight_entry){
            .group_id = unknown,
            .collective_seq = unknown,
            .p2p_seq = unknown,
            .state = FLIGHT_OTHER,
            .input.elements = unknown,
            .output.elements = unknown,
            .created_ns = unknown,
            .started_ns = unknown,
            .completed_ns = unknown,
            .timeout_ms = unknown,
        };
    if (record != FLIGHT_GROUP)
        return true;
    dump->group = (struct flight_group){
        .id = unknown, .enqueued = unknown, .started = unknown, .completed = unknown};
    return flight_text(dump->evidence, key, &dump->group.name, err);
}

static bool close_status(struct flight_dump *dump, struct err *err)
{
    if (dump->status.id == FLIGHT_UNKNOWN)
        return true;
    struct flight_status *grown =
        budget_room(dump->evidence->budget, dump->statuses, &dump->status_cap,
                    dump->status_count + 1, sizeof *grown, err);
    if (!grown)
        return false;
    dump->statuses = grown;
    dump->statuses[dump->status_count++] = dump->status;
    return true;
}

// Before 2.1 only the name says it: "nccl:send 0->1".
static bool is_named_p2p(struct str op)
{
    return str_contains_nocase(op, STR(":send ")) || str_contains_nocase(op, STR(":recv "));
}

static bool close_entry(struct flight_dump *dump, struct err *err)
{
    const struct flight *flight = &dump->evidence->flight;
    if (is_named_p2p(strtab_get(&flight->texts, dump->entry.op)))
        dump->entry.is_p2p = true;
    return flight_add_entry(dump->evidence, &dump->entry, err);
}

bool flight_dump_close(struct flight_dump *dump, enum flight_record record, struct err *err)
{
    switch (record) {
    case FLIGHT_GROUP: return flight_add_group(dump->evidence, &dump->group, err);
    case FLIGHT_STATUS: return close_status(dump, err);
    case FLIGHT_ENTRY: return close_entry(dump, err);
    case FLIGHT_ROOT:
    case FLIGHT_RECORDS: break;
    }
    return true;
}

// --- values -------------------------------------------------------------------------------------

static int64_t number_of(const struct flight_value *value)
{
    int64_t number;
    if (value->is_number)
        return value->number;
    return value->is_text && str_to_i64(value->text, &number) ? number : FLIGHT_UNKNOWN;
}

static enum flight_state state_of(struct str word)
{
    size_t at = str_place(word, flight_state_words, FLIGHT_OTHER);
    return at < FLIGHT_OTHER ? (enum flight_state)at : FLIGHT_OTHER;
}

bool flight_dump_set(struct flight_dump *dump, enum flight_record record,
                     const struct flight_field *field, const struct flight_value *value,
                     struct err *err)
{
    void *place = (char *)record_of(dump, record) + field->at;
    int64_t number = number_of(value);
    if (field->kind == FLIGHT_NUMBER)
        *(int64_t *)place = number;
    else if (field->kind == FLIGHT_TIME)
        *(int64_t *)place = number > 0 ? number : FLIGHT_UNKNOWN;
    else if (field->kind == FLIGHT_FLAG)
        *(bool *)place = number != 0 && number != FLIGHT_UNKNOWN;
    else if (field->kind == FLIGHT_STATE)
        *(enum flight_state *)place = state_of(value->is_text ? value->text : STR(""));
    else if (value->is_text && (field->kind == FLIGHT_TEXT || field->kind == FLIGHT_PAIR))
        return flight_text(dump->evidence, value->text, place, err);
    else if (field->kind == FLIGHT_RANK_LIST && value->is_text)
        return flight_ranks(dump->evidence, value->text, place, err);
    return true;
}

// --- lists --------------------------------------------------------------------------------------

void flight_list_open(struct flight_dump *dump)
{
    buf_clear(&dump->list);
    dump->items = dump->frames = 0;
    dump->elements = 0;
}

// Once the text is long enough to recognize the list by, the rest is left out.
static bool has_room(const struct flight_dump *dump)
{
    return dump->list.len < MOST_LIST;
}

static void add_comma(struct flight_dump *dump)
{
    if (dump->items++ && has_room(dump))
        buf_puts(&dump->list, ", ");
}

void flight_tensor_open(struct flight_dump *dump)
{
    add_comma(dump);
    dump->items = 0;
    dump->product = 1;
    if (has_room(dump))
        buf_putc(&dump->list, '[');
}

void flight_tensor_size(struct flight_dump *dump, int64_t size)
{
    add_comma(dump);
    if (__builtin_mul_overflow(dump->product, size, &dump->product))
        dump->product = INT64_MAX;
    if (has_room(dump))
        buf_i64(&dump->list, size);
}

void flight_tensor_close(struct flight_dump *dump)
{
    dump->items = 1;
    if (__builtin_add_overflow(dump->elements, dump->product, &dump->elements))
        dump->elements = INT64_MAX;
    if (has_room(dump))
        buf_putc(&dump->list, ']');
}

bool flight_list_text(struct flight_dump *dump, const struct flight_field *field, struct str text,
                      struct err *err)
{
    if (field->kind == FLIGHT_PAIR)
        return dump->items++ < 2
                   ? flight_text(
                         dump->evidence, text,
                         dump->items == 1 ? &dump->entry.group_name : &dump->entry.group_desc, err)
                   : true;
    add_comma(dump);
    if (has_room(dump))
        buf_add_str(&dump->list, text);
    return true;
}

bool flight_list_close(struct flight_dump *dump, const struct flight_field *field, struct err *err)
{
    void *place = (char *)&dump->entry + field->at;
    struct flight_tensors *tensors = place;
    struct str text = {dump->list.at, dump->list.len};
    if (!buf_ok(&dump->list, err))
        return false;
    switch (field->kind) {
    case FLIGHT_SIZES:
        tensors->elements = dump->elements;
        return flight_text(dump->evidence, text, &tensors->sizes, err);
    case FLIGHT_DTYPES: return flight_text(dump->evidence, text, &tensors->dtypes, err);
    case FLIGHT_FRAMES: return flight_text(dump->evidence, text, place, err);
    default: return true;
    }
}

// --- calls --------------------------------------------------------------------------------------

bool flight_list_frame(struct flight_dump *dump, const struct call_frame *frame)
{
    if (call_frame_is_of_library(frame->filename))
        return true;
    add_comma(dump);
    struct str file = call_frame_file(frame->filename);
    if (has_room(dump) && frame->name.len + file.len < MOST_LIST) {
        buf_add_str(&dump->list, frame->name);
        buf_puts(&dump->list, " (");
        buf_add_str(&dump->list, file);
        buf_printf(&dump->list, ":%lld)", (long long)frame->line);
    }
    return ++dump->frames < MOST_FRAMES;
}

// --- inspect ------------------------------------------------------------------------------------

static void report_flight(const struct evidence *evidence, struct figures *figures)
{
    flight_report(&evidence->flight, figures);
}

bool flight_dump_count(const struct format_input *input, evidence_gather *gather, struct err *err)
{
    return evidence_count(&(struct evidence_count){gather, report_flight}, input, err);
}
