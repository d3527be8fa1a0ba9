// SPDX-License-Identifier: Apache-2.0
// Layouts in a tree: each node is the bytes up to the next value and how that value is read; nodes
// of the same parent are what may come after its value.
#include "ingest/kineto_layout.h"
#include "ingest/base/simd.h"

#define MAX_NODES     1024u
#define MAX_SIBLINGS  32u
#define MAX_LITERAL   512u
#define LITERAL_BYTES ((size_t)96 << 10)
#define NO_NODE       0u // the root is nobody's child
#define LEARNING_COST 16u
#define MAX_CREDIT    1024u

enum form { FORM_END, FORM_TEXT, FORM_LIST, FORM_SKIP, FORM_INTEGER, FORM_LABEL, FORM_TIME };

struct node {
    uint32_t literal; // offset in the pool
    uint16_t len;
    uint8_t form; // enum form
    uint8_t field;
    uint16_t first, recent; // children; at an end: of the root, which events follow this one
    uint16_t sibling;
    // At the begin of an event: where its brace stands. At its end: what it is.
    uint16_t brace;
    uint8_t kind;
    char phase;
    bool wants_args, has_phase;
};

struct kineto_layouts {
    struct budget *budget;
    struct node nodes[MAX_NODES]; // 0 is the root
    char literals[LITERAL_BYTES];
    unsigned node_count;
    size_t literal_len;
    unsigned credit; // learning is paid for by events, so that it cannot cost more than they do
    unsigned last;   // the end of the event before, or the root
};

static void forget(struct kineto_layouts *layouts)
{
    layouts->nodes[0] = (struct node){0};
    layouts->node_count = 1;
    layouts->literal_len = 0;
    layouts->last = 0;
}

struct kineto_layouts *kineto_layouts_new(struct budget *budget, struct err *err)
{
    struct kineto_layouts *layouts = budget_alloc(budget, sizeof *layouts, err);
    if (!layouts)
        return NULL;
    layouts->budget = budget;
    layouts->credit = MAX_CREDIT;
    forget(layouts);
    return layouts;
}

void kineto_layouts_free(struct kineto_layouts *layouts)
{
    if (layouts)
        budget_free(layouts->budget, layouts, sizeof *layouts);
}

// ---- values
// --------------------------------------------------------------------------------------
// Each returns the end of the value at `at`, or NULL for one that is left to the walk. Where a
// value ends too early, the bytes that must follow it will not be there.

// The digits among the first eight bytes: how many, and their number.
static inline unsigned leading_digits(const char *at, uint64_t *number)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t w;
    memcpy(&w, at, 8);
    uint64_t zeros = w ^ (ones * '0');
    uint64_t beyond = (zeros | ((zeros & (ones * 0x7F)) + ones * 0x76)) & (ones * 0x80);
    unsigned count = beyond ? (unsigned)__builtin_ctzll(beyond) / 8 : 8;
    // Move the digits to the end, zeros before them; pairs, then fours, then all eight.
    zeros = count ? zeros << (64 - 8 * count) : 0;
    zeros = zeros * 10 + (zeros >> 8);
    *number = (((zeros & 0x000000FF000000FFu) * 0x000F424000000064u) +
               (((zeros >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u)) >>
              32;
    return count;
}

static const uint32_t power_of_ten[] = {1,      10,      100,      1000,     10000,
                                        100000, 1000000, 10000000, 100000000};

// Up to 16 digits.
static inline const char *take_digits(const char *at, uint64_t *number)
{
    unsigned count = leading_digits(at, number);
    if (count < 8)
        return count ? at + count : NULL;
    uint64_t low;
    unsigned more = leading_digits(at + 8, &low);
    *number = *number * power_of_ten[more] + low;
    return at + 8 + more;
}

static inline const char *take_label(const char *at, int64_t *value)
{
    bool negative = *at == '-';
    uint64_t number;
    at = take_digits(at + negative, &number);
    *value = negative ? -(int64_t)number : (int64_t)number;
    return at;
}

static inline const char *take_integer(const char *at, int64_t *value)
{
    at = take_label(at, value);
    if (!at || *at != '.')
        return at;
    uint64_t cut;
    return take_digits(at + 1, &cut);
}

// Microseconds of up to 15 digits to nanoseconds, cut.
static inline const char *take_time(const char *at, int64_t *ns)
{
    uint64_t whole, part;
    const char *end = take_digits(at, &whole);
    if (!end || end - at > 15)
        return NULL;
    *ns = (int64_t)(whole * 1000);
    if (*end != '.')
        return end;
    unsigned count = leading_digits(end + 1, &part);
    if (count <= 3)
        *ns += (int64_t)(part * power_of_ten[3 - count]);
    else
        *ns += (int64_t)(part / power_of_ten[count - 3]);
    return count ? end + 1 + count : NULL;
}

// Passes over a number that nobody reads.
static inline const char *skip_number(const char *at)
{
    const uint64_t ones = 0x0101010101010101u;
    for (;;) {
        uint64_t w;
        memcpy(&w, at, 8);
        uint64_t low = w & (ones * 0x7F);
        uint64_t above = low + ones * (0x7F - '9');  // beyond 9
        uint64_t digits = low + ones * (0x80 - '-'); // - . / 0..9 and beyond
        uint64_t ends = (w | above | ~digits) & (ones * 0x80);
        if (ends)
            return at + (unsigned)__builtin_ctzll(ends) / 8;
        at += 8;
    }
}

static inline const char *take_text(const char *at, struct str *text)
{
    const char *from = at;
    uint32_t stops;
    while (!(stops = simd_text_stops16(at)))
        at += 16;
    at += __builtin_ctz(stops);
    *text = (struct str){from, (size_t)(at - from)};
    return *at == '"' ? at : NULL;
}

// Its opening bracket is the byte before.
static inline const char *take_list(const char *at, struct str *text)
{
    const char *from = at - 1;
    size_t depth = 1;
    bool in_text = false;
    for (;; at += 16)
        for (uint32_t marks = simd_list_marks16(at); marks; marks &= marks - 1) {
            const char *mark = at + __builtin_ctz(marks);
            if (*mark == '\0' || *mark == '\\')
                return NULL;
            if (*mark == '"')
                in_text = !in_text;
            else if (!in_text)
                depth += *mark == '[' || *mark == '{' ? 1 : SIZE_MAX;
            if (depth)
                continue;
            *text = (struct str){from, (size_t)(mark + 1 - from)};
            return mark + 1;
        }
}

static inline const char *take_number(const char *at, const struct node *node,
                                      struct event_fields *fields)
{
    int64_t number;
    if (node->form == FORM_TIME)
        at = take_time(at, &number);
    else if (node->form == FORM_LABEL)
        at = take_label(at, &number);
    else
        at = take_integer(at, &number);
    if (at)
        event_set_number(fields, node->field, number);
    return at;
}

static inline const char *take_value(const char *at, const struct node *node,
                                     struct event_fields *fields)
{
    struct str text;
    switch ((enum form)node->form) {
    case FORM_END: return at;
    case FORM_SKIP: return skip_number(at);
    case FORM_TEXT:
        at = take_text(at, &text);
        if (at && node->field != FIELD_NONE) {
            event_set_text(fields, node->field, text);
            fields->plain |= UINT64_C(1) << node->field;
        }
        return at;
    case FORM_LIST:
        at = take_list(at, &text);
        if (at && node->field != FIELD_NONE)
            event_set_text(fields, node->field, text);
        return at;
    case FORM_INTEGER:
    case FORM_LABEL:
    case FORM_TIME: return take_number(at, node, fields);
    }
    return NULL;
}

// ---- matching
// ------------------------------------------------------------------------------------

static inline bool literal_is_at(const struct kineto_layouts *layouts, const struct node *node,
                                 const char *at)
{
    const char *literal = layouts->literals + node->literal;
    unsigned len = node->len;
    for (; len > 16; len -= 16, at += 16, literal += 16)
        if (simd_equal16(literal, at) != 0xFFFF)
            return false;
    uint32_t needed = (1u << len) - 1;
    return (simd_equal16(literal, at) & needed) == needed;
}

// The child of parent whose bytes stand at `at`, the recent one first. An event that ended has the
// children of the root.
static inline unsigned next_node(struct kineto_layouts *layouts, unsigned parent, const char *at)
{
    struct node *from = &layouts->nodes[parent];
    if (from->recent && literal_is_at(layouts, &layouts->nodes[from->recent], at))
        return from->recent;
    bool ended = from->form == FORM_END;
    unsigned child = ended ? layouts->nodes[0].first : from->first;
    while (child != NO_NODE && !literal_is_at(layouts, &layouts->nodes[child], at))
        child = layouts->nodes[child].sibling;
    if (child != NO_NODE)
        from->recent = (uint16_t)child;
    return child;
}

const char *kineto_layouts_match(struct kineto_layouts *layouts, const char *at,
                                 struct event_fields *fields, const char **brace)
{
    unsigned index = next_node(layouts, layouts->last, at);
    const struct node *node = &layouts->nodes[index];
    *brace = at + node->brace;
    fields->present = fields->numeric = fields->plain = 0;
    while (index != NO_NODE) {
        node = &layouts->nodes[index];
        at = take_value(at + node->len, node, fields);
        if (!at)
            return NULL;
        if (node->form == FORM_END)
            break;
        index = next_node(layouts, index, at);
    }
    if (index == NO_NODE)
        return NULL;
    layouts->last = index;
    layouts->credit += layouts->credit < MAX_CREDIT;
    fields->kind = (enum event_kind)node->kind;
    fields->phase = node->phase;
    fields->bad_args = false;
    fields->present |= (uint64_t)node->has_phase << FIELD_PHASE;
    if (!node->wants_args)
        fields->present &= ~ARG_FIELDS;
    return at;
}

// ---- learning
// ------------------------------------------------------------------------------------

struct lesson {
    struct kineto_layouts *layouts;
    unsigned node;     // what was learned so far ends here
    const char *from;  // the bytes before the next value begin here
    const char *brace; // of the event
    bool has_args;
};

static bool same_node(const struct kineto_layouts *layouts, const struct node *a,
                      const struct node *b, const char *literal)
{
    return a->len == b->len && a->form == b->form && a->field == b->field &&
           memcmp(layouts->literals + a->literal, literal, a->len) == 0;
}

// Room is kept for what the compare reads behind a literal.
static bool add_node(struct kineto_layouts *layouts, unsigned parent, struct node node,
                     const char *literal)
{
    size_t room = node.len + SIMD_SLACK;
    if (layouts->node_count == MAX_NODES || LITERAL_BYTES - layouts->literal_len < room)
        return false;
    node.literal = (uint32_t)layouts->literal_len;
    memset(layouts->literals + node.literal, 0, room);
    memcpy(layouts->literals + node.literal, literal, node.len);
    layouts->literal_len += room;
    node.sibling = layouts->nodes[parent].first;
    layouts->nodes[parent].first = (uint16_t)layouts->node_count;
    layouts->nodes[layouts->node_count++] = node;
    return true;
}

// The node behind lesson->node for a value at `value`, which is made when it is new.
static bool learn_node(struct lesson *lesson, const char *value, struct node node)
{
    struct kineto_layouts *layouts = lesson->layouts;
    size_t len = (size_t)(value - lesson->from);
    if (len > MAX_LITERAL || memchr(lesson->from, '\0', len))
        return false;
    node.len = (uint16_t)len;
    node.brace = lesson->node == 0 ? (uint16_t)(lesson->brace - lesson->from) : 0;
    unsigned child = layouts->nodes[lesson->node].first, siblings = 0;
    for (; child != NO_NODE; child = layouts->nodes[child].sibling, siblings++)
        if (same_node(layouts, &layouts->nodes[child], &node, lesson->from))
            break;
    if (child == NO_NODE) {
        child = layouts->node_count;
        if (siblings == MAX_SIBLINGS || !add_node(layouts, lesson->node, node, lesson->from)) {
            forget(layouts); // they were of no use
            return false;
        }
    }
    lesson->node = child;
    return true;
}

static enum form form_of_number(enum event_field field)
{
    static const enum form forms[] = {[NUMBER_NONE] = FORM_SKIP,
                                      [NUMBER_INTEGER] = FORM_INTEGER,
                                      [NUMBER_LABEL] = FORM_LABEL,
                                      [NUMBER_TIME] = FORM_TIME};
    return forms[kineto_number_form(field)];
}

// Words such as true belong to the bytes around them.
static bool learn_scalar(struct lesson *lesson, struct str text, enum event_field field)
{
    if (*text.at != '-' && (*text.at < '0' || *text.at > '9'))
        return field == FIELD_NONE;
    enum form form = form_of_number(field);
    if (form == FORM_SKIP && field != FIELD_NONE)
        return false; // a number where a text is read
    struct node node = {.form = (uint8_t)form, .field = (uint8_t)field};
    if (!learn_node(lesson, text.at, node))
        return false;
    lesson->from = text.at + text.len;
    return true;
}

static bool learn_text(struct lesson *lesson, struct str text, enum event_field field)
{
    struct node node = {.form = FORM_TEXT, .field = (uint8_t)field};
    if (!learn_node(lesson, text.at, node))
        return false;
    lesson->from = text.at + text.len;
    return true;
}

static bool learn_list(struct lesson *lesson, struct json_walk *walk, enum event_field field)
{
    struct node node = {.form = FORM_LIST, .field = (uint8_t)field};
    if (!learn_node(lesson, walk->at, node) || json_walk_skip(walk) != WALK_OK)
        return false;
    lesson->from = walk->at;
    return true;
}

// The numbers of a launch shape.
static bool learn_triple(struct lesson *lesson, struct json_walk *walk, enum event_field first)
{
    for (unsigned i = 0;; i++) {
        struct json_value item;
        enum walk got = json_walk_item(walk, &item);
        if (got == WALK_END)
            return true;
        if (got != WALK_OK || item.type != JSON_SCALAR ||
            !learn_scalar(lesson, item.text, i < 3 ? first + i : FIELD_NONE))
            return false;
    }
}

static bool learn_arg(struct lesson *lesson, struct json_walk *walk, struct str key,
                      const struct json_value *value)
{
    enum event_field field = kineto_arg_field(key);
    switch (value->type) {
    case JSON_TEXT: return learn_text(lesson, value->text, field);
    case JSON_SCALAR: return learn_scalar(lesson, value->text, field);
    case JSON_OBJECT: return learn_list(lesson, walk, FIELD_NONE);
    case JSON_ARRAY: break;
    }
    if (str_equal(key, STR("grid")))
        return learn_triple(lesson, walk, ARG_GRID);
    if (str_equal(key, STR("block")))
        return learn_triple(lesson, walk, ARG_BLOCK);
    return learn_list(lesson, walk, field);
}

static bool learn_args(struct lesson *lesson, struct json_walk *walk)
{
    for (;;) {
        struct str key;
        struct json_value value;
        enum walk got = json_walk_member(walk, &key, &value);
        if (got == WALK_END)
            return true;
        if (got != WALK_OK || !learn_arg(lesson, walk, key, &value))
            return false;
    }
}

// The category and the phase belong to the bytes: they tell one layout from another.
static bool learn_member(struct lesson *lesson, struct json_walk *walk, struct str key,
                         const struct json_value *value)
{
    enum event_field field = kineto_member_field(key);
    if (value->type == JSON_OBJECT && str_equal(key, STR("args"))) {
        bool again = lesson->has_args;
        lesson->has_args = true;
        return !again && learn_args(lesson, walk);
    }
    if (value->type == JSON_OBJECT || value->type == JSON_ARRAY)
        return learn_list(lesson, walk, FIELD_NONE);
    if (field == FIELD_PHASE || str_equal(key, STR("cat")))
        return true;
    return value->type == JSON_TEXT ? learn_text(lesson, value->text, field)
                                    : learn_scalar(lesson, value->text, field);
}

static bool learn_event(struct lesson *lesson, struct json_walk *walk)
{
    struct json_value value;
    if (json_walk_item(walk, &value) != WALK_OK || value.type != JSON_OBJECT)
        return false;
    lesson->brace = walk->at - 1;
    for (;;) {
        struct str key;
        enum walk got = json_walk_member(walk, &key, &value);
        if (got == WALK_END)
            return true;
        if (got != WALK_OK || !learn_member(lesson, walk, key, &value))
            return false;
    }
}

void kineto_layouts_learn(struct kineto_layouts *layouts, struct json_walk walk,
                          const struct event_fields *fields)
{
    struct lesson lesson = {.layouts = layouts, .from = walk.at};
    bool usual = walk.comma_due && !fields->bad_args;
    layouts->last = 0;
    layouts->credit += layouts->credit < MAX_CREDIT;
    if (!usual || layouts->credit < LEARNING_COST)
        return;
    layouts->credit -= LEARNING_COST;
    if (!learn_event(&lesson, &walk) || walk.comma_faults)
        return;
    struct node end = {.form = FORM_END,
                       .kind = (uint8_t)fields->kind,
                       .phase = fields->phase,
                       .wants_args = kineto_wants_args(fields->kind, fields->phase),
                       .has_phase = event_has(fields, FIELD_PHASE)};
    learn_node(&lesson, walk.at, end);
}
