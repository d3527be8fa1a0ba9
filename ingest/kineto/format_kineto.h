// SPDX-License-Identifier: Apache-2.0
// The format descriptor of PyTorch and Chrome trace JSON.
#ifndef INGEST_FORMAT_KINETO_H
#define INGEST_FORMAT_KINETO_H

#include "ingest/source/format.h"

extern const struct format format_kineto;

struct kineto_match;

// Reads as format_kineto does, with one matching variant (kineto_layout.h), or with NULL every
// event member by member. For tests that compare the two.
MUST_CHECK bool kineto_read_by(const struct kineto_match *match, const struct format_input *input,
                               struct err *err);

// Reads as format_kineto does, but lets free cores read pieces of this size from the first event
// on. For tests that compare this with reading in one go.
MUST_CHECK bool kineto_read_pieces(size_t piece_bytes, const struct format_input *input,
                                   struct err *err);

#endif
