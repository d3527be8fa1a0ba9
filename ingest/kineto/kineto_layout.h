// SPDX-License-Identifier: Apache-2.0
// Events of a trace are printed in a few fixed patterns, with the same bytes between the values
// each time. Layouts are learned from events that were read member by member; an event with a known
// layout is then read by comparing those bytes and converting what is between them, without an
// index. Anything that deviates by a single byte is left to kineto_walk, which decides what it
// means.
#ifndef INGEST_KINETO_LAYOUT_H
#define INGEST_KINETO_LAYOUT_H

#include "ingest/base/budget.h"
#include "ingest/json/json_walk.h"
#include "ingest/kineto/kineto_fields.h"
#include "ingest/kineto/text_guess.h"

struct kineto_layouts;

// kineto_layouts_match for one SIMD width.
typedef const char *kineto_match_fn(struct kineto_layouts *layouts, const char *at,
                                    struct event_fields *fields, const char **brace);

struct kineto_match {
    const char *name; // "AVX2", ...
    kineto_match_fn *run;
};

// The variants this processor supports, the widest first; a nameless entry ends the list.
const struct kineto_match *kineto_match_variants(void);

// match is one of the variants. guess outlives the layouts; texts it predicts are returned as known
// fields.
MUST_CHECK struct kineto_layouts *kineto_layouts_new(const struct kineto_match *match,
                                                     struct text_guess *guess,
                                                     struct budget *budget, struct err *err);
void kineto_layouts_free(struct kineto_layouts *layouts); // NULL is allowed

// Reads the event whose separating comma is next at `at`, if its layout is known. The text ends
// with a NUL followed by SIMD_SLACK readable bytes. Returns the end of the event, including its
// closing brace, and sets *brace to its opening one; NULL if the layout is not known or the text
// ends inside the event. The fields are the same as from kineto_walk_event.
const char *kineto_layouts_match(struct kineto_layouts *layouts, const char *at,
                                 struct event_fields *fields, const char **brace);

// Learns the layout of an event that was read: walk is before its separating comma and may look at
// all of it; kind and phase are what was found. Decides itself when and how often to learn.
void kineto_layouts_learn(struct kineto_layouts *layouts, struct json_walk walk,
                          const struct event_fields *fields);

#endif
