// SPDX-License-Identifier: Apache-2.0
#include "ingest/pickle/pickle_store.h"

#include <assert.h>
#include <stdlib.h>

enum { FEWEST_SLOTS = 64 };

#define MAX_INDEX ((size_t)1 << 28)     // of what a value can point to
#define MAX_ROWS  MAX_INDEX             // in values
#define SMALLEST  (-((int64_t)1 << 27)) // of the integers within a value
#define LARGEST   (((int64_t)1 << 27) - 1)

static bool too_many(struct err *err)
{
    return err_set(err, ERR_LIMIT, "the pickle has too many values to keep in memory");
}

bool pickle_store_init(struct pickle *pickle, struct budget *budget, struct err *err)
{
    *pickle = (struct pickle){.budget = budget, .hash = hash_key_random()};
    pickle->rows = budget_room(budget, NULL, &pickle->row_cap, 1, sizeof *pickle->rows, err);
    if (!pickle->rows)
        return false;
    pickle->nodes = budget_room(budget, NULL, &pickle->node_cap, 1, sizeof *pickle->nodes, err);
    if (!pickle->nodes)
        return false;
    pickle->rows[pickle->row_count++] = 0;
    pickle->nodes[pickle->node_count++] = (struct pickle_node){0};
    return true;
}

void pickle_free(struct pickle *pickle)
{
    if (!pickle)
        return;
    struct budget *budget = pickle->budget;
    budget_free(budget, pickle->chars, pickle->char_cap);
    budget_free(budget, pickle->texts, pickle->text_cap * sizeof *pickle->texts);
    budget_free(budget, pickle->text_slots.at, pickle->text_slots.cap * sizeof(uint32_t));
    budget_free(budget, pickle->wide, pickle->wide_cap * sizeof *pickle->wide);
    budget_free(budget, pickle->rows, pickle->row_cap * sizeof *pickle->rows);
    budget_free(budget, pickle->row_slots.at, pickle->row_slots.cap * sizeof(uint32_t));
    budget_free(budget, pickle->nodes, pickle->node_cap * sizeof *pickle->nodes);
    budget_free(budget, pickle, sizeof *pickle);
}

// --- numbers ------------------------------------------------------------------------------------

static bool add_wide(struct pickle *pickle, uint64_t bits, uint32_t *index, struct err *err)
{
    if (pickle->wide_count == MAX_INDEX)
        return too_many(err);
    uint64_t *wide = budget_room(pickle->budget, pickle->wide, &pickle->wide_cap,
                                 pickle->wide_count + 1, sizeof *wide, err);
    if (!wide)
        return false;
    pickle->wide = wide;
    *index = (uint32_t)pickle->wide_count;
    wide[pickle->wide_count++] = bits;
    return true;
}

bool pickle_store_int(struct pickle *pickle, int64_t number, pickle_value *value, struct err *err)
{
    uint32_t index = (uint32_t)(number - SMALLEST);
    bool small = number >= SMALLEST && number <= LARGEST;
    if (!small && !add_wide(pickle, (uint64_t)number, &index, err))
        return false;
    *value = pickle_value_of(small ? PICKLE_INT : PICKLE_WIDE, index);
    return true;
}

static bool store_wide(struct pickle *pickle, enum pickle_kind kind, uint64_t bits,
                       pickle_value *value, struct err *err)
{
    uint32_t index;
    if (!add_wide(pickle, bits, &index, err))
        return false;
    *value = pickle_value_of(kind, index);
    return true;
}

bool pickle_store_huge(struct pickle *pickle, uint64_t bits, pickle_value *value, struct err *err)
{
    return store_wide(pickle, PICKLE_HUGE, bits, value, err);
}

bool pickle_store_float(struct pickle *pickle, double number, pickle_value *value, struct err *err)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return store_wide(pickle, PICKLE_FLOAT, bits, value, err);
}

bool pickle_int(const struct pickle *pickle, pickle_value value, int64_t *number)
{
    uint32_t index = value >> 4;
    switch ((enum pickle_kind)(value & 15)) {
    case PICKLE_BOOL: *number = index; return true;
    case PICKLE_INT: *number = (int64_t)index + SMALLEST; return true;
    case PICKLE_WIDE: *number = (int64_t)pickle->wide[index]; return true;
    default: return false;
    }
}

bool pickle_bits(const struct pickle *pickle, pickle_value value, uint64_t *bits)
{
    int64_t number = 0;
    bool huge = pickle_kind_of(value) == PICKLE_HUGE;
    if (!huge && !pickle_int(pickle, value, &number))
        return false;
    *bits = huge ? pickle->wide[value >> 4] : (uint64_t)number;
    return true;
}

bool pickle_real(const struct pickle *pickle, pickle_value value, double *number)
{
    int64_t whole;
    if (pickle_kind_of(value) == PICKLE_FLOAT) {
        memcpy(number, &pickle->wide[value >> 4], sizeof *number);
        return true;
    }
    if (!pickle_int(pickle, value, &whole))
        return false;
    *number = (double)whole;
    return true;
}

// --- slots --------------------------------------------------------------------------------------

// Puts a number that is not there yet; there is room.
static void put_slot(struct pickle_slots *slots, uint64_t hash, uint32_t number)
{
    size_t at = (size_t)hash & (slots->cap - 1);
    while (slots->at[at])
        at = (at + 1) & (slots->cap - 1);
    slots->at[at] = number;
    slots->used++;
}

// Whether another number fits with a third of the slots left free.
static bool has_room(const struct pickle_slots *slots)
{
    return (slots->used + 1) * 3 <= slots->cap * 2;
}

// An empty table of twice the size.
static bool twice(const struct pickle *pickle, const struct pickle_slots *slots,
                  struct pickle_slots *larger, struct err *err)
{
    *larger = (struct pickle_slots){.cap = slots->cap ? 2 * slots->cap : FEWEST_SLOTS};
    larger->at = budget_zalloc(pickle->budget, larger->cap * sizeof(uint32_t), err);
    return larger->at;
}

typedef uint64_t hash_of_number(const struct pickle *pickle, uint32_t number);

static bool make_room(const struct pickle *pickle, struct pickle_slots *slots,
                      hash_of_number *hash_of, struct err *err)
{
    struct pickle_slots larger;
    if (has_room(slots))
        return true;
    if (!twice(pickle, slots, &larger, err))
        return false;
    for (size_t i = 0; i < slots->cap; i++)
        if (slots->at[i])
            put_slot(&larger, hash_of(pickle, slots->at[i]), slots->at[i]);
    budget_free(pickle->budget, slots->at, slots->cap * sizeof(uint32_t));
    *slots = larger;
    return true;
}

// --- texts --------------------------------------------------------------------------------------

static struct str text_at(const struct pickle *pickle, uint32_t index)
{
    const struct pickle_text_place *place = &pickle->texts[index];
    return (struct str){pickle->chars + place->at, place->len};
}

static uint64_t hash_of_text(const struct pickle *pickle, uint32_t number)
{
    struct str text = text_at(pickle, number - 1);
    return hash_keyed(pickle->hash, text.at, text.len);
}

pickle_value pickle_find_text(const struct pickle *pickle, struct str text)
{
    const struct pickle_slots *slots = &pickle->text_slots;
    if (slots->cap == 0)
        return PICKLE_ABSENT;
    size_t at = (size_t)hash_keyed(pickle->hash, text.at, text.len) & (slots->cap - 1);
    for (; slots->at[at]; at = (at + 1) & (slots->cap - 1))
        if (str_equal(text_at(pickle, slots->at[at] - 1), text))
            return pickle_value_of(PICKLE_TEXT, slots->at[at] - 1);
    return PICKLE_ABSENT;
}

static bool add_text(struct pickle *pickle, struct str text, struct err *err)
{
    if (pickle->text_count == MAX_INDEX)
        return too_many(err);
    struct pickle_text_place *texts = budget_room(pickle->budget, pickle->texts, &pickle->text_cap,
                                                  pickle->text_count + 1, sizeof *texts, err);
    if (!texts)
        return false;
    pickle->texts = texts;
    char *chars = budget_room(pickle->budget, pickle->chars, &pickle->char_cap,
                              pickle->char_count + text.len + 1, 1, err);
    if (!chars)
        return false;
    pickle->chars = chars;
    if (!make_room(pickle, &pickle->text_slots, hash_of_text, err))
        return false;
    if (text.len)
        memcpy(chars + pickle->char_count, text.at, text.len);
    texts[pickle->text_count++] =
        (struct pickle_text_place){pickle->char_count, (uint32_t)text.len};
    pickle->char_count += text.len;
    uint32_t number = (uint32_t)pickle->text_count;
    put_slot(&pickle->text_slots, hash_of_text(pickle, number), number);
    return true;
}

bool pickle_store_text(struct pickle *pickle, struct str text, pickle_value *value, struct err *err)
{
    *value = pickle_find_text(pickle, text);
    if (*value != PICKLE_ABSENT)
        return true;
    if (!add_text(pickle, text, err))
        return false;
    *value = pickle_value_of(PICKLE_TEXT, (uint32_t)pickle->text_count - 1);
    return true;
}

struct str pickle_text(const struct pickle *pickle, pickle_value value)
{
    enum pickle_kind kind = pickle_kind_of(value);
    return kind == PICKLE_TEXT || kind == PICKLE_BYTES ? text_at(pickle, value >> 4) : STR("");
}

// --- rows ---------------------------------------------------------------------------------------

static uint64_t hash_of_row(const struct pickle *pickle, uint32_t row)
{
    const uint32_t *at = &pickle->rows[row];
    return hash_keyed(pickle->hash, (const char *)at, (size_t)(*at + 1) * sizeof *at);
}

static bool same_row(const struct pickle *pickle, uint32_t a, uint32_t b)
{
    const uint32_t *rows = pickle->rows;
    return memcmp(&rows[a], &rows[b], (size_t)(rows[a] + 1) * sizeof *rows) == 0;
}

// Makes room for a row of `count` values at the end and writes that number; the values follow.
static uint32_t *start_row(struct pickle *pickle, size_t count, struct err *err)
{
    if (count >= MAX_ROWS || pickle->row_count > MAX_ROWS - 1 - count) {
        too_many(err);
        return NULL;
    }
    uint32_t *rows = budget_room(pickle->budget, pickle->rows, &pickle->row_cap,
                                 pickle->row_count + 1 + count, sizeof *rows, err);
    if (!rows)
        return NULL;
    pickle->rows = rows;
    rows[pickle->row_count] = (uint32_t)count;
    return &rows[pickle->row_count + 1];
}

// Sets *row to an equal row that exists, which frees the one at the end, or else to that one.
static bool finish_row(struct pickle *pickle, uint32_t *row, struct err *err)
{
    struct pickle_slots *slots = &pickle->row_slots;
    uint32_t end = (uint32_t)pickle->row_count;
    if (!make_room(pickle, slots, hash_of_row, err))
        return false;
    uint64_t hash = hash_of_row(pickle, end);
    for (size_t at = (size_t)hash & (slots->cap - 1); slots->at[at];
         at = (at + 1) & (slots->cap - 1))
        if (pickle->rows[slots->at[at]] == pickle->rows[end] &&
            same_row(pickle, slots->at[at], end)) {
            *row = slots->at[at];
            return true;
        }
    pickle->row_count += (size_t)pickle->rows[end] + 1;
    put_slot(slots, hash, end);
    *row = end;
    return true;
}

// --- containers ---------------------------------------------------------------------------------

static bool add_node(struct pickle *pickle, uint32_t row, uint32_t *index, struct err *err)
{
    if (pickle->node_count == MAX_INDEX)
        return too_many(err);
    struct pickle_node *nodes = budget_room(pickle->budget, pickle->nodes, &pickle->node_cap,
                                            pickle->node_count + 1, sizeof *nodes, err);
    if (!nodes)
        return false;
    pickle->nodes = nodes;
    *index = (uint32_t)pickle->node_count;
    nodes[pickle->node_count++] = (struct pickle_node){.row = row};
    return true;
}

bool pickle_store_container(struct pickle *pickle, enum pickle_kind kind, pickle_value *value,
                            struct err *err)
{
    uint32_t index;
    if (!add_node(pickle, 0, &index, err))
        return false;
    *value = pickle_value_of(kind, index);
    return true;
}

static bool add_row(struct pickle *pickle, uint32_t first, uint32_t row, struct err *err)
{
    uint32_t added;
    if (!pickle->nodes[first].row) {
        pickle->nodes[first].row = row;
        return true;
    }
    if (!add_node(pickle, row, &added, err))
        return false;
    struct pickle_node *nodes = pickle->nodes;
    uint32_t last = nodes[first].link;
    nodes[added].link = last ? nodes[last].link : added;
    if (last)
        nodes[last].link = added;
    nodes[first].link = added;
    return true;
}

bool pickle_store_items(struct pickle *pickle, pickle_value container, const pickle_value *items,
                        size_t count, struct err *err)
{
    uint32_t row;
    if (count == 0)
        return true;
    uint32_t *to = start_row(pickle, count, err);
    if (!to)
        return false;
    memcpy(to, items, count * sizeof *items);
    return finish_row(pickle, &row, err) && add_row(pickle, container >> 4, row, err);
}

static bool is_kept(const struct pickle *pickle, pickle_value key)
{
    return !pickle->kept || pickle_kind_of(key) != PICKLE_TEXT || key >> 4 < pickle->kept;
}

bool pickle_store_members(struct pickle *pickle, pickle_value dict, const pickle_value *items,
                          size_t pairs, struct err *err)
{
    size_t kept = 0, at = 0;
    uint32_t keys, row;
    for (size_t i = 0; i < pairs; i++)
        kept += is_kept(pickle, items[2 * i]);
    if (kept == 0)
        return true;
    uint32_t *to = start_row(pickle, kept, err);
    for (size_t i = 0; to && i < pairs; i++)
        if (is_kept(pickle, items[2 * i]))
            to[at++] = items[2 * i];
    if (!to || !finish_row(pickle, &keys, err) || !(to = start_row(pickle, kept + 1, err)))
        return false;
    to[0] = keys;
    at = 1;
    for (size_t i = 0; i < pairs; i++)
        if (is_kept(pickle, items[2 * i]))
            to[at++] = items[2 * i + 1];
    return finish_row(pickle, &row, err) && add_row(pickle, dict >> 4, row, err);
}

static bool is_container(pickle_value value)
{
    enum pickle_kind kind = pickle_kind_of(value);
    return kind == PICKLE_LIST || kind == PICKLE_TUPLE || kind == PICKLE_SET || kind == PICKLE_DICT;
}

static bool is_row(pickle_value value)
{
    return (value & 15) == PICKLE_ROW;
}

struct pickle_walk pickle_walk(const struct pickle *pickle, pickle_value container)
{
    uint32_t first = is_container(container) && !is_row(container) ? container >> 4 : 0;
    uint32_t row = is_row(container) ? container >> 4 : pickle->nodes[first].row;
    bool dict = pickle_kind_of(container) == PICKLE_DICT;
    return (struct pickle_walk){pickle, dict, first, first, row, 0};
}

// The node after walk->node; 0: none.
static uint32_t next_node(const struct pickle_walk *walk)
{
    const struct pickle_node *nodes = walk->pickle->nodes;
    uint32_t last = nodes[walk->first].link;
    if (walk->node == walk->first)
        return last ? nodes[last].link : 0;
    return walk->node == last ? 0 : nodes[walk->node].link;
}

bool pickle_walk_next(struct pickle_walk *walk, pickle_value *key, pickle_value *item)
{
    const uint32_t *rows = walk->pickle->rows;
    while (walk->row) {
        const uint32_t *row = &rows[walk->row];
        uint32_t before = walk->dict && *row; // the row of the keys
        if (walk->at + before < *row) {
            *key = walk->dict ? rows[row[1] + 1 + walk->at] : PICKLE_ABSENT;
            *item = row[1 + before + walk->at++];
            return true;
        }
        walk->node = walk->node ? next_node(walk) : 0;
        walk->row = walk->pickle->nodes[walk->node].row;
        walk->at = 0;
    }
    return false;
}

uint32_t pickle_row(const struct pickle *pickle, pickle_value list)
{
    if (is_row(list))
        return list >> 4;
    const struct pickle_node *node = is_container(list) ? &pickle->nodes[list >> 4] : NULL;
    return node && !node->link ? node->row : 0;
}

pickle_value pickle_member(const struct pickle *pickle, pickle_value dict, pickle_value key)
{
    pickle_value found = PICKLE_ABSENT, each, item;
    struct pickle_walk walk = pickle_walk(pickle, dict);
    while (walk.dict && key != PICKLE_ABSENT && pickle_walk_next(&walk, &each, &item))
        if (each == key)
            found = item;
    return found;
}

bool pickle_is_kept(const struct pickle *pickle, pickle_value key, unsigned *place)
{
    *place = key >> 4;
    return pickle_kind_of(key) == PICKLE_TEXT && *place < pickle->kept;
}

// --- records ------------------------------------------------------------------------------------

struct pickle_store_mark pickle_store_mark(const struct pickle *pickle)
{
    return (struct pickle_store_mark){pickle->row_count, pickle->wide_count};
}

void pickle_store_forget(struct pickle *pickle, pickle_value dict,
                         const struct pickle_store_mark *mark)
{
    assert(pickle->row_count == mark->rows);
    pickle->node_count = dict >> 4;
    pickle->wide_count = mark->wide;
}

pickle_value pickle_store_lasting(const struct pickle *pickle, pickle_value value, uint32_t first)
{
    if (!is_container(value) || is_row(value) || value >> 4 < first)
        return value;
    bool list = pickle_kind_of(value) == PICKLE_LIST && !pickle->nodes[value >> 4].link;
    return list ? pickle_value_of(PICKLE_ROW, pickle->nodes[value >> 4].row)
                : pickle_value_of(PICKLE_NONE, 0);
}

pickle_value pickle_root(const struct pickle *pickle)
{
    return pickle->root;
}

uint64_t pickle_size(const struct pickle *pickle)
{
    return pickle->size;
}
