// SPDX-License-Identifier: Apache-2.0
// Interned strings: one text block, one span per id, one open-addressing table.
#include "ingest/trace/strtab.h"
#include "ingest/base/fuzzed.h"
#include "ingest/base/secrets.h"
#include "ingest/base/simd.h"

#include <assert.h>

#define FIRST_TEXT  ((size_t)FUZZED_SIZE(64 << 10, 512))
#define FIRST_SPANS FUZZED_SIZE(1024u, 16u)
#define FIRST_SLOTS FUZZED_SIZE(4096u, 64u)
#define MAX_IDS     ((uint32_t)1 << 30) // twice as many slots still fit 32 bits

bool strtab_init(struct strtab *table, struct budget *budget, struct err *err)
{
    *table = (struct strtab){.budget = budget, .key = hash_key_random()};
    table->slots = budget_alloc(budget, FIRST_SLOTS * sizeof *table->slots, err);
    table->span = budget_alloc(budget, FIRST_SPANS * sizeof *table->span, err);
    table->text = budget_alloc(budget, FIRST_TEXT, err);
    table->slot_cap = FIRST_SLOTS;
    table->span_cap = FIRST_SPANS;
    table->text_cap = FIRST_TEXT;
    if (!table->slots || !table->span || !table->text) {
        strtab_free(table);
        return false;
    }
    memset(table->slots, 0, FIRST_SLOTS * sizeof *table->slots);
    str_id empty;
    return strtab_intern(table, (struct str){"", 0}, &empty, err);
}

void strtab_free(struct strtab *table)
{
    if (table->slots)
        budget_free(table->budget, table->slots, table->slot_cap * sizeof *table->slots);
    if (table->span)
        budget_free(table->budget, table->span, table->span_cap * sizeof *table->span);
    if (table->text)
        budget_free(table->budget, table->text, table->text_cap);
    *table = (struct strtab){0};
}

struct str strtab_get(const struct strtab *table, str_id id)
{
    assert(id < table->count);
    uint64_t span = table->span[id];
    return (struct str){table->text + (span >> STRTAB_LEN_BITS),
                        span & ((1u << STRTAB_LEN_BITS) - 1)};
}

// The slot of text, or the free one where it belongs.
static uint32_t probe(const struct strtab *table, struct str text, uint64_t hash)
{
    uint32_t mask = table->slot_cap - 1;
    uint32_t at = (uint32_t)hash & mask;
    for (;; at = (at + 1) & mask) {
        uint64_t slot = table->slots[at];
        if (!slot)
            return at;
        if (slot >> 32 == hash >> 32 && str_equal(strtab_get(table, (uint32_t)slot - 1), text))
            return at;
    }
}

// Resizes the table to cap slots and reinserts every text.
static bool rehash(struct strtab *table, uint32_t cap, struct err *err)
{
    uint64_t *slots = budget_alloc(table->budget, cap * sizeof *slots, err);
    if (!slots)
        return false;
    memset(slots, 0, cap * sizeof *slots);
    for (uint32_t id = 0; id < table->count; id++) {
        struct str text = strtab_get(table, id);
        uint64_t hash = hash_keyed(table->key, text.at, text.len);
        uint32_t at = (uint32_t)hash & (cap - 1);
        while (slots[at])
            at = (at + 1) & (cap - 1);
        slots[at] = (hash >> 32) << 32 | (id + 1);
    }
    budget_free(table->budget, table->slots, table->slot_cap * sizeof *slots);
    table->slots = slots;
    table->slot_cap = cap;
    return true;
}

static bool spans_fit(const struct strtab *table)
{
    if (table->count == 0 || table->count > MAX_IDS || table->text_len == 0 ||
        strtab_get(table, 0).len != 0)
        return false;
    for (uint32_t id = 0; id < table->count; id++) {
        uint64_t at = table->span[id] >> STRTAB_LEN_BITS;
        uint64_t len = table->span[id] & ((1u << STRTAB_LEN_BITS) - 1);
        if (len > STRTAB_MAX_LEN || at + len >= table->text_len || table->text[at + len] != '\0')
            return false;
    }
    return true;
}

bool strtab_adopt(struct strtab *table, struct budget *budget, struct strtab_parts parts,
                  struct err *err)
{
    *table = (struct strtab){.budget = budget,
                             .text = parts.text,
                             .text_len = parts.text_len,
                             .text_cap = parts.text_len,
                             .span = parts.span,
                             .count = parts.count,
                             .span_cap = parts.count,
                             .key = hash_key_random()};
    uint32_t cap = FIRST_SLOTS;
    while (cap / 2 <= parts.count && parts.count <= MAX_IDS)
        cap *= 2;
    bool ok = spans_fit(table) ? rehash(table, cap, err)
                               : err_set(err, ERR_FORMAT, "a text is outside the text block");
    if (!ok)
        strtab_free(table);
    return ok;
}

static bool make_room(struct strtab *table, size_t len, struct err *err)
{
    if (table->count >= MAX_IDS)
        return err_set(err, ERR_LIMIT, "more than %u distinct texts", MAX_IDS);
    if (table->count == table->span_cap) {
        size_t size = table->span_cap * sizeof *table->span;
        uint64_t *span = budget_realloc(table->budget, table->span, size, size * 2, err);
        if (!span)
            return false;
        table->span = span;
        table->span_cap *= 2;
    }
    if (table->text_cap - table->text_len <= len + SIMD_SLACK) {
        size_t cap = table->text_cap * 2 + len;
        char *text = budget_realloc(table->budget, table->text, table->text_cap, cap, err);
        if (!text)
            return false;
        table->text = text;
        table->text_cap = cap;
    }
    return table->count < table->slot_cap / 2 || rehash(table, table->slot_cap * 2, err);
}

// Adds a new text in slot `at`.
static bool add(struct strtab *table, struct str text, uint64_t hash, uint32_t at, struct err *err)
{
    uint32_t slot_cap = table->slot_cap;
    if (!make_room(table, text.len, err))
        return false;
    if (slot_cap != table->slot_cap)
        at = probe(table, text, hash);
    uint32_t id = table->count++;
    table->span[id] = (uint64_t)table->text_len << STRTAB_LEN_BITS | text.len;
    if (text.len)
        memcpy(table->text + table->text_len, text.at, text.len);
    table->text[table->text_len + text.len] = '\0';
    table->text_len += text.len + 1;
    table->slots[at] = (hash >> 32) << 32 | (id + 1);
    return true;
}

bool strtab_intern(struct strtab *table, struct str text, str_id *id, struct err *err)
{
    assert(text.len <= STRTAB_MAX_LEN);
    uint64_t hash = hash_keyed(table->key, text.at, text.len);
    uint32_t at = probe(table, text, hash);
    *id = table->slots[at] ? (uint32_t)table->slots[at] - 1 : table->count;
    return table->slots[at] || add(table, text, hash, at, err);
}

static bool intern_redacted(struct strtab *table, struct str text, str_id *id, struct err *err)
{
    struct buf clean = {0};
    secrets_redact(text, NULL, &clean);
    size_t len = clean.len < STRTAB_MAX_LEN ? clean.len : STRTAB_MAX_LEN;
    struct str kept = {clean.at,
                       len < clean.len ? str_valid_utf8((struct str){clean.at, len}) : len};
    bool ok = buf_ok(&clean, err) && strtab_intern(table, kept, id, err);
    buf_free(&clean);
    return ok;
}

bool strtab_intern_outside(struct strtab *table, struct str text, str_id *id, struct err *err)
{
    assert(text.len <= STRTAB_MAX_LEN);
    uint64_t hash = hash_keyed(table->key, text.at, text.len);
    uint32_t at = probe(table, text, hash);
    struct secret secret;
    *id = table->slots[at] ? (uint32_t)table->slots[at] - 1 : table->count;
    if (table->slots[at])
        return true;
    if (secrets_find(text, 0, &secret))
        return intern_redacted(table, text, id, err);
    return add(table, text, hash, at, err);
}

str_id strtab_find(const struct strtab *table, struct str text)
{
    uint64_t slot = table->slots[probe(table, text, hash_keyed(table->key, text.at, text.len))];
    return slot ? (uint32_t)slot - 1 : 0;
}

size_t strtab_bytes(const struct strtab *table)
{
    return table->text_cap + table->span_cap * sizeof *table->span +
           table->slot_cap * sizeof *table->slots;
}
