// SPDX-License-Identifier: Apache-2.0
// Training repeats itself: what once followed two names will mostly follow them again. Checking a
// guessed text takes one comparison; finding its end, hashing and looking it up takes ten times as
// long.
#ifndef INGEST_TEXT_GUESS_H
#define INGEST_TEXT_GUESS_H

#include "ingest/base/fuzzed.h"
#include "ingest/base/hash.h"
#include "ingest/trace/strtab.h"

#define TEXT_GUESS_SLOTS  FUZZED_SIZE(8192u, 512u)
#define TEXT_GUESS_FIELDS 64u // slots of one context; a power of two

struct text_guess {
    const struct strtab *strings;
    str_id id[TEXT_GUESS_SLOTS]; // 0: no guess
    str_id before[2];            // the names of the two events before
    uint64_t context;            // of the current event
};

static inline str_id *text_guess_slot(struct text_guess *guess, unsigned field)
{
    // The fields of one event are adjacent, in a few cache lines.
    return &guess->id[(guess->context + field) % TEXT_GUESS_SLOTS];
}

// Starts an event whose layout starts with the first-th node.
static inline void text_guess_begin(struct text_guess *guess, unsigned first)
{
    uint64_t names = (uint64_t)guess->before[0] << 32 | guess->before[1];
    guess->context =
        hash_u64(names + first * UINT64_C(0x9E3779B97F4A7C15)) & ~(uint64_t)(TEXT_GUESS_FIELDS - 1);
}

// The guess for a field's text, {NULL, 0} if there is none.
static inline struct str text_guess_of(struct text_guess *guess, unsigned field, str_id *id)
{
    *id = *text_guess_slot(guess, field);
    return *id ? strtab_get(guess->strings, *id) : (struct str){NULL, 0};
}

// Notes a field's text for next time.
static inline void text_guess_note(struct text_guess *guess, unsigned field, str_id id)
{
    *text_guess_slot(guess, field) = id;
}

// Ends an event with this name.
static inline void text_guess_end(struct text_guess *guess, str_id name)
{
    guess->before[1] = guess->before[0];
    guess->before[0] = name;
}

#endif
