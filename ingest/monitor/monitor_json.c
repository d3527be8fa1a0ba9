// SPDX-License-Identifier: Apache-2.0
#include "ingest/monitor/monitor_json.h"

#include "ingest/json/json_cursor.h"
#include "ingest/logs/log_text.h"

enum { MOST_DEPTH = 6, RECORDS_BETWEEN = 256 };

// A piece of the record's text.
struct piece {
    size_t at, len;
};

struct monitor_json {
    struct json_cursor cursor;
    struct monitor_table *table;
    struct buf text, name;
    struct piece names[MONITOR_MOST_CELLS], values[MONITOR_MOST_CELLS];
    size_t count;
    bool more;   // members than fit
    bool listed; // in a list with a name
    size_t records;
};

static struct piece put(struct monitor_json *json, struct str text)
{
    struct str kept = monitor_short_text(text);
    struct piece piece = {json->text.len, kept.len};
    buf_add_str(&json->text, kept);
    return piece;
}

static void add_cell(struct monitor_json *json, struct str name, struct str value)
{
    json->more = json->more || json->count == MONITOR_MOST_CELLS;
    if (json->more)
        return;
    json->names[json->count] = put(json, name);
    json->values[json->count++] = put(json, value);
}

// --- members ------------------------------------------------------------------------------------

static bool is_leaf(const struct json_value *value)
{
    return value->type == JSON_TEXT || value->type == JSON_SCALAR;
}

// {"value": 210, "unit": "W"} is a value; as CSV says "clk" of "gfx_0", "gfx_0_clk" is its name.
static void name_member(struct buf *out, struct str parent, struct str key)
{
    buf_clear(out);
    if (parent.len && str_is_digit(parent.at[parent.len - 1])) {
        buf_add_str(out, parent);
        buf_putc(out, '_');
    }
    buf_add_str(out, monitor_short_text(key));
}

// The unit goes behind the value that came just before it.
static void add_leaf(struct monitor_json *json, struct str parent, struct str key, struct str text)
{
    bool value = str_equal(key, STR("value"));
    if (str_equal(key, STR("unit")) && json->count && !json->more) {
        struct piece *last = &json->values[json->count - 1];
        if (last->at + last->len != json->text.len)
            return;
        buf_putc(&json->text, ' ');
        buf_add_str(&json->text, monitor_short_text(text));
        last->len = json->text.len - last->at;
        return;
    }
    if (!value)
        name_member(&json->name, parent, key);
    add_cell(json, value ? parent : (struct str){json->name.at, json->name.len}, text);
}

// The members of the object that was entered, and of those in it. Lists are left out.
static void take_members(struct monitor_json *json, struct str parent, int depth)
{
    struct str key;
    struct json_value value;
    struct buf own = {0};
    while (json_cursor_member(&json->cursor, &key, &value)) {
        if (is_leaf(&value)) {
            add_leaf(json, parent, key, value.text);
            continue;
        }
        if (value.type != JSON_OBJECT || depth == MOST_DEPTH) {
            json_cursor_pass(&json->cursor, &value);
            continue;
        }
        name_member(&json->name, parent, key);
        buf_clear(&own); // key lives only until the next member
        buf_add(&own, json->name.at, json->name.len);
        take_members(json, (struct str){own.at, own.len}, depth + 1);
    }
    buf_free(&own);
}

// --- records ------------------------------------------------------------------------------------

static struct str text_of(const struct monitor_json *json, struct piece piece)
{
    return (struct str){json->text.at + piece.at, piece.len};
}

static void set_cells(struct monitor_json *json, const struct piece *pieces)
{
    struct monitor_cells *cells = &json->table->cells;
    cells->count = json->count;
    cells->more = json->more;
    for (size_t i = 0; i < json->count; i++)
        cells->at[i] = log_trim(text_of(json, pieces[i]));
}

// All names, for a header's hash.
static struct str list_names(struct monitor_json *json)
{
    size_t from = json->text.len;
    for (size_t i = 0; i < json->count && !json->text.failed; i++) {
        struct piece name = json->names[i];
        for (size_t at = 0; at < name.len; at++)
            buf_putc(&json->text, json->text.at[name.at + at]);
        buf_putc(&json->text, ',');
    }
    return (struct str){json->text.at + from, json->text.len - from};
}

// What watching ends with: an object of all records again, without their times.
static bool came_before(const struct monitor_json *json)
{
    const struct sample_set *set = &json->table->input->evidence->samples;
    return json->listed && set->rows && !set->period_ns && !json->table->has[MONITOR_TIME];
}

static bool take_row(struct monitor_json *json, struct err *err)
{
    struct str names = list_names(json);
    if (!buf_ok(&json->text, err) || !buf_ok(&json->name, err))
        return false;
    set_cells(json, json->names);
    if (!json->more && !monitor_take_header(json->table, names, err))
        return false;
    set_cells(json, json->values);
    return came_before(json) || monitor_take_row(json->table, err);
}

static void take_record(struct monitor_json *json)
{
    struct err err;
    const struct format_input *input = json->table->input;
    json->table->pos = json_cursor_pos(&json->cursor);
    take_members(json, STR(""), 0);
    bool ok = json->count == 0 || take_row(json, &err);
    if (ok && ++json->records % RECORDS_BETWEEN == 0)
        ok = progress_report(input->progress, source_consumed(input->source), &err);
    if (!ok)
        json_cursor_fail(&json->cursor, &err);
}

static void start_record(struct monitor_json *json)
{
    buf_clear(&json->text);
    json->count = 0;
    json->more = false;
}

// --- documents ----------------------------------------------------------------------------------

// A list of records, or of lists of them, as from watching.
static void take_list(struct monitor_json *json, int depth)
{
    struct json_value value;
    while (json_cursor_item(&json->cursor, &value)) {
        start_record(json);
        if (value.type == JSON_OBJECT)
            take_record(json);
        else if (value.type == JSON_ARRAY && depth < MOST_DEPTH)
            take_list(json, depth + 1);
        else
            json_cursor_pass(&json->cursor, &value);
    }
}

// "cpu_data", "core_data" and "nic_data", beside "gpu_data".
static bool is_of_others(struct str key)
{
    return str_ends_with(key, STR("_data")) && !str_equal(key, STR("gpu_data"));
}

// Lists of records by a name, or records by that of their device.
static void take_root(struct monitor_json *json)
{
    struct str key;
    struct json_value value;
    while (json_cursor_member(&json->cursor, &key, &value)) {
        start_record(json);
        if (value.type == JSON_OBJECT) {
            add_cell(json, STR("device"), key);
            take_record(json);
        } else if (value.type == JSON_ARRAY && is_of_others(key)) {
            json_cursor_pass(&json->cursor, &value);
        } else if (value.type == JSON_ARRAY) {
            json->listed = true;
            take_list(json, 0);
            json->listed = false;
        }
    }
}

static void take_document(struct monitor_json *json, const struct json_value *root)
{
    struct sample_set *set = &json->table->input->evidence->samples;
    bool text = root->type != JSON_ARRAY && root->type != JSON_OBJECT;
    if (root->type == JSON_ARRAY)
        take_list(json, 0);
    else if (root->type == JSON_OBJECT)
        take_root(json);
    if (!text && json->cursor.stop == JSON_BROKEN)
        samples_bad_row(set, json_cursor_pos(&json->cursor));
}

static bool read_documents(struct monitor_json *json, struct err *err)
{
    struct json_value root = {0};
    const struct format_input *input = json->table->input;
    if (!json_cursor_open(&json->cursor, input->source, input->budget, &root, err))
        return false;
    if (json->cursor.stop == JSON_GOING)
        take_document(json, &root);
    while (json_cursor_next_document(&json->cursor, &root))
        take_document(json, &root);
    if (json->cursor.stop == JSON_FAILED)
        *err = json->cursor.err;
    return json->cursor.stop != JSON_FAILED;
}

static bool read_into(struct monitor_table *table, struct err *err)
{
    struct budget *budget = table->input->budget;
    struct monitor_json *json = budget_zalloc(budget, sizeof *json, err);
    if (!json)
        return false;
    json->table = table;
    bool ok = read_documents(json, err);
    json_cursor_close(&json->cursor);
    buf_free(&json->text);
    buf_free(&json->name);
    budget_free(budget, json, sizeof *json);
    return ok;
}

bool monitor_gather_json(const struct format_input *input, const struct monitor_dialect *dialect,
                         struct err *err)
{
    struct monitor_table *table = budget_zalloc(input->budget, sizeof *table, err);
    if (!table)
        return false;
    table->input = input;
    table->dialect = dialect;
    bool ok = read_into(table, err);
    budget_free(input->budget, table, sizeof *table);
    return ok && monitor_end(input->evidence, dialect->source, err);
}

struct json_outline monitor_json_outline(const struct format_sample *sample)
{
    return sample->outline->json ? *sample->outline
                                 : json_outline_of(json_document_in(sample->head));
}
