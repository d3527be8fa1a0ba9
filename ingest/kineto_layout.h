// SPDX-License-Identifier: Apache-2.0
// Events of a trace are printed by a few fixed patterns: between the values always the same bytes.
// Layouts are learned from events that were read member by member; an event that follows a known
// one is then read by comparing those bytes and converting what stands between, without an index.
// Whatever deviates in a single byte is left to kineto_walk, which decides what it means.
#ifndef INGEST_KINETO_LAYOUT_H
#define INGEST_KINETO_LAYOUT_H

#include "ingest/base/budget.h"
#include "ingest/json_walk.h"
#include "ingest/kineto_fields.h"
#include "ingest/text_guess.h"

struct kineto_layouts;

// kineto_layouts_match for one width of the processor's instructions.
typedef const char *kineto_match_fn(struct kineto_layouts *layouts, const char *at,
                                    struct event_fields *fields, const char **brace);

struct kineto_match {
    const char *name; // "AVX2", ...
    kineto_match_fn *run;
};

// The variants that this processor runs, the widest first; after the last one without a name.
const struct kineto_match *kineto_match_variants(void);

// match is one of the variants. guess outlives the layouts; texts that it foretells come as known
// fields.
MUST_CHECK struct kineto_layouts *kineto_layouts_new(const struct kineto_match *match,
                                                     struct text_guess *guess,
                                                     struct budget *budget, struct err *err);
void kineto_layouts_free(struct kineto_layouts *layouts); // NULL is allowed

// Reads the event whose separating comma comes next at `at`, if its layout is known. The text ends
// with a NUL and has SIMD_SLACK readable bytes after that. Returns the end of the event, its
// closing brace included, and sets *brace to its opening one; NULL when the layout is not known or
// the text ends inside. The fields are the same as kineto_walk_event gives.
const char *kineto_layouts_match(struct kineto_layouts *layouts, const char *at,
                                 struct event_fields *fields, const char **brace);

// Learns the layout of an event that was read: walk stands before its separating comma and may look
// at all of it; kind and phase are what was found. When and how often to learn is decided here.
void kineto_layouts_learn(struct kineto_layouts *layouts, struct json_walk walk,
                          const struct event_fields *fields);

#endif
