// SPDX-License-Identifier: Apache-2.0
// What inference engines annotate around each pass of the model: prefill or decode, and how much.
#ifndef ANALYSIS_SERVING_H
#define ANALYSIS_SERVING_H

#include "analysis/stats/count.h"
#include "analysis/facts/facts.h"

enum serving_phase {
    SERVING_NONE,    // no such annotation
    SERVING_PREFILL, // prompts are read
    SERVING_DECODE,  // each request gets its next token
    SERVING_MIXED,   // both at once
    SERVING_DRAFT,   // speculation: a smaller model proposes tokens
    SERVING_VERIFY,  // and the model checks them
    SERVING_PHASE_COUNT
};

// Requests of one kind in a pass; unrecorded values are COUNT_UNKNOWN. Sums over requests,
// with q a request's tokens in this pass and k its length so far.
struct serving_batch {
    int64_t requests, tokens; // tokens: sum of q
    int64_t keys, pairs;      // sums of k and of q k
    int64_t squares;          // sum of q q
};

struct serving_pass {
    enum serving_phase phase;
    struct serving_batch context, generation;
};

// Reads a name as written by vLLM, SGLang and ATOM; pass->phase is SERVING_NONE for any other.
void serving_read(struct str name, struct serving_pass *pass);

// "prefill", "decode", ...
const char *serving_phase_word(enum serving_phase phase);

// A pass of a trace.
struct serving_step {
    int64_t mark_begin_ns, mark_end_ns; // of the annotation, or of the launches of the pass
    int64_t begin_ns, end_ns;           // of what it launched; equal if nothing
    struct serving_pass pass;
};

struct serving_steps {
    struct serving_step *items; // ascending, disjoint, marks and spans
    uint32_t count;
};

// The pass whose mark covers the time, NULL if none.
const struct serving_step *serving_at(const struct serving_steps *steps, int64_t time_ns);

// Start and end of passes on the device by their marks on the host.
void serving_spans(const struct facts *facts, struct serving_steps *steps);

// Passes annotated by an engine. Arrays live in arena. Linear except for sorting.
MUST_CHECK bool serving_make(const struct facts *facts, struct arena *arena,
                             struct serving_steps *steps, struct err *err);

#endif
