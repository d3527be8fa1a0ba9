// SPDX-License-Identifier: Apache-2.0
// Memory snapshots of PyTorch's caching allocator that somebody saved as JSON
// (json.dump(torch.cuda.memory._snapshot(), file)), counted as a stream.
#include "ingest/format.h"
#include "ingest/json/json_cursor.h"
#include "ingest/json/json_number.h"
#include "ingest/json/json_outline.h"
#include "ingest/torch/snapshot_sums.h"

struct snapshot {
    struct json_cursor json;
    struct snapshot_sums sums;
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

static unsigned place_of(enum snapshot_word member, const struct json_value *value)
{
    return snapshot_place(member, value->type == JSON_TEXT ? value->text : STR(""));
}

// A block or event, whose state or action is in the member of that name.
static struct snapshot_change take_change(struct snapshot *snapshot, const char *name,
                                          enum snapshot_word member)
{
    struct snapshot_change change = {.word = snapshot_place(member, STR(""))};
    struct str key;
    struct json_value value;
    while (json_cursor_member(&snapshot->json, &key, &value)) {
        if (is(key, "size"))
            change.size = whole(&value);
        else if (is(key, name))
            change.word = place_of(member, &value);
        json_cursor_pass(&snapshot->json, &value);
    }
    return change;
}

static void take_blocks(struct snapshot *snapshot)
{
    struct json_value block;
    while (json_cursor_item(&snapshot->json, &block)) {
        if (!json_cursor_enter(&snapshot->json, &block, JSON_OBJECT))
            continue;
        struct snapshot_change read = take_change(snapshot, "state", WORD_STATE);
        snapshot_add_block(&snapshot->sums, &read);
    }
}

static void take_segment(struct snapshot *snapshot)
{
    struct snapshot_segment segment = {.type = snapshot_place(WORD_SEGMENT_TYPE, STR(""))};
    struct str key;
    struct json_value value;
    while (json_cursor_member(&snapshot->json, &key, &value)) {
        if (is(key, "blocks") && value.type == JSON_ARRAY) {
            take_blocks(snapshot);
            continue;
        }
        if (is(key, "device"))
            segment.device = whole(&value);
        else if (is(key, "total_size"))
            segment.total_size = whole(&value);
        else if (is(key, "allocated_size"))
            segment.allocated_size = whole(&value);
        else if (is(key, "active_size"))
            segment.active_size = whole(&value);
        else if (is(key, "segment_type"))
            segment.type = place_of(WORD_SEGMENT_TYPE, &value);
        json_cursor_pass(&snapshot->json, &value);
    }
    snapshot_add_segment(&snapshot->sums, &segment);
}

static void take_segments(struct snapshot *snapshot)
{
    struct json_value segment;
    while (json_cursor_item(&snapshot->json, &segment))
        if (json_cursor_enter(&snapshot->json, &segment, JSON_OBJECT))
            take_segment(snapshot);
}

static void take_trace(struct snapshot *snapshot, int64_t device)
{
    struct json_value event;
    while (json_cursor_item(&snapshot->json, &event)) {
        if (!json_cursor_enter(&snapshot->json, &event, JSON_OBJECT))
            continue;
        struct snapshot_change read = take_change(snapshot, "action", WORD_ACTION);
        snapshot_add_event(&snapshot->sums, device, &read);
    }
}

static void take_traces(struct snapshot *snapshot)
{
    struct json_value trace;
    for (int64_t device = 0; json_cursor_item(&snapshot->json, &trace); device++)
        if (json_cursor_enter(&snapshot->json, &trace, JSON_ARRAY))
            take_trace(snapshot, device);
}

static void take_annotations(struct snapshot *snapshot)
{
    struct json_value item;
    for (; json_cursor_item(&snapshot->json, &item); snapshot->sums.annotations++)
        json_cursor_pass(&snapshot->json, &item);
}

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

static bool count_snapshot(const struct format_input *input, struct err *err)
{
    struct snapshot *snapshot = budget_zalloc(input->budget, sizeof *snapshot, err);
    bool ok = snapshot && take_document(snapshot, input, err);
    if (ok)
        snapshot_report(&snapshot->sums, input->figures);
    budget_free(input->budget, snapshot, sizeof *snapshot);
    return ok;
}

// Of the members, mostly the first segments are in the head.
static enum format_likeness probe_snapshot(struct str head, struct str filename)
{
    (void)filename;
    struct json_outline outline = json_outline_of(head);
    bool sizes = str_find(head, STR("\"allocated_size\"")) != SIZE_MAX;
    bool named = json_outline_has(&outline, "device_traces") ||
                 (sizes && json_outline_has(&outline, "segments")) ||
                 (sizes && json_outline_has(&outline, "total_size"));
    return named ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_memory_snapshot_json = {
    .name = "memory-snapshot",
    .what = "a memory snapshot in JSON",
    .advice = "upload the output of prof.export_chrome_trace()",
    .kind = FORMAT_RECORDS,
    .probe = probe_snapshot,
    .count = count_snapshot,
};
