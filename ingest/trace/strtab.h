// SPDX-License-Identifier: Apache-2.0
// Interned strings: each distinct text is stored once and named by a small integer.
#ifndef INGEST_TRACE_STRTAB_H
#define INGEST_TRACE_STRTAB_H

#include "ingest/base/budget.h"
#include "ingest/base/hash.h"
#include "ingest/base/str.h"

typedef uint32_t str_id; // 0 is the empty string and stands for "absent"

#define STRTAB_LEN_BITS 24

struct strtab {
    struct budget *budget;
    char *text; // all strings one after the other, each with a NUL
    size_t text_len, text_cap;
    uint64_t *span; // per id: offset << STRTAB_LEN_BITS | length
    uint32_t count, span_cap;
    uint64_t *slots;   // open addressing: hash tag << 32 | id + 1, 0 when free
    uint32_t slot_cap; // a power of two
    struct hash_key key;
};

// Longest text the table takes; readers cut or drop longer ones and count that.
#define STRTAB_MAX_LEN ((size_t)1 << 20)

MUST_CHECK bool strtab_init(struct strtab *table, struct budget *budget, struct err *err);
void strtab_free(struct strtab *table);

// The id of text, which is copied when new. len must not pass STRTAB_MAX_LEN. ERR_LIMIT when full.
MUST_CHECK bool strtab_intern(struct strtab *table, struct str text, str_id *id, struct err *err);

// The same of a text from outside: what looks like a secret is replaced before it is kept. Only a
// text that is new is searched. No longer than STRTAB_MAX_LEN, also with what takes their place.
MUST_CHECK bool strtab_intern_outside(struct strtab *table, struct str text, str_id *id,
                                      struct err *err);

// The id of text if it is already there, else 0.
str_id strtab_find(const struct strtab *table, struct str text);

// The text of an id; NUL-terminated, valid until the next intern. While texts are still interned,
// SIMD_SLACK bytes after it can be read.
struct str strtab_get(const struct strtab *table, str_id id);

// A table as it is stored: count texts that stand in text[0..text_len) as the spans tell.
struct strtab_parts {
    char *text;
    size_t text_len;
    uint64_t *span;
    uint32_t count;
};

// Takes over parts that were allocated in budget; they are released also on failure. ERR_FORMAT
// when a span is out of bounds or the first is not the empty text.
MUST_CHECK bool strtab_adopt(struct strtab *table, struct budget *budget, struct strtab_parts parts,
                             struct err *err);

// Bytes held, for the memory account.
size_t strtab_bytes(const struct strtab *table);

#endif
