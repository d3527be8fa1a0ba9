// SPDX-License-Identifier: Apache-2.0
// Reads an event by its layout. Compiled once per SIMD width: the files that include this differ
// only in their compiler options.
#ifndef INGEST_KINETO_MATCH_H
#define INGEST_KINETO_MATCH_H

#include "ingest/base/simd.h"
#include "ingest/json/json_number.h"
#include "ingest/kineto/kineto_layout_node.h"
#include "ingest/trace/trace.h"

_Static_assert(FIELD_NONE <= TEXT_GUESS_FIELDS, "each field has its slot");

// Whether text, which is not empty and has SIMD_SLACK readable bytes after it, is at `at`.
static inline bool text_is_at(const char *text, size_t len, const char *at)
{
    for (; len > SIMD_BYTES; len -= SIMD_BYTES, text += SIMD_BYTES, at += SIMD_BYTES)
        if (simd_equal(text, at) != simd_low(SIMD_BYTES))
            return false;
    simd_mask needed = simd_low((unsigned)len);
    return (simd_equal(text, at) & needed) == needed;
}

// --- values --------------------------------------------------------------------------------------
// Each returns the end of the value at `at`, or NULL to leave it to the walk. If a value ends too
// early, the literal bytes after it will not match.

#define EACH_BYTE(value) (UINT64_C(0x0101010101010101) * (value))

static inline uint64_t eight_bytes(const char *at)
{
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

// For bytes from which '0' was subtracted: the high bit of each that is not a digit.
static inline uint64_t no_digits(uint64_t zeros)
{
    return (zeros | ((zeros & EACH_BYTE(0x7F)) + EACH_BYTE(0x76))) & EACH_BYTE(0x80);
}

static inline unsigned first_byte(uint64_t high_bits)
{
    return high_bits ? (unsigned)__builtin_ctzll(high_bits) / 8 : 8;
}

// The value of the first `count` digits; count is not 0.
static inline uint64_t some_digits(uint64_t zeros, unsigned count)
{
    return json_eight_digits(zeros << (64 - 8 * count));
}

// Returns how many of the first eight bytes are leading digits, and their value.
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

// Up to four digits, a point and three more: nearly every duration.
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

// Skips an unused number.
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

// The end of a text that may contain anything.
static const char *odd_text_end(const char *at)
{
    while (*at != '"' && *at != '\0')
        at += *at == '\\' && at[1] != '\0' ? 2 : 1;
    return *at == '"' ? at : NULL;
}

// The end of a text; *plain is whether it has no escapes, control characters or non-ASCII bytes.
static inline const char *text_end(const char *at, bool *plain)
{
    simd_mask stops;
    while (!(stops = simd_text_stops(at)))
        at += SIMD_BYTES;
    at += simd_first(stops);
    *plain = *at == '"';
    return *plain ? at : odd_text_end(at);
}

// The end of a list that may contain anything but a NUL, or a backslash outside its texts. Its
// opening bracket is the byte before.
static const char *odd_list_end(const char *at)
{
    for (size_t depth = 1; depth;)
        switch (*at++) {
        case '[':
        case '{': depth++; break;
        case ']':
        case '}': depth--; break;
        case '"':
            at = odd_text_end(at);
            if (!at)
                return NULL;
            at++;
            break;
        case '\\':
        case '\0': return NULL;
        default: break;
        }
    return at;
}

// Its opening bracket is the byte before. Texts are masked out, so that only brackets are walked.
static const char *list_end(const char *from)
{
    size_t depth = 1;
    simd_mask inside = 0; // all ones if a step starts inside a text
    for (const char *at = from;; at += SIMD_BYTES) {
        struct simd_list list = simd_list(at);
        if (list.odd)
            return odd_list_end(from);
        simd_mask texts = simd_parity(list.quotes) ^ inside;
        simd_mask brackets = (list.opens | list.closes) & ~texts;
        for (; brackets; brackets &= brackets - 1) {
            depth += list.opens & brackets & -brackets ? 1 : SIZE_MAX;
            if (depth == 0)
                return at + simd_first(brackets) + 1;
        }
        inside = texts & simd_bit(SIMD_BYTES - 1) ? UINT64_MAX : 0;
    }
}

// The end of a value is known only once it is read, and the next one cannot start earlier: a chain
// of about 15 cycles per value. Most values are as long as last time, so continuing from there and
// checking afterwards breaks the chain.
static inline const char *settle(struct node *node, const char *at, const char *end)
{
    if (!end)
        return NULL;
    size_t usual = node->usual;
    if (usual == (size_t)(end - at)) {
        __asm__(""
                : "+r"(usual)); // otherwise the compiler returns end, which is the same but
                                // available late
        return at + usual;
    }
    node->usual = (uint16_t)(end - at);
    return end;
}

static inline uint64_t low_bytes(unsigned count)
{
    return count < 8 ? (UINT64_C(1) << 8 * count) - 1 : UINT64_MAX;
}

// A process, thread, stream or launch shape is mostly the same as last time.
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
    // Includes the byte after it, otherwise 12 would match the start of 123.
    bool fits = end - at < 8;
    node->usual = (uint16_t)(end - at);
    node->same_mask = fits ? low_bytes(node->usual + 1u) : 0;
    node->same = fits ? bytes & node->same_mask : 1; // no bytes under an empty mask are 1
    node->number = *number;
    return end;
}

// Times of day are as long as the previous one and start with the same digits, except for the eight
// before the point or the end; three follow the point.
#define POINT_DIGITS 4u // ".000"

// The digits after the point; above 999 if there are none.
static inline uint32_t point_digits(const char *at)
{
    uint32_t part;
    memcpy(&part, at, sizeof part);
    part ^= UINT32_C(0x3030302E); // ".000" in byte order
    if ((part | (part + UINT32_C(0x76767600))) & UINT32_C(0x808080FF))
        return UINT32_MAX;
    return (part >> 8 & 0xF) * 100 + (part >> 16 & 0xF) * 10 + (part >> 24);
}

static inline const char *take_usual_time(const struct node *node, const char *at, int64_t *ns)
{
    const char *end = at + node->usual, *point = end - (node->has_point ? POINT_DIGITS : 0);
    uint32_t part = node->has_point ? point_digits(point) : 0;
    uint64_t zeros = eight_bytes(point - 8) ^ EACH_BYTE('0');
    bool goes_on = *end == '.' || str_is_digit(*end);
    if ((eight_bytes(at) & node->same_mask) != node->same || no_digits(zeros) || part > 999 ||
        goes_on)
        return NULL;
    uint64_t whole = (uint64_t)node->number + json_eight_digits(zeros);
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
    // Adding the next eight digits must not exceed the latest time.
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

// The end of the text at `at` if it is the one predicted for this field, else NULL.
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
    bool plain; // ignored
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

// --- matching ------------------------------------------------------------------------------------

// What follows `from` at `at`, the most recent one first; after an event's end, what follows the
// root. NULL if unknown.
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

// The start of the next event; the likely one is tried first.
static inline struct node *first_node(struct kineto_layouts *layouts, const char *at)
{
    uint64_t hash = layouts->past * UINT64_C(0x9E3779B97F4A7C15);
    uint16_t *likely = &layouts->likely[hash >> 32 & (LIKELY_BEGINS - 1)];
    struct node *node = &layouts->nodes[*likely];
    if (*likely && text_is_at(node->literal, node->len, at))
        return node;
    node = next_node(layouts, layouts->last, at);
    *likely = node ? (uint16_t)(node - layouts->nodes) : 0;
    return node;
}

// What the path to an end determines about the event; args that are not read are not included.
static void end_fields(const struct node *end, struct event_fields *fields)
{
    fields->present = end->present;
    fields->numeric = end->numeric;
    fields->kind = (enum event_kind)end->kind;
    fields->phase = end->phase;
    fields->bad_args = false;
}

static inline const char *match_event(struct kineto_layouts *layouts, const char *at,
                                      struct event_fields *fields, const char **brace)
{
    struct text_guess *guess = layouts->guess;
    struct node *node = first_node(layouts, at);
    if (!node)
        return NULL;
    *brace = at + node->brace;
    fields->known = fields->plain = fields->asked = 0;
    text_guess_begin(guess, (unsigned)(node - layouts->nodes));
    for (;;) {
        at = take_value(guess, node, at + node->len, fields);
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
    layouts->past = layouts->past << 16 | (uint32_t)(node - layouts->nodes);
    layouts->credit += layouts->credit < MAX_CREDIT;
    return at;
}

#endif
