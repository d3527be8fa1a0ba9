// SPDX-License-Identifier: Apache-2.0
// The format descriptor of PyTorch and Chrome trace JSON.
#ifndef INGEST_FORMAT_KINETO_H
#define INGEST_FORMAT_KINETO_H

#include "ingest/source/format.h"

extern const struct format format_kineto;

// Certain for JSON whose first members include one that only traces have; other JSON may be one.
enum format_likeness kineto_probe(const struct format_sample *sample);

// One of several ranks that were merged into the file, by the hash of the label of its processes
// (merged_ranks.h); 0: all.
struct kineto_own {
    uint32_t label;
    int64_t rank;
};

struct kineto_match;

// Reads as format_kineto does, with one matching variant (kineto_layout.h), or with NULL every
// event member by member. For tests that compare the two.
MUST_CHECK bool kineto_read_by(const struct kineto_match *match, const struct format_input *input,
                               struct err *err);

// Reads as format_kineto does, but lets free cores read pieces of this size from the first event
// on. For tests that compare this with reading in one go.
MUST_CHECK bool kineto_read_pieces(size_t piece_bytes, const struct format_input *input,
                                   struct err *err);

// Reads as format_kineto does, but only the events of one rank.
MUST_CHECK bool kineto_read_own(struct kineto_own own, const struct format_input *input,
                                struct err *err);

#endif
