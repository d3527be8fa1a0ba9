// SPDX-License-Identifier: Apache-2.0
// Interned strings: each distinct text is stored once and named by a small integer.
#ifndef INGEST_TRACE_STRTAB_H
#define INGEST_TRACE_STRTAB_H

#include "ingest/base/budget.h"
#include "ingest/base/hash.h"
#include "ingest/base/str.h"

typedef uint32_t str_id; // 0 is the empty string and means "absent"

#define STRTAB_LEN_BITS 24

struct strtab {
    struct budget *budget;
    char *text; // all strings one after another, NUL-terminated
    size_t text_len, text_cap;
    uint64_t *span; // per id: offset << STRTAB_LEN_BITS | length
    uint32_t count, span_cap;
    uint64_t *slots;   // open addressing: hash tag << 32 | id + 1, 0 if free
    uint32_t slot_cap; // a power of two
    struct hash_key key;
};

// The longest text the table takes; readers cut or drop longer ones and count them.
#define STRTAB_MAX_LEN ((size_t)1 << 20)

MUST_CHECK bool strtab_init(struct strtab *table, struct budget *budget, struct err *err);
void strtab_free(struct strtab *table);

// The id of text, which is copied if new. len must not exceed STRTAB_MAX_LEN. ERR_LIMIT when full.
MUST_CHECK bool strtab_intern(struct strtab *table, struct str text, str_id *id, struct err *err);

// Same for a text from outside: anything that looks like a secret is redacted first. Only new texts
// are searched. The text must fit STRTAB_MAX_LEN, also after redaction.
MUST_CHECK bool strtab_intern_outside(struct strtab *table, struct str text, str_id *id,
                                      struct err *err);

// The id of text if it is already there, else 0.
str_id strtab_find(const struct strtab *table, struct str text);

// The text of an id; NUL-terminated, valid until the next intern. While the table is being built,
// SIMD_SLACK bytes after the text are readable.
struct str strtab_get(const struct strtab *table, str_id id);

// A table as stored: count texts in text[0..text_len), delimited by the spans.
struct strtab_parts {
    char *text;
    size_t text_len;
    uint64_t *span;
    uint32_t count;
};

// Takes over parts that were allocated in budget and frees them on failure, too. ERR_FORMAT if a
// span is out of bounds or the first text is not empty.
MUST_CHECK bool strtab_adopt(struct strtab *table, struct budget *budget, struct strtab_parts parts,
                             struct err *err);

// Bytes held, for memory accounting.
size_t strtab_bytes(const struct strtab *table);

#endif
