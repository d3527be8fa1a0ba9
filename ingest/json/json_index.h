// SPDX-License-Identifier: Apache-2.0
// First stage of reading JSON: finds quotes and brackets, 64 bytes at a time.
#ifndef INGEST_JSON_INDEX_H
#define INGEST_JSON_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// State carried from one piece of text to the next.
struct json_index_state {
    bool in_string;
    bool escaped; // the next byte follows a backslash
};

// Writes the offsets (plus base) of every unescaped quote, and of every { } [ ] outside strings, in
// text[0..len). out must have room for len + 64 offsets. Returns how many were found. Commas and
// colons are left out: the reader looks at the text in between, which saves a third of the offsets.
typedef size_t json_index_fn(const char *text, size_t len, uint32_t base,
                             struct json_index_state *state, uint32_t *out);

json_index_fn json_index_scalar;

struct json_index {
    const char *name;
    json_index_fn *run;
};

// The variants this processor supports, the fastest first, json_index_scalar last; a nameless entry
// ends the list.
const struct json_index *json_index_variants(void);

// The fastest variant.
json_index_fn *json_index_best(void);

#endif
