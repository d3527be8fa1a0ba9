// SPDX-License-Identifier: Apache-2.0
// The tree of layouts, as those who learn it and those who match it see it. Each node is the bytes
// up to the next value and how that value is read; nodes of the same parent are what may come
// after.
#ifndef INGEST_KINETO_LAYOUT_NODE_H
#define INGEST_KINETO_LAYOUT_NODE_H

#include "ingest/base/fuzzed.h"
#include "ingest/kineto_layout.h"

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
    FORM_SKIP, // from here on nobody reads the value
    FORM_SKIP_TEXT,
    FORM_SKIP_LIST,
};

struct node {
    const char *literal; // what stands before the value
    uint16_t len;
    // Length of the value the time before. Of a time: 0 when the next is unlike it and has to be
    // read from its begin. Of a number: meaningful while same_mask is not 0.
    uint16_t usual;
    uint8_t form;   // enum form
    uint8_t field;  // enum event_field
    bool guessed;   // its texts are foretold
    bool has_point; // the time before had three digits after a point
    uint8_t kind;   // of an end: enum event_kind
    char phase;     // of an end
    uint16_t brace; // of the begin of an event: where its brace stands in the literal
    // Of a number: its first bytes the time before and which of them count, and what they mean.
    uint64_t same, same_mask;
    int64_t number;
    // What may come next; after an end: which events may.
    struct node *first, *recent, *sibling;
    uint64_t present, numeric; // of an end: fields of the event, and those that are numbers
};

struct kineto_layouts {
    struct budget *budget;
    kineto_match_fn *match;
    struct text_guess *guess;
    struct node nodes[MAX_NODES]; // 0 is the root
    char literals[LITERAL_BYTES];
    unsigned node_count;
    size_t literal_len;
    unsigned credit;   // learning is paid for by events, so that it cannot cost more than they do
    struct node *last; // the end of the event before, or the root
    // The ends of the last two events, as indices into nodes, and for each such past where the
    // event that followed it began.
    uint32_t past;
    uint16_t likely[LIKELY_BEGINS];
};

kineto_match_fn kineto_match_base;
#if defined(__x86_64__)
kineto_match_fn kineto_match_avx2, kineto_match_avx512;
#endif

#endif
