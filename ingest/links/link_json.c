// SPDX-License-Identifier: Apache-2.0
#include "ingest/links/link_json.h"

#include "ingest/json/json_number.h"
#include "ingest/links/link_text.h"

// --- values -------------------------------------------------------------------------------------

struct str link_json_text(struct link_json *json, const struct json_value *value)
{
    if (value->type != JSON_TEXT)
        return STR("");
    if (json_text_is_plain(value->text))
        return value->text;
    buf_clear(&json->text);
    (void)json_text_decode(value->text, &json->text);
    return (struct str){json->text.at, json->text.len};
}

static struct str word_of(struct link_json *json, const struct json_value *value)
{
    struct str text = value->type == JSON_SCALAR ? value->text : link_json_text(json, value);
    text = link_after(text, 0);
    while (text.len && text.at[text.len - 1] == ' ')
        text.len--;
    return text;
}

int64_t link_json_whole(struct link_json *json, const struct json_value *value)
{
    return link_whole(word_of(json, value));
}

void link_json_keep(struct link_json *json, struct str raw, struct str *kept)
{
    struct err err;
    for (unsigned i = 0; i < LINK_RECENT; i++)
        if (json->recent[i].at && str_equal(json->recent[i], raw)) {
            *kept = json->recent[i];
            return;
        }
    link_json_check(json, evidence_text(json->evidence, raw, kept, &err), &err);
    json->recent[json->next++ % LINK_RECENT] = *kept;
}

static void set_field(struct link_json *json, const struct link_field *field,
                      const struct json_value *value, void *target)
{
    char *at = (char *)target + field->offset;
    union {
        char *at;
        int64_t *whole;
        double *real;
        struct str *text;
        bool *flag;
    } to = {at};
    switch (field->kind) {
    case LINK_WHOLE: *to.whole = link_json_whole(json, value); break;
    case LINK_REAL: *to.real = link_number(word_of(json, value)) * field->unit; break;
    case LINK_TEXT: link_json_keep(json, link_json_text(json, value), to.text); break;
    case LINK_FLAG: *to.flag = str_equal(word_of(json, value), STR("true")); break;
    }
}

// --- objects ------------------------------------------------------------------------------------

static const struct link_field *field_of(const struct link_shape *shape, struct str key)
{
    for (size_t i = 0; i < shape->field_count; i++)
        if (str_equal(key, str_of(shape->fields[i].name)))
            return &shape->fields[i];
    return NULL;
}

void link_json_object(struct link_json *json, const struct link_shape *shape, void *target)
{
    struct str key;
    struct json_value value;
    while (json_cursor_member(&json->cursor, &key, &value)) {
        bool scalar = value.type == JSON_TEXT || value.type == JSON_SCALAR;
        const struct link_field *field = scalar ? field_of(shape, key) : NULL;
        if (field)
            set_field(json, field, &value, target);
        else if (shape->inside && shape->inside(json, key, &value, target))
            continue;
        json_cursor_pass(&json->cursor, &value);
    }
}

void link_json_objects(struct link_json *json, void (*take)(struct link_json *json, void *context),
                       void *context)
{
    struct json_value item;
    while (json_cursor_item(&json->cursor, &item))
        if (json_cursor_enter(&json->cursor, &item, JSON_OBJECT))
            take(json, context);
}

// --- documents ----------------------------------------------------------------------------------

bool link_json_open(struct link_json *json, const struct format_input *input, struct err *err)
{
    struct json_value root;
    *json = (struct link_json){.evidence = input->evidence};
    return json_cursor_open(&json->cursor, input->source, input->budget, &root, err) &&
           (json->cursor.stop || root.type == JSON_OBJECT ||
            err_set_at(err, ERR_FORMAT, 0, "found JSON that is not an object"));
}

void link_json_close(struct link_json *json)
{
    json_cursor_close(&json->cursor);
    buf_free(&json->text);
}

// After all was read: a warning if the document ends early or is not JSON from some place on. False
// with *err if reading failed.
static bool has_ended(struct link_json *json, struct err *err)
{
    const struct json_cursor *cursor = &json->cursor;
    if (cursor->stop == JSON_FAILED)
        *err = cursor->err;
    else if (cursor->stop)
        link_tests_warn(json->evidence, LINK_CUT, json_cursor_pos(cursor));
    return cursor->stop != JSON_FAILED && buf_ok(&json->text, err);
}

bool link_json_read(const struct format_input *input, const struct link_shape *shape, void *target,
                    struct err *err)
{
    struct link_json json;
    bool ok = link_json_open(&json, input, err);
    if (ok) {
        link_json_object(&json, shape, target);
        ok = has_ended(&json, err);
    }
    link_json_close(&json);
    return ok;
}
