// SPDX-License-Identifier: Apache-2.0
// Layouts in a tree: each node is the bytes up to the next value and how that value is read; nodes
// of the same parent are what may come after its value.
#include "ingest/kineto_layout.h"
#include "ingest/base/simd.h"
#include "ingest/trace/trace.h"

#define MAX_NODES     1024u
#define MAX_SIBLINGS  32u
#define MAX_LITERAL   512u
#define LITERAL_BYTES ((size_t)96 << 10)
#define LEARNING_COST 16u
#define MAX_CREDIT    1024u

enum form {
    FORM_END,
    FORM_TEXT,
    FORM_LIST,
    FORM_INTEGER,
    FORM_LABEL,
    FORM_TIME,
    FORM_SKIP, // from here on nobody reads the value
    FORM_SKIP_TEXT,
    FORM_SKIP_LIST,
};

struct node {
    const char *literal; // what stands before the value
    uint16_t len;
    uint16_t usual; // length of the value the time before
    uint8_t form;   // enum form
    uint8_t field;  // enum event_field
    bool guessed;   // its texts are foretold
    bool has_point; // the time before had three digits behind a point
    uint8_t kind;   // of an end: enum event_kind
    char phase;     // of an end
    uint16_t brace; // of the begin of an event: where its brace stands in the literal
    // Of a number: its first bytes the time before and which of them count, and what they mean.
    uint64_t same, same_mask;
    int64_t number;
    // What may come next; after an end: which events may.
    struct node *first, *recent, *sibling;
    uint64_t present, numeric; // of an end: fields of the event, and those that are numbers
};

struct kineto_layouts {
    struct budget *budget;
    struct text_guess *guess;
    struct node nodes[MAX_NODES]; // 0 is the root
    char literals[LITERAL_BYTES];
    unsigned node_count;
    size_t literal_len;
    unsigned credit;   // learning is paid for by events, so that it cannot cost more than they do
    struct node *last; // the end of the event before, or the root
};

static void forget(struct kineto_layouts *layouts)
{
    layouts->nodes[0] = (struct node){.form = FORM_END}; // followed by any event, as an end is
    layouts->node_count = 1;
    layouts->literal_len = 0;
    layouts->last = layouts->nodes;
}

struct kineto_layouts *kineto_layouts_new(struct budget *budget, struct text_guess *guess,
                                          struct err *err)
{
    struct kineto_layouts *layouts = budget_alloc(budget, sizeof *layouts, err);
    if (!layouts)
        return NULL;
    layouts->budget = budget;
    layouts->guess = guess;
    layouts->credit = MAX_CREDIT;
    forget(layouts);
    return layouts;
}

void kineto_layouts_free(struct kineto_layouts *layouts)
{
    if (layouts)
        budget_free(layouts->budget, layouts, sizeof *layouts);
}

// Whether text, behind which SIMD_SLACK bytes can be read, stands at `at`.
static inline bool text_is_at(const char *text, size_t len, const char *at)
{
    for (; len > 16; len -= 16, text += 16, at += 16)
        if (simd_equal16(text, at) != 0xFFFF)
            return false;
    uint32_t needed = (1u << len) - 1;
    return (simd_equal16(text, at) & needed) == needed;
}

// ---- values
// --------------------------------------------------------------------------------------
// Each returns the end of the value at `at`, or NULL for one that is left to the walk. Where a
// value ends too early, the bytes that must follow it will not be there.

#define EACH_BYTE(value) (UINT64_C(0x0101010101010101) * (value))

static inline uint64_t eight_bytes(const char *at)
{
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

// Of bytes from which '0' was taken: the high bit of each that is no digit.
static inline uint64_t no_digits(uint64_t zeros)
{
    return (zeros | ((zeros & EACH_BYTE(0x7F)) + EACH_BYTE(0x76))) & EACH_BYTE(0x80);
}

static inline unsigned first_byte(uint64_t high_bits)
{
    return high_bits ? (unsigned)__builtin_ctzll(high_bits) / 8 : 8;
}

// Eight digits to their number: pairs, then fours, then all, each in one multiplication.
static inline uint64_t eight_digits(uint64_t zeros)
{
    zeros = zeros * 10 + (zeros >> 8);
    return (((zeros & 0x000000FF000000FFu) * 0x000F424000000064u) +
            (((zeros >> 16) & 0x000000FF000000FFu) * 0x0000271000000001u)) >>
           32;
}

// The same of the first `count` digits, which is not 0.
static inline uint64_t some_digits(uint64_t zeros, unsigned count)
{
    return eight_digits(zeros << (64 - 8 * count));
}

// The digits among the first eight bytes: how many, and their number.
static inline unsigned leading_digits(const char *at, uint64_t *number)
{
    uint64_t zeros = eight_bytes(at) ^ EACH_BYTE('0');
    unsigned count = first_byte(no_digits(zeros));
    *number = count ? some_digits(zeros, count) : 0;
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

// Microseconds to nanoseconds, cut.
static const char *take_time(const char *at, int64_t *ns)
{
    uint64_t whole, part;
    const char *end = take_digits(at, &whole);
    if (!end || whole >= TRACE_MAX_NS / 1000)
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

// Up to four digits, a point and three more, which is nearly every duration.
static inline const char *take_short_time(const char *at, int64_t *ns)
{
    uint64_t bytes = eight_bytes(at), zeros = bytes ^ EACH_BYTE('0'), ends = no_digits(zeros);
    unsigned whole = first_byte(ends), all = first_byte(ends & (ends - 1));
    if (whole == 0 || all != whole + 4 || (bytes >> 8 * whole & 0xFF) != '.')
        return NULL;
    uint64_t before = zeros & ((UINT64_C(1) << 8 * whole) - 1);
    uint64_t behind = zeros >> 8 * (whole + 1) & 0xFFFFFF;
    *ns = (int64_t)some_digits(before | behind << 8 * whole, whole + 3);
    return at + all;
}

// Passes over a number that nobody reads.
static inline const char *skip_number(const char *at)
{
    const char *from = at;
    for (;; at += 8) {
        uint64_t bytes = eight_bytes(at), low = bytes & EACH_BYTE(0x7F);
        uint64_t above = low + EACH_BYTE(0x7F - '9');   // beyond 9
        uint64_t numeric = low + EACH_BYTE(0x80 - '-'); // - . / 0..9 and beyond
        uint64_t ends = (bytes | above | ~numeric) & EACH_BYTE(0x80);
        if (!ends)
            continue;
        at += first_byte(ends);
        return at > from ? at : NULL;
    }
}

// The end of a text in which there may be anything.
static const char *odd_text_end(const char *at)
{
    while (*at != '"' && *at != '\0')
        at += *at == '\\' && at[1] != '\0' ? 2 : 1;
    return *at == '"' ? at : NULL;
}

// The end of a text; *plain says whether it has no escapes, control characters or bytes past ASCII.
static inline const char *text_end(const char *at, bool *plain)
{
    uint32_t stops;
    while (!(stops = simd_text_stops16(at)))
        at += 16;
    at += __builtin_ctz(stops);
    *plain = *at == '"';
    return *plain ? at : odd_text_end(at);
}

// Its opening bracket is the byte before.
static const char *list_end(const char *at)
{
    size_t depth = 1;
    const char *escaped = NULL;
    bool in_text = false;
    for (;; at += 16)
        for (uint32_t marks = simd_list_marks16(at); marks; marks &= marks - 1) {
            const char *mark = at + __builtin_ctz(marks);
            if (*mark == '\0' || (*mark == '\\' && !in_text))
                return NULL;
            if (mark == escaped)
                continue;
            if (*mark == '\\')
                escaped = mark + 1;
            else if (*mark == '"')
                in_text = !in_text;
            else if (!in_text)
                depth += *mark == '[' || *mark == '{' ? 1 : SIZE_MAX;
            if (depth == 0)
                return mark + 1;
        }
}

// Where a value ends is known only when it is read, and the next one cannot begin before: a chain
// of some 15 cycles a value. Most values are as long as the last time, so going on from there and
// checking breaks the chain.
static inline const char *settle(struct node *node, const char *at, const char *end)
{
    const char *usual = at + node->usual;
    if (usual == end) {
        __asm__("" : "+r"(usual)); // else the compiler returns end, which is the same, but late
        return usual;
    }
    if (end)
        node->usual = (uint16_t)(end - at);
    return end;
}

static inline uint64_t low_bytes(unsigned count)
{
    return count < 8 ? (UINT64_C(1) << 8 * count) - 1 : UINT64_MAX;
}

// A process, thread, stream or launch shape is mostly what it was the time before.
static inline const char *take_number(struct node *node, const char *at, int64_t *number)
{
    uint64_t bytes = eight_bytes(at);
    if ((bytes & node->same_mask) == node->same) {
        *number = node->number;
        return at + node->usual;
    }
    const char *end = node->form == FORM_LABEL ? take_label(at, number) : take_integer(at, number);
    if (!end)
        return NULL;
    // With the byte behind, else 12 would be taken for the begin of 123.
    bool fits = end - at < 8;
    node->usual = (uint16_t)(end - at);
    node->same_mask = fits ? low_bytes(node->usual + 1u) : 0;
    node->same = fits ? bytes & node->same_mask : 1; // no bytes under an empty mask are 1
    node->number = *number;
    return end;
}

// Times of day are as long as the one before and begin with the same digits, but for the eight
// before the point or the end; behind a point stand three.
#define POINT_DIGITS 4u // ".000"

// The part behind the point; above 999 when it is none.
static inline uint32_t point_digits(const char *at)
{
    uint32_t part;
    memcpy(&part, at, sizeof part);
    part ^= UINT32_C(0x3030302E); // ".000" in the order of bytes
    if ((part | (part + UINT32_C(0x76767600))) & UINT32_C(0x808080FF))
        return UINT32_MAX;
    return (part >> 8 & 0xF) * 100 + (part >> 16 & 0xF) * 10 + (part >> 24);
}

static inline const char *take_usual_time(const struct node *node, const char *at, int64_t *ns)
{
    const char *end = at + node->usual, *point = end - (node->has_point ? POINT_DIGITS : 0);
    uint32_t part = node->has_point ? point_digits(point) : 0;
    uint64_t zeros = eight_bytes(point - 8) ^ EACH_BYTE('0');
    bool goes_on = *end == '.' || (*end >= '0' && *end <= '9');
    if ((eight_bytes(at) & node->same_mask) != node->same || no_digits(zeros) || part > 999 ||
        goes_on)
        return NULL;
    uint64_t whole = (uint64_t)node->number + eight_digits(zeros);
    *ns = (int64_t)(whole * 1000 + part);
    return end;
}

static const char *take_new_time(struct node *node, const char *at, int64_t *ns)
{
    const char *end = take_time(at, ns);
    if (!end)
        return NULL;
    const char *point = memchr(at, '.', (size_t)(end - at));
    size_t whole = (size_t)((point ? point : end) - at);
    // The digits that the next eight are added to must not lead past the latest time.
    bool usual = whole > 8 && whole <= 16 && (!point || end - point == POINT_DIGITS) &&
                 *ns < TRACE_MAX_NS / 2;
    node->usual = usual ? (uint16_t)(end - at) : 0;
    node->has_point = point;
    if (usual) {
        node->same_mask = low_bytes((unsigned)whole - 8);
        node->same = eight_bytes(at) & node->same_mask;
        node->number = *ns / 1000 / 100000000 * 100000000;
    }
    return end;
}

static inline const char *take_any_time(struct node *node, const char *at, int64_t *ns)
{
    const char *end = node->usual ? take_usual_time(node, at, ns) : take_short_time(at, ns);
    return end ? end : take_new_time(node, at, ns);
}

// The end of the text at `at` if it is the one foretold for this field, else NULL.
static inline const char *take_foretold(struct text_guess *guess, const struct node *node,
                                        const char *at, struct event_fields *fields)
{
    str_id id;
    struct str text = text_guess_of(guess, node->field, &id);
    if (!id || !text_is_at(text.at, text.len, at))
        return NULL;
    fields->value[node->field].id = id;
    return at + text.len;
}

static inline const char *take_text(struct text_guess *guess, const struct node *node,
                                    const char *at, struct event_fields *fields)
{
    uint64_t bit = UINT64_C(1) << node->field;
    const char *end = node->guessed ? take_foretold(guess, node, at, fields) : NULL;
    if (end && *end == '"') {
        fields->known |= bit;
        return end;
    }
    bool plain;
    end = text_end(at, &plain);
    if (!end)
        return NULL;
    fields->value[node->field].text = (struct str){at, (size_t)(end - at)};
    fields->plain |= plain ? bit : 0;
    fields->asked |= plain && node->guessed ? bit : 0;
    return end;
}

static inline const char *take_list(struct text_guess *guess, const struct node *node,
                                    const char *at, struct event_fields *fields)
{
    uint64_t bit = UINT64_C(1) << node->field;
    const char *end = node->guessed ? take_foretold(guess, node, at - 1, fields) : NULL;
    if (end) {
        fields->known |= bit;
        return end;
    }
    end = list_end(at);
    if (!end)
        return NULL;
    fields->value[node->field].text = (struct str){at - 1, (size_t)(end - at + 1)};
    fields->asked |= node->guessed ? bit : 0;
    return end;
}

static inline const char *take_value(struct text_guess *guess, struct node *node, const char *at,
                                     struct event_fields *fields)
{
    int64_t *number = &fields->value[node->field].number;
    bool plain; // of no interest
    switch ((enum form)node->form) {
    case FORM_END: return at;
    case FORM_TEXT: return take_text(guess, node, at, fields);
    case FORM_LIST: return take_list(guess, node, at, fields);
    case FORM_INTEGER:
    case FORM_LABEL: return take_number(node, at, number);
    case FORM_TIME: return take_any_time(node, at, number);
    case FORM_SKIP: return settle(node, at, skip_number(at));
    case FORM_SKIP_TEXT: return text_end(at, &plain);
    case FORM_SKIP_LIST: return list_end(at);
    }
    return NULL;
}

// ---- matching
// ------------------------------------------------------------------------------------

// What follows `from` at `at`, the recent one first; an event that ended is followed by what
// follows the root. NULL when it is nothing known.
static inline struct node *next_node(const struct kineto_layouts *layouts, struct node *from,
                                     const char *at)
{
    struct node *node = from->recent;
    if (node && text_is_at(node->literal, node->len, at))
        return node;
    node = from->form == FORM_END ? layouts->nodes[0].first : from->first;
    while (node && !text_is_at(node->literal, node->len, at))
        node = node->sibling;
    if (node)
        from->recent = node;
    return node;
}

// What the path to an end says of the event; the args that nobody reads are not among it.
static void end_fields(const struct node *end, struct event_fields *fields)
{
    fields->present = end->present;
    fields->numeric = end->numeric;
    fields->kind = (enum event_kind)end->kind;
    fields->phase = end->phase;
    fields->bad_args = false;
}

const char *kineto_layouts_match(struct kineto_layouts *layouts, const char *at,
                                 struct event_fields *fields, const char **brace)
{
    struct node *node = next_node(layouts, layouts->last, at);
    if (!node)
        return NULL;
    *brace = at + node->brace;
    fields->known = fields->plain = fields->asked = 0;
    text_guess_begin(layouts->guess, (unsigned)(node - layouts->nodes));
    for (;;) {
        at = take_value(layouts->guess, node, at + node->len, fields);
        if (!at)
            return NULL;
        if (node->form == FORM_END)
            break;
        node = next_node(layouts, node, at);
        if (!node)
            return NULL;
    }
    end_fields(node, fields);
    layouts->last = node;
    layouts->credit += layouts->credit < MAX_CREDIT;
    return at;
}

// ---- learning
// ------------------------------------------------------------------------------------

struct lesson {
    struct kineto_layouts *layouts;
    struct node *node; // what was learned so far ends here
    const char *from;  // the bytes before the next value begin here
    const char *brace; // of the event
    bool has_args;
    uint64_t present, numeric;
};

static bool same_node(const struct node *a, const struct node *b, const char *literal)
{
    return a->len == b->len && a->form == b->form && a->field == b->field &&
           memcmp(a->literal, literal, a->len) == 0;
}

// Room is kept for what the comparison reads behind a literal.
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

// The node behind lesson->node for a value at `value`, which is made when it is new.
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
        forget(layouts); // so many were of no use
    lesson->node = next;
    return next;
}

// Learns that a value of some field stands from `begin` to `end`.
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
        return false; // the last one counts, and which that is, the walk knows
    bool text = node.form == FORM_TEXT || node.form == FORM_LIST;
    lesson->present |= bit;
    lesson->numeric = text ? lesson->numeric & ~bit : lesson->numeric | bit;
    return true;
}

// Words such as true belong to the bytes around them.
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
        return false; // a number where a text is read
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
    struct lesson lesson = {.layouts = layouts, .node = layouts->nodes, .from = walk.at};
    bool usual = walk.comma_due && !fields->bad_args;
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
