// SPDX-License-Identifier: Apache-2.0
// Memory snapshots of PyTorch's caching allocator that someone saved as JSON
// (json.dump(torch.cuda.memory._snapshot(), file)), read as a stream.
#include "ingest/json/json_cursor.h"
#include "ingest/json/json_number.h"
#include "ingest/json/json_outline.h"
#include "ingest/torch/snapshot_calls.h"

struct snapshot {
    struct json_cursor json;
    struct evidence *evidence;
    struct snapshot_calls calls;
    struct buf name, filename; // of a frame or an annotation
    size_t traces;
};

static bool is(struct str key, const char *name)
{
    return str_equal(key, str_of(name));
}

// A size or an index; 0 for anything else.
static int64_t whole(const struct json_value *value)
{
    int64_t number;
    bool is_whole = value->type == JSON_SCALAR && json_to_i64(value->text, &number);
    return is_whole && number > 0 ? number : 0;
}

// 0 if there is none.
static uint64_t address_of(const struct json_value *value)
{
    uint64_t bits;
    return value->type == JSON_SCALAR && json_to_bits(value->text, &bits) ? bits : 0;
}

static unsigned place_of(enum snapshot_word member, const struct json_value *value)
{
    return snapshot_place(member, value->type == JSON_TEXT ? value->text : STR(""));
}

static struct str decoded(struct buf *out, const struct json_value *value)
{
    buf_clear(out);
    if (value->type == JSON_TEXT)
        (void)json_text_decode(value->text, out);
    return (struct str){out->at, out->len};
}

// Stops reading after a failure to keep something.
static void check(struct snapshot *snapshot, bool ok, const struct err *err)
{
    if (!ok)
        json_cursor_fail(&snapshot->json, err);
}

// --- frames -------------------------------------------------------------------------------------

static void take_frame(struct snapshot *snapshot)
{
    struct call_frame frame = {0};
    struct str key;
    struct json_value value;
    while (json_cursor_member(&snapshot->json, &key, &value)) {
        if (is(key, "name"))
            frame.name = decoded(&snapshot->name, &value);
        else if (is(key, "filename"))
            frame.filename = decoded(&snapshot->filename, &value);
        else if (is(key, "line"))
            frame.line = whole(&value);
        json_cursor_pass(&snapshot->json, &value);
    }
    snapshot_calls_add(&snapshot->calls, &frame);
}

static uint32_t take_frames(struct snapshot *snapshot)
{
    uint32_t stack = SNAPSHOT_NO_STACK;
    struct err err = {.pos = ERR_NO_POS};
    struct json_value frame;
    snapshot_calls_open(&snapshot->calls);
    while (json_cursor_item(&snapshot->json, &frame))
        if (json_cursor_enter(&snapshot->json, &frame, JSON_OBJECT))
            take_frame(snapshot);
    check(snapshot, snapshot_calls_close(&snapshot->calls, snapshot->evidence, &stack, &err), &err);
    return stack;
}

// Whether it was frames, which are read to their end.
static bool take_stack(struct snapshot *snapshot, struct str key, const struct json_value *value,
                       uint32_t *stack)
{
    if (!is(key, "frames") || value->type != JSON_ARRAY)
        return false;
    *stack = take_frames(snapshot);
    return true;
}

// --- segments -----------------------------------------------------------------------------------

static void take_block(struct snapshot *snapshot)
{
    struct snapshot_block_record block = {.state = snapshot_place(WORD_STATE, STR(""))};
    struct err err = {.pos = ERR_NO_POS};
    struct str key;
    struct json_value value;
    while (json_cursor_member(&snapshot->json, &key, &value)) {
        if (take_stack(snapshot, key, &value, &block.stack))
            continue;
        if (is(key, "size"))
            block.size = whole(&value);
        else if (is(key, "address"))
            block.address = address_of(&value);
        else if (is(key, "state"))
            block.state = place_of(WORD_STATE, &value);
        json_cursor_pass(&snapshot->json, &value);
    }
    check(snapshot, memory_snapshot_block(snapshot->evidence, &block, &err), &err);
}

static void take_blocks(struct snapshot *snapshot)
{
    struct json_value block;
    while (json_cursor_item(&snapshot->json, &block))
        if (json_cursor_enter(&snapshot->json, &block, JSON_OBJECT))
            take_block(snapshot);
}

static void take_of_segment(struct snapshot_segment *segment, struct str key,
                            const struct json_value *value)
{
    if (is(key, "device"))
        segment->device = whole(value);
    else if (is(key, "address"))
        segment->address = address_of(value);
    else if (is(key, "total_size"))
        segment->total_size = whole(value);
    else if (is(key, "active_size"))
        segment->active_size = whole(value);
    else if (is(key, "segment_type"))
        segment->type = place_of(WORD_SEGMENT_TYPE, value);
    else if (is(key, "is_expandable"))
        segment->expandable = value->type == JSON_SCALAR && is(value->text, "true");
    if (!is(key, "allocated_size"))
        return;
    segment->allocated_size = whole(value);
    segment->profiled = false;
}

// Whether it is any but [0, 0], the pool that all may use.
static bool take_pool(struct snapshot *snapshot)
{
    struct json_value part;
    int64_t any = 0;
    while (json_cursor_item(&snapshot->json, &part)) {
        any |= whole(&part);
        json_cursor_pass(&snapshot->json, &part);
    }
    return any != 0;
}

static void take_segment(struct snapshot *snapshot)
{
    struct snapshot_segment segment = {.type = snapshot_place(WORD_SEGMENT_TYPE, STR("")),
                                       .profiled = true};
    struct err err = {.pos = ERR_NO_POS};
    struct str key;
    struct json_value value;
    while (json_cursor_member(&snapshot->json, &key, &value)) {
        if (is(key, "blocks") && value.type == JSON_ARRAY) {
            take_blocks(snapshot);
            continue;
        }
        if (is(key, "segment_pool_id") && value.type == JSON_ARRAY) {
            segment.private = take_pool(snapshot);
            continue;
        }
        take_of_segment(&segment, key, &value);
        json_cursor_pass(&snapshot->json, &value);
    }
    check(snapshot, memory_snapshot_segment(snapshot->evidence, &segment, &err), &err);
}

static void take_segments(struct snapshot *snapshot)
{
    struct json_value segment;
    while (json_cursor_item(&snapshot->json, &segment))
        if (json_cursor_enter(&snapshot->json, &segment, JSON_OBJECT))
            take_segment(snapshot);
}

// --- allocations --------------------------------------------------------------------------------

static void take_event(struct snapshot *snapshot, int64_t device)
{
    struct snapshot_event event = {.device = device,
                                   .action = snapshot_place(WORD_ACTION, STR(""))};
    struct err err = {.pos = ERR_NO_POS};
    struct str key;
    struct json_value value;
    while (json_cursor_member(&snapshot->json, &key, &value)) {
        if (take_stack(snapshot, key, &value, &event.stack))
            continue;
        if (is(key, "size"))
            event.size = whole(&value);
        else if (is(key, "addr"))
            event.address = address_of(&value);
        else if (is(key, "time_us"))
            event.time_us = whole(&value);
        else if (is(key, "device_free"))
            event.device_free = whole(&value);
        else if (is(key, "action"))
            event.action = place_of(WORD_ACTION, &value);
        json_cursor_pass(&snapshot->json, &value);
    }
    check(snapshot, memory_snapshot_event(snapshot->evidence, &event, &err), &err);
}

static void take_trace(struct snapshot *snapshot, int64_t device)
{
    struct json_value event;
    while (json_cursor_item(&snapshot->json, &event))
        if (json_cursor_enter(&snapshot->json, &event, JSON_OBJECT))
            take_event(snapshot, device);
}

static void take_traces(struct snapshot *snapshot)
{
    struct json_value trace;
    for (; json_cursor_item(&snapshot->json, &trace); snapshot->traces++)
        if (json_cursor_enter(&snapshot->json, &trace, JSON_ARRAY))
            take_trace(snapshot, (int64_t)snapshot->traces);
}

static void take_annotation(struct snapshot *snapshot)
{
    struct snapshot_annotation annotation = {0};
    struct err err = {.pos = ERR_NO_POS};
    struct str key;
    struct json_value value;
    while (json_cursor_member(&snapshot->json, &key, &value)) {
        if (is(key, "name"))
            annotation.name = decoded(&snapshot->name, &value);
        else if (is(key, "stage"))
            annotation.start = value.type == JSON_TEXT && is(value.text, "START");
        else if (is(key, "device"))
            annotation.device = whole(&value);
        else if (is(key, "time_us"))
            annotation.time_us = whole(&value);
        json_cursor_pass(&snapshot->json, &value);
    }
    check(snapshot, memory_snapshot_annotation(snapshot->evidence, &annotation, &err), &err);
}

static void take_annotations(struct snapshot *snapshot)
{
    struct json_value item;
    while (json_cursor_item(&snapshot->json, &item))
        if (json_cursor_enter(&snapshot->json, &item, JSON_OBJECT))
            take_annotation(snapshot);
}

// --- the file -----------------------------------------------------------------------------------

static void take_root(struct snapshot *snapshot)
{
    struct str key;
    struct json_value value;
    while (json_cursor_member(&snapshot->json, &key, &value))
        if (is(key, "segments") && value.type == JSON_ARRAY)
            take_segments(snapshot);
        else if (is(key, "device_traces") && value.type == JSON_ARRAY)
            take_traces(snapshot);
        else if (is(key, "external_annotations") && value.type == JSON_ARRAY)
            take_annotations(snapshot);
        else
            json_cursor_pass(&snapshot->json, &value);
}

// Sums of a part would mislead, so a file that is cut has none.
static bool check_end(const struct json_cursor *json, struct err *err)
{
    if (json->stop == JSON_FAILED)
        *err = json->err;
    else if (json->stop == JSON_BROKEN)
        err_set_at(err, ERR_FORMAT, json_cursor_pos(json), "found a memory snapshot in bad JSON");
    else if (json->stop == JSON_CUT)
        err_set_at(err, ERR_FORMAT, json_cursor_pos(json),
                   "the memory snapshot ends early: it was cut; send it again, whole");
    return json->stop == JSON_GOING;
}

static bool take_document(struct snapshot *snapshot, const struct format_input *input,
                          struct err *err)
{
    struct json_value root;
    bool opened = json_cursor_open(&snapshot->json, input->source, input->budget, &root, err);
    if (opened && root.type == JSON_ARRAY)
        take_segments(snapshot); // as old ones are
    else if (opened)
        take_root(snapshot);
    bool ok = opened && check_end(&snapshot->json, err);
    json_cursor_close(&snapshot->json);
    return ok;
}

static bool gather_snapshot(const struct format_input *input, struct err *err)
{
    struct snapshot *snapshot = budget_zalloc(input->budget, sizeof *snapshot, err);
    if (!snapshot)
        return false;
    snapshot->evidence = input->evidence;
    bool ok = memory_snapshot_start(input->evidence, input->filename, err) &&
              take_document(snapshot, input, err);
    if (ok)
        memory_snapshot_done(input->evidence, snapshot->traces);
    snapshot_calls_free(&snapshot->calls);
    buf_free(&snapshot->name);
    buf_free(&snapshot->filename);
    budget_free(input->budget, snapshot, sizeof *snapshot);
    return ok;
}

static bool count_snapshot(const struct format_input *input, struct err *err)
{
    return snapshot_count(input, gather_snapshot, err);
}

// Mostly, the head ends within the first segments.
static enum format_likeness probe_snapshot(const struct format_sample *sample)
{
    bool sizes = str_find(sample->head, STR("\"allocated_size\"")) != SIZE_MAX;
    bool named = json_outline_has(sample->outline, "device_traces") ||
                 (sizes && json_outline_has(sample->outline, "segments")) ||
                 (sizes && json_outline_has(sample->outline, "total_size"));
    return named ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_memory_snapshot_json = {
    .name = "memory-snapshot",
    .what = "a memory snapshot in JSON",
    .kind = FORMAT_RECORDS,
    .probe = probe_snapshot,
    .count = count_snapshot,
    .gather = gather_snapshot,
};
