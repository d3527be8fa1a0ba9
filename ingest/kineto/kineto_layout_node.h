// SPDX-License-Identifier: Apache-2.0
// The tree of layouts, shared by the code that learns and the code that matches. Each node is the
// bytes up to the next value and how that value is read; nodes with the same parent are the
// alternatives that may follow.
#ifndef INGEST_KINETO_LAYOUT_NODE_H
#define INGEST_KINETO_LAYOUT_NODE_H

#include "ingest/base/fuzzed.h"
#include "ingest/kineto/kineto_layout.h"

#define MAX_NODES     FUZZED_SIZE(512u, 64u)
#define LITERAL_BYTES ((size_t)FUZZED_SIZE(64 << 10, 2 << 10))
#define MAX_CREDIT    1024u
#define LIKELY_BEGINS FUZZED_SIZE(2048u, 128u)

enum form {
    FORM_END,
    FORM_TEXT,
    FORM_LIST,
    FORM_INTEGER,
    FORM_LABEL,
    FORM_TIME,
    FORM_SKIP, // the value is unused from here on
    FORM_SKIP_TEXT,
    FORM_SKIP_LIST,
};

struct node {
    const char *literal; // the bytes before the value
    uint16_t len;
    // Length of the previous value. Of a time: 0 if the next one differs and has to be read from
    // its start. Of a number: valid while same_mask is not 0.
    uint16_t usual;
    uint8_t form;   // enum form
    uint8_t field;  // enum event_field
    bool guessed;   // its texts are predicted
    bool has_point; // the previous one had three digits after a point
    uint8_t kind;   // of an end: enum event_kind
    char phase;     // of an end
    uint16_t brace; // of an event's start: position of its brace in the literal
    // Of a number: its first bytes last time, which of them count, and their value.
    uint64_t same, same_mask;
    int64_t number;
    // What may come next; after an end: which events may.
    struct node *first, *recent, *sibling;
    uint64_t present, numeric; // of an end: fields of the event, and which are numbers
};

struct kineto_layouts {
    struct budget *budget;
    kineto_match_fn *match;
    struct text_guess *guess;
    struct node nodes[MAX_NODES]; // 0 is the root
    char literals[LITERAL_BYTES];
    unsigned node_count;
    size_t literal_len;
    unsigned credit;   // events read pay for learning, so that it cannot cost more than they do
    struct node *last; // the end of the previous event, or the root
    // The ends of the last two events, as indices into nodes, and for each such history where the
    // event after it started.
    uint32_t past;
    uint16_t likely[LIKELY_BEGINS];
};

kineto_match_fn kineto_match_base;
#if defined(__x86_64__)
kineto_match_fn kineto_match_avx2, kineto_match_avx512;
#endif

#endif
