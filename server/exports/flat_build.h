// SPDX-License-Identifier: Apache-2.0
// Builds a flatbuffer back to front, in bounded memory: only what Arrow's metadata needs.
#ifndef SERVER_FLAT_BUILD_H
#define SERVER_FLAT_BUILD_H

#include "ingest/base/str.h"

#include <stdint.h>

#define FLAT_ROOM  ((uint32_t)256 << 10)
#define FLAT_SLOTS 8u

// Positions of what was built are counted from the end.
struct flat {
    uint8_t bytes[FLAT_ROOM];
    uint32_t used;
    uint32_t slots[FLAT_SLOTS], slot_count, table_from;
    bool failed; // there was no room
};

const uint8_t *flat_begin(const struct flat *flat); // its used bytes

uint32_t flat_text(struct flat *flat, struct str text);
// A vector of what was built before.
uint32_t flat_vector(struct flat *flat, const uint32_t *at, uint32_t count);
// A vector of structs of 8-byte numbers.
uint32_t flat_structs(struct flat *flat, const int64_t *numbers, uint32_t count, uint32_t each);

// A table: its slots in any order, larger ones first, between start and end.
void flat_start(struct flat *flat);
void flat_number(struct flat *flat, uint32_t slot, int64_t value, uint32_t size);
void flat_link(struct flat *flat, uint32_t slot, uint32_t to);
uint32_t flat_end(struct flat *flat);

// Ends the buffer, whose length becomes a multiple of 8.
void flat_root(struct flat *flat, uint32_t table);

#endif
