// SPDX-License-Identifier: Apache-2.0
// Walks the members of an event; members that no analysis uses are skipped by matching brackets.
#include "ingest/kineto/kineto_walk.h"
#include "ingest/json/json_number.h"

// State for one event.
struct event_walk {
    struct kineto_categories *categories;
    struct event_fields *fields;
    bool has_args;         // args were read; else `late` is where to read them
    struct json_walk late; // at args that came before the event's kind was known
};

static bool is(struct str key, const char *name, size_t len)
{
    return key.len == len && memcmp(key.at, name, len) == 0;
}

static void set_arg(struct event_fields *fields, struct str key, struct str text)
{
    enum event_field field = kineto_arg_field(key);
    if (field != FIELD_NONE)
        event_set_text(fields, field, text);
}

// The numbers of a launch shape, [x, y, z].
static enum walk walk_triple(struct json_walk *walk, enum event_field first,
                             struct event_fields *fields)
{
    struct json_value item;
    for (unsigned i = 0;; i++) {
        enum walk got = json_walk_item(walk, &item);
        if (got != WALK_OK)
            return got == WALK_END ? WALK_OK : got;
        if (item.type == JSON_OBJECT || item.type == JSON_ARRAY)
            got = json_walk_skip(walk);
        else if (i < 3)
            event_set_text(fields, first + i, item.text);
        if (got != WALK_OK)
            return got;
    }
}

// Lists are kept as raw text for whatever reads them later.
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
        return walk_triple(walk, ARG_GRID, fields);
    if (value->type == JSON_ARRAY && is(key, "block", 5))
        return walk_triple(walk, ARG_BLOCK, fields);
    if (value->type == JSON_ARRAY)
        return walk_list(walk, key, fields);
    if (value->type == JSON_OBJECT)
        return json_walk_skip(walk);
    enum event_field field = kineto_arg_field(key);
    if (value->type == JSON_SCALAR && str_equal(value->text, STR("null")))
        event_unset(fields, field);
    else
        set_arg(fields, key, value->text);
    return WALK_OK;
}

// In a counter every member is a series, whatever its name.
static enum walk walk_counter(struct json_walk *walk, struct str key,
                              const struct json_value *value, struct event_fields *fields)
{
    if (value->type == JSON_OBJECT || value->type == JSON_ARRAY)
        return json_walk_skip(walk);
    if (value->type == JSON_SCALAR && str_equal(value->text, STR("null")))
        return WALK_OK;
    if (fields->counter_count < KINETO_MAX_COUNTERS)
        fields->counters[fields->counter_count] = (struct counter_field){key, value->text};
    fields->counter_count++;
    return WALK_OK;
}

static enum walk walk_args(struct json_walk *walk, struct event_fields *fields)
{
    for (;;) {
        struct str key;
        struct json_value value;
        char room[JSON_WORD];
        enum walk got = json_walk_member(walk, &key, &value);
        if (got == WALK_OK)
            got = fields->phase == 'C' ? walk_counter(walk, key, &value, fields)
                                       : walk_arg(walk, json_word(key, room), &value, fields);
        if (got != WALK_OK)
            return got == WALK_END ? WALK_OK : got;
    }
}

// The same few categories keep coming, so each is looked up once.
static enum event_kind kind_of(struct kineto_categories *categories, struct str category)
{
    for (unsigned i = 0; i < categories->count; i++) {
        const struct category_kind *known = &categories->known[i];
        if (known->len == category.len && memcmp(known->text, category.at, category.len) == 0)
            return known->kind;
    }
    enum event_kind kind = event_kind_of_category(category);
    if (categories->count < KINETO_CATEGORIES && category.len <= sizeof categories->known->text) {
        struct category_kind *known = &categories->known[categories->count++];
        memcpy(known->text, category.at, category.len);
        known->len = category.len;
        known->kind = kind;
    }
    return kind;
}

// Names of generated code contain unescaped quotes; an operator counts even without such args. Of
// most instants nothing is used.
static enum walk walk_wanted_args(struct json_walk *walk, struct event_fields *fields)
{
    struct json_walk begin = *walk;
    enum walk got = walk_args(walk, fields);
    bool op = fields->kind == EVENT_CPU_OP;
    if (got != WALK_BAD || !(op || (fields->kind == EVENT_OTHER && fields->phase == 'i')))
        return got;
    fields->present &= ~ARG_FIELDS;
    fields->bad_args = op;
    *walk = begin;
    return json_walk_skip(walk);
}

static enum walk walk_event_args(struct event_walk *event, struct json_walk *walk)
{
    event->late = *walk;
    if (!kineto_wants_args(event->fields->kind, event->fields->phase))
        return json_walk_skip(walk);
    event->has_args = true;
    return walk_wanted_args(walk, event->fields);
}

static void set_member(struct event_fields *fields, struct str key, struct str text)
{
    enum event_field field = kineto_member_field(key);
    if (field == FIELD_NONE)
        return;
    event_set_text(fields, field, text);
    if (field != FIELD_PHASE)
        return;
    char room[JSON_WORD];
    struct str phase = json_word(text, room);
    fields->phase = phase.len == 1 ? *phase.at : '\0';
}

// null means not given, as in args.
static void unset_member(struct event_fields *fields, struct str key)
{
    enum event_field field = kineto_member_field(key);
    event_unset(fields, field);
    if (field == FIELD_PHASE)
        fields->phase = '\0';
    if (is(key, "cat", 3))
        fields->kind = EVENT_OTHER;
}

static enum walk walk_member(struct event_walk *event, struct json_walk *walk, struct str key,
                             const struct json_value *value)
{
    if (value->type == JSON_OBJECT && is(key, "args", 4))
        return walk_event_args(event, walk);
    if (value->type == JSON_OBJECT || value->type == JSON_ARRAY)
        return json_walk_skip(walk);
    char room[JSON_WORD];
    if (value->type == JSON_SCALAR && str_equal(value->text, STR("null")))
        unset_member(event->fields, key);
    else if (is(key, "cat", 3))
        event->fields->kind = kind_of(event->categories, json_word(value->text, room));
    else
        set_member(event->fields, key, value->text);
    return WALK_OK;
}

enum walk kineto_walk_event(struct kineto_categories *categories, struct json_walk *walk,
                            struct event_fields *fields)
{
    struct event_walk event = {.categories = categories, .fields = fields};
    event_fields_clear(fields);
    for (;;) {
        struct str key;
        struct json_value value;
        char room[JSON_WORD];
        enum walk got = json_walk_member(walk, &key, &value);
        if (got == WALK_OK)
            got = walk_member(&event, walk, json_word(key, room), &value);
        if (got == WALK_END)
            break;
        if (got != WALK_OK)
            return got;
    }
    if (event.has_args || !event.late.text || !kineto_wants_args(fields->kind, fields->phase))
        return WALK_OK;
    return walk_wanted_args(&event.late, fields);
}
