// SPDX-License-Identifier: Apache-2.0
#include "server/exports/flat_build.h"

#include <string.h>

const uint8_t *flat_begin(const struct flat *flat)
{
    return flat->bytes + FLAT_ROOM - flat->used;
}

static uint8_t *at(struct flat *flat, uint32_t position)
{
    return flat->bytes + FLAT_ROOM - position;
}

// Puts bytes before the others; NULL: zeros.
static uint32_t put(struct flat *flat, const void *bytes, size_t count)
{
    if (count > FLAT_ROOM - flat->used) {
        flat->failed = true;
        return flat->used;
    }
    flat->used += (uint32_t)count;
    if (bytes && count)
        memcpy(at(flat, flat->used), bytes, count);
    else
        memset(at(flat, flat->used), 0, count);
    return flat->used;
}

// Pads so that what is put next, of that many bytes, is aligned.
static void align(struct flat *flat, uint32_t to, size_t next)
{
    put(flat, NULL, (to - (flat->used + next) % to) % to);
}

static uint32_t put_u32(struct flat *flat, uint32_t value)
{
    return put(flat, &value, sizeof value);
}

static uint32_t put_offset(struct flat *flat, uint32_t to)
{
    align(flat, 4, 0);
    return put_u32(flat, flat->used + 4 - to);
}

uint32_t flat_text(struct flat *flat, struct str text)
{
    align(flat, 4, text.len + 1);
    put(flat, NULL, 1);
    put(flat, text.at, text.len);
    return put_u32(flat, (uint32_t)text.len);
}

uint32_t flat_vector(struct flat *flat, const uint32_t *places, uint32_t count)
{
    align(flat, 4, 0);
    for (uint32_t i = count; i-- > 0;)
        put_offset(flat, places[i]);
    return put_u32(flat, count);
}

uint32_t flat_structs(struct flat *flat, const int64_t *numbers, uint32_t count, uint32_t each)
{
    align(flat, 8, 0);
    put(flat, numbers, (size_t)count * each * sizeof *numbers);
    return put_u32(flat, count);
}

void flat_start(struct flat *flat)
{
    memset(flat->slots, 0, sizeof flat->slots);
    flat->slot_count = 0;
    flat->table_from = flat->used;
}

static void take_slot(struct flat *flat, uint32_t slot, uint32_t position)
{
    flat->slots[slot] = position;
    if (slot >= flat->slot_count)
        flat->slot_count = slot + 1;
}

void flat_number(struct flat *flat, uint32_t slot, int64_t value, uint32_t size)
{
    align(flat, size, 0);
    take_slot(flat, slot, put(flat, &value, size)); // little-endian, like the format
}

void flat_link(struct flat *flat, uint32_t slot, uint32_t to)
{
    take_slot(flat, slot, put_offset(flat, to));
}

uint32_t flat_end(struct flat *flat)
{
    uint16_t places[2 + FLAT_SLOTS];
    align(flat, 4, 0);
    uint32_t table = put_u32(flat, 0);
    places[0] = (uint16_t)(4 + 2 * flat->slot_count);
    places[1] = (uint16_t)(table - flat->table_from);
    for (uint32_t i = 0; i < flat->slot_count; i++)
        places[2 + i] = (uint16_t)(flat->slots[i] ? table - flat->slots[i] : 0);
    uint32_t to_places = put(flat, places, places[0]) - table;
    if (!flat->failed)
        memcpy(at(flat, table), &to_places, sizeof to_places);
    return table;
}

void flat_root(struct flat *flat, uint32_t table)
{
    align(flat, 8, 4);
    put_offset(flat, table);
}
