// SPDX-License-Identifier: Apache-2.0
// The format descriptor of PyTorch and Chrome trace JSON.
#ifndef INGEST_FORMAT_KINETO_H
#define INGEST_FORMAT_KINETO_H

#include "ingest/format.h"

extern const struct format format_kineto;

struct kineto_match;

// Reads as format_kineto does, with one variant of matching (kineto_layout.h), or with NULL every
// event member by member: for tests, which hold them beside each other.
MUST_CHECK bool kineto_read_by(const struct kineto_match *match, const struct format_input *input,
                               struct err *err);

// Reads as format_kineto does, but lets the free cores of progress read pieces of this size from
// the first event on: for tests, which hold it beside reading in one go.
MUST_CHECK bool kineto_read_pieces(size_t piece_bytes, const struct format_input *input,
                                   struct err *err);

#endif
