// SPDX-License-Identifier: Apache-2.0
#include "ingest/trace/trace_file_code.h"

enum expected {
    AS_IT_IS, // bytes stay where they are
    NOTHING,  // values are near 0
    BEFORE,   // what the element before has
    STEP,     // as far from the element before as the last time these names followed one another
    SAME,     // what the last event of these names had
    NEXT,     // one more than the last event of this kind; ARGS_NONE stays out of it
};

struct coding {
    enum expected expected;
    uint32_t word; // bytes of the numbers that an element consists of: 4 or 8
};

static struct coding coding_of(enum section_id id)
{
    static const struct coding codings[SECTION_COUNT] = {
        [SECTION_BEGIN] = {STEP, 8},
        [SECTION_DUR] = {SAME, 8},
        [SECTION_ARGS] = {NEXT, 4},
        [SECTION_DEVICE_ARGS] = {BEFORE, 4},
        [SECTION_COMMS_IDS] = {BEFORE, 4},
        [SECTION_LAUNCH_ARGS] = {BEFORE, 4},
        [SECTION_OP_ARGS] = {BEFORE, 4},
        [SECTION_MEMORY_ARGS] = {BEFORE, 4},
        [SECTION_OP_INPUTS] = {BEFORE, 4},
        [SECTION_COUNTER_SAMPLES] = {BEFORE, 8},
        [SECTION_SPANS] = {BEFORE, 8},
        [SECTION_SLICE_BEGIN] = {BEFORE, 8},
        [SECTION_SLICE_DUR] = {NOTHING, 8},
        [SECTION_SLICE_IDLE] = {NOTHING, 8},
        [SECTION_SLICE_OTHERS] = {NOTHING, 8},
        [SECTION_SLICE_COUNT] = {NOTHING, 4},
    };
    return codings[id];
}

bool trace_code_changes(enum section_id id)
{
    return coding_of(id).expected != AS_IT_IS;
}

bool trace_code_needs_names(enum section_id id)
{
    enum expected expected = coding_of(id).expected;
    return expected == STEP || expected == SAME;
}

bool trace_code_needs_kinds(enum section_id id)
{
    return coding_of(id).expected == NEXT;
}

// --- numbers ------------------------------------------------------------------------------------

// Small differences of either sign become small numbers.
static uint64_t fold(uint64_t difference)
{
    return (difference << 1) ^ (uint64_t) - (int64_t)(difference >> 63);
}

static uint64_t unfold(uint64_t folded)
{
    return (folded >> 1) ^ (uint64_t) - (int64_t)(folded & 1);
}

static uint64_t load(const char *at, uint32_t word)
{
    uint64_t wide = 0;
    uint32_t narrow;
    if (word == 8) {
        memcpy(&wide, at, 8);
        return wide;
    }
    memcpy(&narrow, at, 4);
    return narrow;
}

static void store(char *at, uint32_t word, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;
    memcpy(at, word == 8 ? (const void *)&value : (const void *)&narrow, word);
}

// A difference as if both were of word bytes.
static uint64_t folded(uint64_t value, uint64_t expected, uint32_t word)
{
    uint64_t difference = value - expected;
    return word == 8 ? fold(difference)
                     : (uint32_t)fold((uint64_t)(int64_t)(int32_t)(uint32_t)difference);
}

static uint64_t unfolded(uint64_t code, uint64_t expected, uint32_t word)
{
    uint64_t value = expected + unfold(code);
    return word == 8 ? value : (uint32_t)value;
}

// --- what is expected ---------------------------------------------------------------------------

struct template
{
    enum expected expected;
    const struct code_events *events;
    uint64_t *places;
    uint64_t before; // the element before
};

static uint64_t *place_of(struct template *template, size_t i)
{
    const struct code_events *events = template->events;
    if (template->expected == NEXT)
        return &template->places[events->kind[i]];
    uint32_t before = i ? events->name[i - 1] : 0;
    uint32_t mixed = (events->name[i] * 0x9E3779B1u) ^ (before * 0x85EBCA77u);
    return &template->places[mixed >> 20]; // 12 bits
}

static uint64_t expect(struct template *template, size_t i)
{
    switch (template->expected) {
    case AS_IT_IS:
    case NOTHING: return 0;
    case BEFORE: return template->before;
    case STEP: return template->before + *place_of(template, i);
    case SAME:
    case NEXT: break;
    }
    return *place_of(template, i);
}

static void learn(struct template *template, size_t i, uint64_t value)
{
    if (template->expected == STEP)
        *place_of(template, i) = value - template->before;
    else if (template->expected == SAME)
        *place_of(template, i) = value;
    else if (template->expected == NEXT && value != ARGS_NONE)
        *place_of(template, i) = (uint32_t)(value + 1);
    template->before = value;
}

// With NEXT, ARGS_NONE has code 0; the codes below the one that it would have had move up by one.
static uint64_t code_of(const struct template *template, uint64_t value, uint64_t expected,
                        uint32_t word)
{
    uint64_t code = folded(value, expected, word);
    if (template->expected != NEXT)
        return code;
    uint64_t none = folded(ARGS_NONE, expected, word);
    return code == none ? 0 : code + (code < none);
}

static uint64_t value_of(const struct template *template, uint64_t code, uint64_t expected,
                         uint32_t word)
{
    if (template->expected != NEXT)
        return unfolded(code, expected, word);
    uint64_t none = folded(ARGS_NONE, expected, word);
    return code == 0 ? ARGS_NONE : unfolded(code - (code <= none), expected, word);
}

// --- blocks -------------------------------------------------------------------------------------

static struct template template_of(const struct code_block *block, enum expected expected)
{
    if (expected >= STEP)
        memset(block->room->places, 0, sizeof block->room->places);
    return (struct template){expected, &block->events, block->room->places, 0};
}

void trace_code_encode(const struct code_block *block, const void *from, uint8_t *to)
{
    struct coding coding = coding_of(block->id);
    uint32_t element = section_element(block->id), word = coding.word;
    size_t count = block->count;
    if (coding.expected == AS_IT_IS) {
        memcpy(to, from, count * element);
        return;
    }
    for (uint32_t field = 0; field < element; field += word) {
        struct template template = template_of(block, coding.expected);
        for (size_t i = 0; i < count; i++) {
            uint64_t value = load((const char *)from + i * element + field, word);
            uint64_t code = code_of(&template, value, expect(&template, i), word);
            learn(&template, i, value);
            for (uint32_t byte = 0; byte < word; byte++)
                to[(field + byte) * count + i] = (uint8_t)(code >> 8 * byte);
        }
    }
}

// The codes of a field from their bytes; most of the high ones are 0.
static void gather(const uint8_t *from, size_t count, uint32_t word, uint64_t *codes)
{
    memset(codes, 0, count * sizeof *codes);
    for (uint32_t byte = 0; byte < word; byte++, from += count)
        if (from[0] || memcmp(from, from + 1, count - 1) != 0)
            for (size_t i = 0; i < count; i++)
                codes[i] |= (uint64_t)from[i] << 8 * byte;
}

void trace_code_decode(const struct code_block *block, const uint8_t *from, void *to)
{
    struct coding coding = coding_of(block->id);
    uint32_t element = section_element(block->id), word = coding.word;
    size_t count = block->count;
    uint64_t *codes = block->room->codes;
    if (coding.expected == AS_IT_IS || count == 0) {
        memcpy(to, from, count * element);
        return;
    }
    for (uint32_t field = 0; field < element; field += word) {
        struct template template = template_of(block, coding.expected);
        gather(from + field * count, count, word, codes);
        for (size_t i = 0; i < count; i++) {
            uint64_t value = value_of(&template, codes[i], expect(&template, i), word);
            learn(&template, i, value);
            store((char *)to + i * element + field, word, value);
        }
    }
}
