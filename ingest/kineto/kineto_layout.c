// SPDX-License-Identifier: Apache-2.0
// Learns the layouts of events and chooses how they are matched.
#include "ingest/base/simd.h"
#include "ingest/json/json_number.h"
#include "ingest/kineto/kineto_layout_node.h"

#define MAX_SIBLINGS  32u
#define MAX_LITERAL   512u
#define LEARNING_COST 16u

static void forget(struct kineto_layouts *layouts)
{
    layouts->nodes[0] = (struct node){.form = FORM_END}; // any event may follow it, as after an end
    layouts->node_count = 1;
    layouts->literal_len = 0;
    layouts->last = layouts->nodes;
    memset(layouts->likely, 0, sizeof layouts->likely);
}

#if defined(__x86_64__)

// What each variant's file is compiled for.
static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
}

const struct kineto_match *kineto_match_variants(void)
{
    static const struct kineto_match variants[] = {
        {"AVX-512", kineto_match_avx512},
        {"AVX2", kineto_match_avx2},
        {"SSE2", kineto_match_base},
        {0},
    };
    return has_avx512() ? variants : has_avx2() ? variants + 1 : variants + 2;
}

#else

const struct kineto_match *kineto_match_variants(void)
{
    static const struct kineto_match variants[] = {{"base", kineto_match_base}, {0}};
    return variants;
}

#endif

struct kineto_layouts *kineto_layouts_new(const struct kineto_match *match,
                                          struct text_guess *guess, struct budget *budget,
                                          struct err *err)
{
    struct kineto_layouts *layouts = budget_alloc(budget, sizeof *layouts, err);
    if (!layouts)
        return NULL;
    layouts->budget = budget;
    layouts->match = match->run;
    layouts->guess = guess;
    layouts->credit = MAX_CREDIT;
    layouts->past = 0;
    forget(layouts);
    return layouts;
}

void kineto_layouts_free(struct kineto_layouts *layouts)
{
    if (layouts)
        budget_free(layouts->budget, layouts, sizeof *layouts);
}

const char *kineto_layouts_match(struct kineto_layouts *layouts, const char *at,
                                 struct event_fields *fields, const char **brace)
{
    return layouts->match(layouts, at, fields, brace);
}

// --- learning ------------------------------------------------------------------------------------

struct lesson {
    struct kineto_layouts *layouts;
    struct node *node; // end of what was learned so far
    const char *from;  // start of the bytes before the next value
    const char *brace; // of the event
    bool has_args;
    uint64_t present, numeric;
};

static bool same_node(const struct node *a, const struct node *b, const char *literal)
{
    return a->len == b->len && a->form == b->form && a->field == b->field &&
           memcmp(a->literal, literal, a->len) == 0;
}

// Room is kept for what the comparison reads beyond a literal.
static struct node *add_node(struct kineto_layouts *layouts, struct node *parent, struct node node,
                             const char *literal)
{
    size_t room = node.len + SIMD_SLACK;
    if (layouts->node_count == MAX_NODES || LITERAL_BYTES - layouts->literal_len < room)
        return NULL;
    char *copy = layouts->literals + layouts->literal_len;
    memset(copy + node.len, 0, SIMD_SLACK);
    memcpy(copy, literal, node.len);
    layouts->literal_len += room;
    node.literal = copy;
    node.sibling = parent->first;
    struct node *added = &layouts->nodes[layouts->node_count++];
    *added = node;
    parent->first = added;
    return added;
}

// The node after lesson->node for a value at `value`, added if new.
static bool learn_node(struct lesson *lesson, const char *value, struct node node)
{
    struct kineto_layouts *layouts = lesson->layouts;
    size_t len = (size_t)(value - lesson->from);
    if (len > MAX_LITERAL || memchr(lesson->from, '\0', len))
        return false;
    node.len = (uint16_t)len;
    if (lesson->node == layouts->nodes)
        node.brace = (uint16_t)(lesson->brace - lesson->from);
    struct node *next = lesson->node->first;
    unsigned siblings = 0;
    for (; next && !same_node(next, &node, lesson->from); next = next->sibling)
        siblings++;
    if (!next && siblings < MAX_SIBLINGS)
        next = add_node(layouts, lesson->node, node, lesson->from);
    if (!next)
        forget(layouts); // none of them was of use
    lesson->node = next;
    return next;
}

// Learns that a field's value is from `begin` to `end`.
static bool learn_value(struct lesson *lesson, struct node node, const char *begin, const char *end)
{
    bool read = node.field != FIELD_NONE;
    if (!learn_node(lesson, begin, node))
        return false;
    lesson->from = end;
    if (!read)
        return true;
    uint64_t bit = UINT64_C(1) << node.field;
    if (lesson->present & bit)
        return false; // the last one counts, and only the walk knows which that is
    bool text = node.form == FORM_TEXT || node.form == FORM_LIST;
    lesson->present |= bit;
    lesson->numeric = text ? lesson->numeric & ~bit : lesson->numeric | bit;
    return true;
}

// Words such as true are part of the bytes around them.
static bool learn_scalar(struct lesson *lesson, struct str text, enum event_field field)
{
    static const enum form forms[] = {[NUMBER_NONE] = FORM_SKIP,
                                      [NUMBER_INTEGER] = FORM_INTEGER,
                                      [NUMBER_LABEL] = FORM_LABEL,
                                      [NUMBER_TIME] = FORM_TIME};
    if (*text.at != '-' && (*text.at < '0' || *text.at > '9'))
        return field == FIELD_NONE;
    enum form form = forms[kineto_number_form(field)];
    if (form == FORM_SKIP && field != FIELD_NONE)
        return false; // a number where a text is expected
    struct node node = {.form = (uint8_t)form, .field = (uint8_t)field, .same = 1};
    return learn_value(lesson, node, text.at, text.at + text.len);
}

static bool learn_text(struct lesson *lesson, struct str text, enum event_field field)
{
    bool read = field != FIELD_NONE;
    struct node node = {.form = read ? FORM_TEXT : FORM_SKIP_TEXT,
                        .field = (uint8_t)field,
                        .guessed = read && kineto_number_form(field) == NUMBER_NONE &&
                                   !kineto_field_is_list(field)};
    return learn_value(lesson, node, text.at, text.at + text.len);
}

static bool learn_list(struct lesson *lesson, struct json_walk *walk, enum event_field field)
{
    struct node node = {.form = field == FIELD_NONE ? FORM_SKIP_LIST : FORM_LIST,
                        .field = (uint8_t)field,
                        .guessed = kineto_field_is_list(field)};
    const char *begin = walk->at;
    return json_walk_skip(walk) == WALK_OK && learn_value(lesson, node, begin, walk->at);
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
        char room[JSON_WORD];
        enum walk got = json_walk_member(walk, &key, &value);
        if (got == WALK_END)
            return true;
        if (got != WALK_OK || !learn_arg(lesson, walk, json_word(key, room), &value))
            return false;
    }
}

// Category and phase are part of the literal bytes: they distinguish layouts.
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
        char room[JSON_WORD];
        enum walk got = json_walk_member(walk, &key, &value);
        if (got == WALK_END)
            return true;
        if (got != WALK_OK || !learn_member(lesson, walk, json_word(key, room), &value))
            return false;
    }
}

void kineto_layouts_learn(struct kineto_layouts *layouts, struct json_walk walk,
                          const struct event_fields *fields)
{
    struct lesson lesson = {.layouts = layouts, .node = layouts->nodes, .from = walk.at};
    // A counter's members may have any name, which the walk keeps.
    bool usual = walk.comma_due && !fields->bad_args && fields->phase != 'C';
    layouts->last = layouts->nodes;
    layouts->credit += layouts->credit < MAX_CREDIT;
    if (!usual || layouts->credit < LEARNING_COST)
        return;
    layouts->credit -= LEARNING_COST;
    if (!learn_event(&lesson, &walk) || walk.comma_faults)
        return;
    bool wants_args = kineto_wants_args(fields->kind, fields->phase);
    uint64_t read = wants_args ? UINT64_MAX : ~ARG_FIELDS;
    uint64_t phase = event_has(fields, FIELD_PHASE) ? UINT64_C(1) << FIELD_PHASE : 0;
    struct node end = {.form = FORM_END,
                       .kind = (uint8_t)fields->kind,
                       .phase = fields->phase,
                       .present = (lesson.present | phase) & read,
                       .numeric = lesson.numeric & read};
    learn_node(&lesson, walk.at, end);
}
