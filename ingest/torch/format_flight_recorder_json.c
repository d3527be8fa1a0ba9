// SPDX-License-Identifier: Apache-2.0
// Flight Recorder dumps in JSON, as PyTorch's debug server gives them: numbers may be texts, 0
// means none, and what is empty is left out. A member may come before those that explain it.
#include "ingest/json/json_cursor.h"
#include "ingest/json/json_number.h"
#include "ingest/json/json_outline.h"
#include "ingest/torch/flight_dump.h"

struct reader {
    struct flight_dump dump;
    struct json_cursor json;
    struct buf text, name, filename; // decoded
};

// --- values -------------------------------------------------------------------------------------

// Lives until the next one.
static struct str decoded(struct reader *reader, struct str raw)
{
    struct buf *out = &reader->text;
    if (json_text_is_plain(raw))
        return raw;
    buf_clear(out);
    (void)json_text_decode(raw, out);
    return (struct str){out->at, out->len};
}

// Of a text or scalar.
static struct flight_value value_of(struct reader *reader, const struct json_value *value)
{
    struct flight_value found = {.is_text = value->type == JSON_TEXT};
    if (found.is_text)
        found.text = decoded(reader, value->text);
    found.is_number = value->type == JSON_SCALAR && json_to_i64(value->text, &found.number);
    if (value->type == JSON_SCALAR && str_equal(value->text, STR("true")))
        found = (struct flight_value){.is_number = true, .number = 1};
    return found;
}

// --- lists --------------------------------------------------------------------------------------

static void take_tensor(struct reader *reader)
{
    struct json_value item;
    int64_t size;
    flight_tensor_open(&reader->dump);
    while (json_cursor_item(&reader->json, &item)) {
        if (item.type == JSON_SCALAR && json_to_i64(item.text, &size))
            flight_tensor_size(&reader->dump, size);
        json_cursor_pass(&reader->json, &item);
    }
    flight_tensor_close(&reader->dump);
}

// The texts are copied: those of the document live until the next member only.
static bool take_frame(struct reader *reader)
{
    struct call_frame frame = {0};
    struct str key;
    struct json_value value;
    buf_clear(&reader->name);
    buf_clear(&reader->filename);
    while (json_cursor_member(&reader->json, &key, &value)) {
        if (str_equal(key, STR("name")) && value.type == JSON_TEXT)
            (void)json_text_decode(value.text, &reader->name);
        else if (str_equal(key, STR("filename")) && value.type == JSON_TEXT)
            (void)json_text_decode(value.text, &reader->filename);
        else if (str_equal(key, STR("line")) && value.type == JSON_SCALAR)
            (void)json_to_i64(value.text, &frame.line);
        json_cursor_pass(&reader->json, &value);
    }
    frame.name = (struct str){reader->name.at, reader->name.len};
    frame.filename = (struct str){reader->filename.at, reader->filename.len};
    return flight_list_frame(&reader->dump, &frame);
}

static bool take_item(struct reader *reader, const struct flight_field *field,
                      const struct json_value *item, struct err *err)
{
    if (item->type != JSON_TEXT || field->kind == FLIGHT_SIZES || field->kind == FLIGHT_FRAMES) {
        json_cursor_pass(&reader->json, item);
        return true;
    }
    return flight_list_text(&reader->dump, field, decoded(reader, item->text), err);
}

static bool take_list(struct reader *reader, const struct flight_field *field, struct err *err)
{
    struct json_value item;
    bool ok = true, frames = field->kind == FLIGHT_FRAMES;
    flight_list_open(&reader->dump);
    while (ok && json_cursor_item(&reader->json, &item)) {
        if (field->kind == FLIGHT_SIZES && item.type == JSON_ARRAY)
            take_tensor(reader);
        else if (frames && item.type == JSON_OBJECT)
            frames = take_frame(reader);
        else
            ok = take_item(reader, field, &item, err);
    }
    return ok && flight_list_close(&reader->dump, field, err);
}

// --- records ------------------------------------------------------------------------------------

static bool take_member(struct reader *reader, enum flight_record record, struct str key,
                        const struct json_value *value, struct err *err)
{
    const struct flight_field *field = flight_field_of(record, key);
    bool list = field && field->kind >= FLIGHT_PAIR;
    if (list && value->type == JSON_ARRAY)
        return take_list(reader, field, err);
    if (!field || (list && value->type != JSON_TEXT) || value->type == JSON_ARRAY ||
        value->type == JSON_OBJECT) {
        json_cursor_pass(&reader->json, value);
        return true;
    }
    struct flight_value found = value_of(reader, value);
    return flight_dump_set(&reader->dump, record, field, &found, err);
}

static bool take_record(struct reader *reader, enum flight_record record, struct str name,
                        struct err *err)
{
    struct str key;
    struct json_value value;
    bool ok = flight_dump_open(&reader->dump, record, decoded(reader, name), err);
    while (ok && json_cursor_member(&reader->json, &key, &value))
        ok = take_member(reader, record, key, &value, err);
    return ok && flight_dump_close(&reader->dump, record, err);
}

static bool take_named(struct reader *reader, enum flight_record record, struct err *err)
{
    struct str key;
    struct json_value value;
    while (json_cursor_member(&reader->json, &key, &value)) {
        if (value.type != JSON_OBJECT)
            json_cursor_pass(&reader->json, &value);
        else if (!take_record(reader, record, key, err))
            return false;
    }
    return true;
}

static bool take_entries(struct reader *reader, struct err *err)
{
    struct json_value entry;
    while (json_cursor_item(&reader->json, &entry))
        if (json_cursor_enter(&reader->json, &entry, JSON_OBJECT) &&
            !take_record(reader, FLIGHT_ENTRY, STR(""), err))
            return false;
    return true;
}

// --- the file -----------------------------------------------------------------------------------

static bool take_root(struct reader *reader, struct err *err)
{
    struct str key;
    struct json_value value;
    bool ok = true;
    while (ok && json_cursor_member(&reader->json, &key, &value))
        if (str_equal(key, STR("entries")) && value.type == JSON_ARRAY)
            ok = take_entries(reader, err);
        else if (str_equal(key, STR("pg_config")) && value.type == JSON_OBJECT)
            ok = take_named(reader, FLIGHT_GROUP, err);
        else if (str_equal(key, STR("pg_status")) && value.type == JSON_OBJECT)
            ok = take_named(reader, FLIGHT_STATUS, err);
        else
            ok = take_member(reader, FLIGHT_ROOT, key, &value, err);
    return ok;
}

// A dump without its last entries would make its rank look late, so one that is cut is refused.
static bool check_end(const struct json_cursor *json, struct err *err)
{
    if (json->stop == JSON_FAILED)
        *err = json->err;
    else if (json->stop == JSON_BROKEN)
        err_set_at(err, ERR_FORMAT, json_cursor_pos(json),
                   "found a Flight Recorder dump in bad JSON");
    else if (json->stop == JSON_CUT)
        err_set_at(err, ERR_FORMAT, json_cursor_pos(json),
                   "the Flight Recorder dump ends early: it was cut; send it again, whole");
    return json->stop == JSON_GOING;
}

static bool take_document(struct reader *reader, const struct format_input *input, struct err *err)
{
    struct json_value root;
    bool ok = json_cursor_open(&reader->json, input->source, input->budget, &root, err);
    if (ok && root.type != JSON_OBJECT)
        ok = err_set_at(err, ERR_FORMAT, 0, "found JSON, expected a Flight Recorder dump");
    ok = ok && take_root(reader, err) && check_end(&reader->json, err) &&
         flight_dump_finish(&reader->dump, err);
    json_cursor_close(&reader->json);
    return ok;
}

static bool gather_dump(const struct format_input *input, struct err *err)
{
    struct reader *reader = budget_zalloc(input->budget, sizeof *reader, err);
    if (!reader)
        return false;
    bool ok = flight_dump_start(&reader->dump, input, err) && take_document(reader, input, err);
    flight_dump_end(&reader->dump);
    buf_free(&reader->text);
    buf_free(&reader->name);
    buf_free(&reader->filename);
    budget_free(input->budget, reader, sizeof *reader);
    return ok;
}

static bool count_dump(const struct format_input *input, struct err *err)
{
    return flight_dump_count(input, gather_dump, err);
}

// Members are sorted by name, so the entries may fill the head.
static enum format_likeness probe_dump(const struct format_sample *sample)
{
    bool named = json_outline_has(sample->outline, "pg_config") ||
                 json_outline_has(sample->outline, "pg_status") ||
                 (json_outline_has(sample->outline, "entries") &&
                  str_find(sample->head, STR("\"collective_seq_id\"")) != SIZE_MAX);
    return named ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_flight_recorder_json = {
    .name = "flight-recorder",
    .what = "a Flight Recorder dump in JSON",
    .kind = FORMAT_RECORDS,
    .probe = probe_dump,
    .count = count_dump,
    .gather = gather_dump,
};
